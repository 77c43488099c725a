// Package holdfast is the Go client of Holdfast, the coordination service that lets many agents share one task queue
// without working the same task twice.
//
// A [Client] has the API as typed services, and what everybody would otherwise write wrongly on top of them:
//
//   - [Client.WithLease] and [Client.WithNextLease] lease a task, keep the lease renewed while your function runs, and
//     give it back afterwards, also on a panic. The function's context is cancelled before the lease may be somebody
//     else's; [context.Cause] then says why, as a [*LeaseLost].
//   - [Lease.Complete], [Lease.AddNote], [Lease.Update] and [Lease.Drop] write with the proof that the writer holds the
//     lease, and send nothing once it is unsafe.
//   - [Client.Work] takes one ready task after the other.
//   - [Client.Watch] tells what happens in a project. It resumes by itself, tells nothing twice, and gaps as gaps.
//
// # Errors
//
// Errors are for [errors.As] and [errors.Is]: [*WriteRejected] (and [ErrLockRequired], [ErrLockExpired],
// [ErrLockedByOther], [ErrStaleLock]), [*Refused], [*LeaseLost], [*InvalidRequest]. Any other failed call is a
// *connect.Error of connectrpc.com/connect/v2, which the first and the last wrap, too.
//
// # Retries
//
// A call is sent again when its outcome is unknown (UNAVAILABLE, DEADLINE_EXCEEDED) and doing it twice is the same as
// doing it once: it only reads, or it has a request id, which is added when you leave it empty. A call that others were
// in the way of (ABORTED with a RetryAdvice), or for which the token's quota did not suffice (RESOURCE_EXHAUSTED with one),
// was not done and is sent again, too. There are at most five attempts, all within the deadline of your context. Nothing
// else is repeated.
package holdfast
