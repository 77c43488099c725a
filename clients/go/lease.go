package holdfast

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// Lease is a task's lease while the function that works under it runs. It is safe for concurrent use.
type Lease struct {
	client  *Client
	project string
	grant   *holdfastv1.Grant
	renewal *renewal
	// The work's context: cancelled when the lease is unsafe.
	work context.Context

	mu          sync.Mutex
	releaseNote string
}

// Task is the task as it was when the lease was granted.
func (l *Lease) Task() *holdfastv1.Task { return l.grant.GetTask() }

// Continuation is what earlier holders left: how their lease ended, their notes, the results of what the task waited
// for. Build on it instead of starting over.
func (l *Lease) Continuation() *holdfastv1.Continuation { return l.grant.GetContinuation() }

// Current is the lease as of the last confirmed renewal.
func (l *Lease) Current() *holdfastv1.Lease { return l.renewal.current() }

// Proof shows that the writer holds the lease. The lease's own methods send it; send it with other writes of the task,
// and with the fencing token to anything outside that the task writes to.
func (l *Lease) Proof() *holdfastv1.Proof {
	return &holdfastv1.Proof{LeaseId: l.renewal.leaseID, FencingToken: l.renewal.token}
}

// Err is a [*LeaseLost] when there is no lease to work under, also when nothing had the time to cancel the work's context
// yet: after the process was suspended, say. Ask before acting on anything that Holdfast does not fence.
func (l *Lease) Err() error {
	if err := l.renewal.err(); err != nil {
		return err
	}
	if l.renewal.isOver() {
		return &LeaseLost{Kind: Released, TaskID: l.Task().GetId()}
	}
	return nil
}

// SetReleaseNote leaves a note for the next holder when the lease is given back. At most 64 KiB.
func (l *Lease) SetReleaseNote(note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseNote = note
}

func (l *Lease) noteUnlessSet(note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.releaseNote == "" {
		l.releaseNote = note
	}
}

// Complete marks the task DONE with what came of it, at most 64 KiB, and ends the lease: nothing more is renewed or
// released, and the work's context stays as it is.
func (l *Lease) Complete(ctx context.Context, result string) (*holdfastv1.CompleteTaskResponse, error) {
	return closing(ctx, l, func(ctx context.Context) (*holdfastv1.CompleteTaskResponse, error) {
		return l.client.Tasks.CompleteTask(ctx, &holdfastv1.CompleteTaskRequest{
			Project: l.project, TaskId: l.Task().GetId(), Result: result,
			Proof: l.Proof(), ExecutionId: l.client.executionID,
		})
	})
}

// Drop marks the task DROPPED, it will not be done, with why, at most 64 KiB, and ends the lease like [Lease.Complete].
func (l *Lease) Drop(ctx context.Context, reason string) (*holdfastv1.DropTaskResponse, error) {
	return closing(ctx, l, func(ctx context.Context) (*holdfastv1.DropTaskResponse, error) {
		return l.client.Tasks.DropTask(ctx, &holdfastv1.DropTaskRequest{
			Project: l.project, TaskId: l.Task().GetId(), Reason: reason,
			Proof: l.Proof(), ExecutionId: l.client.executionID,
		})
	})
}

// AddNote adds a note to the task, 1 byte to 64 KiB: progress that the next holder should know.
func (l *Lease) AddNote(ctx context.Context, text string) (*holdfastv1.AddNoteResponse, error) {
	return write(ctx, l, func(ctx context.Context) (*holdfastv1.AddNoteResponse, error) {
		return l.client.Tasks.AddNote(ctx, &holdfastv1.AddNoteRequest{
			Project: l.project, TaskId: l.Task().GetId(), Text: text,
			Proof: l.Proof(), ExecutionId: l.client.executionID,
		})
	})
}

// Update changes the task's content: the fields that are present in change, or that its update mask names. Project,
// task, proof and execution are set by the lease.
func (l *Lease) Update(
	ctx context.Context, change *holdfastv1.UpdateTaskRequest,
) (*holdfastv1.UpdateTaskResponse, error) {
	request := proto.CloneOf(change)
	request.Project, request.TaskId = l.project, l.Task().GetId()
	request.Proof, request.ExecutionId = l.Proof(), l.client.executionID
	return write(ctx, l, func(ctx context.Context) (*holdfastv1.UpdateTaskResponse, error) {
		return l.client.Tasks.UpdateTask(ctx, request)
	})
}

// closing is a write that ends the lease. A renewal that arrived after the end would take the lease for lost.
func closing[Answer any](
	ctx context.Context, l *Lease, call func(context.Context) (*Answer, error),
) (*Answer, error) {
	defer l.renewal.pause()()
	answer, err := write(ctx, l, call)
	if err == nil {
		l.renewal.settle()
	}
	return answer, err
}

// All attempts of one write together may take so long.
const writeTimeout = 5 * time.Minute

// write makes a call under the lease: never once it is unsafe, again and again for as long as it is safe where that is
// right, and a guard that refuses it makes the lease lost.
func write[Answer any](
	ctx context.Context, l *Lease, call func(context.Context) (*Answer, error),
) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	ctx, stop := context.WithCancelCause(underLease(ctx, l.Err))
	defer stop(nil)
	defer context.AfterFunc(l.work, func() {
		if lost := l.renewal.err(); lost != nil {
			stop(lost)
		}
	})()
	answer, err := call(ctx)
	if err == nil {
		return answer, nil
	}
	// A write that lacks its proof tells nothing of the lease.
	var rejected *WriteRejected
	if errors.As(err, &rejected) && !errors.Is(rejected, ErrLockRequired) {
		l.renewal.lose(Lost, rejected)
		return nil, err
	}
	return nil, withLoss(err, l.renewal.err())
}

// withLoss says that the lease was lost, too, when the error does not.
func withLoss(err, lost error) error {
	var said *LeaseLost
	if err == nil || lost == nil || errors.As(err, &said) {
		return err
	}
	return fmt.Errorf("%w (%w)", lost, err)
}
