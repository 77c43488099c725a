package holdfast

import (
	"context"
	"errors"
	"sync"
	"time"

	"connectrpc.com/connect/v2"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// The machine may have slept: look at the wall clock at least this often.
const lookEvery = time.Second

var errPaused = errors.New("holdfast: the renewal was given up for a write that ends the lease")

// renewal keeps a lease renewed. A failed renewal leaves the lease unknown and is tried again until the safe deadline;
// an answer that the lease is gone makes it lost at once.
type renewal struct {
	client    *Client
	project   string
	leaseID   string
	token     int64
	onRenewed func(*holdfastv1.Lease, []*holdfastv1.UnmetDependency)
	// Stops the work.
	stopWork context.CancelCauseFunc
	// Ends the renewing and a renewal under way.
	cancel context.CancelFunc
	// Closed when no goroutine of the renewing is left.
	done chan struct{}

	mu       sync.Mutex
	lease    *holdfastv1.Lease
	deadline instant
	failure  error
	lost     *LeaseLost
	// The lease was given up on purpose, or its task is closed: nothing more can be lost.
	over bool
	// How many want no renewal now.
	pauses int
	// Gives up the renewal under way.
	giveUp context.CancelCauseFunc
	// Tells the renewing goroutine that a pause is over.
	resumed chan struct{}

	// Only of the renewing goroutine.
	renewAt  time.Duration
	failures int
}

// startRenewal renews lease at a third of its TTL until stopped, and cancels the work by stopWork when it is lost.
// asked is a moment before the request that lease answers was sent.
func startRenewal(
	ctx context.Context, client *Client, lease *holdfastv1.Lease, asked instant, o *leaseOptions,
	stopWork context.CancelCauseFunc,
) *renewal {
	// The work may need its lease for a while after it was told to stop: renewing ends with the work, not with ctx.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r := &renewal{
		client:    client,
		project:   o.project,
		leaseID:   lease.GetId(),
		token:     lease.GetFencingToken(),
		onRenewed: o.onRenewed,
		stopWork:  stopWork,
		cancel:    cancel,
		done:      make(chan struct{}),
		resumed:   make(chan struct{}, 1),
		lease:     lease,
		deadline:  safeUntil(lease, asked),
		renewAt:   asked.monotonic + renewalDelay(lease, client.random()),
	}
	go r.run(ctx)
	return r
}

// stop ends the renewing and waits until nothing of it is left.
func (r *renewal) stop() {
	r.settle()
	<-r.done
}

// settle says that the lease needs no more keeping. It does not wait, so that onRenewed may call for it.
func (r *renewal) settle() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	r.cancel()
}

// pause lets nothing be renewed, and gives up a renewal under way, until the returned function is called. The deadline
// stays.
func (r *renewal) pause() (goOn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pauses++
	if r.giveUp != nil {
		r.giveUp(errPaused)
	}
	return func() {
		r.mu.Lock()
		r.pauses--
		r.mu.Unlock()
		select {
		case r.resumed <- struct{}{}:
		default:
		}
	}
}

// err is a [*LeaseLost] when the work must stop, also when nothing had the time to say so yet.
func (r *renewal) err() error {
	r.mu.Lock()
	unsafe := timeLeft(r.deadline, r.client.clock.now()) <= 0
	r.mu.Unlock()
	if unsafe {
		r.lose(Unconfirmed, nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil {
		return nil
	}
	return r.lost
}

func (r *renewal) lose(kind LostKind, cause error) {
	r.mu.Lock()
	if r.over || r.lost != nil {
		r.mu.Unlock()
		return
	}
	if cause == nil {
		cause = r.failure
	}
	lost := &LeaseLost{Kind: kind, TaskID: r.lease.GetTaskId(), cause: cause}
	r.lost = lost
	r.mu.Unlock()
	r.stopWork(lost)
	r.cancel()
}

func (r *renewal) current() *holdfastv1.Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lease
}

func (r *renewal) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// isKnownLost tells whether the server said that the lease is gone.
func (r *renewal) isKnownLost() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost != nil && r.lost.Kind == Lost
}

// renewed is what came of one renewal.
type renewed struct {
	answer *holdfastv1.RenewLeaseResponse
	asked  instant
	err    error
}

func (r *renewal) run(ctx context.Context) {
	defer close(r.done)
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	var underWay chan renewed
	for r.err() == nil && ctx.Err() == nil {
		now := r.client.clock.now()
		left, paused := r.left(now)
		if underWay == nil && !paused && now.monotonic >= r.renewAt {
			underWay = r.renew(ctx, left)
		}
		wait := min(lookEvery, left)
		if underWay == nil && !paused {
			wait = min(wait, r.renewAt-now.monotonic)
		}
		timer.Reset(max(wait, 0))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-r.resumed:
		case outcome := <-underWay:
			underWay = nil
			r.take(outcome)
		}
	}
	if underWay != nil {
		r.cancel()
		<-underWay
	}
}

func (r *renewal) left(now instant) (left time.Duration, paused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return timeLeft(r.deadline, now), r.pauses > 0
}

// renew sends one renewal; the channel tells once what came of it.
func (r *renewal) renew(ctx context.Context, left time.Duration) chan renewed {
	outcome := make(chan renewed, 1)
	timeout := renewalTimeout(ttlOf(r.current()), left)
	ctx, giveUp := context.WithCancelCause(ctx)
	r.mu.Lock()
	r.giveUp = giveUp
	if r.pauses > 0 {
		giveUp(errPaused)
	}
	r.mu.Unlock()
	go func() {
		defer giveUp(nil)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		asked := r.client.clock.now()
		answer, err := r.client.Leases.RenewLease(ctx, &holdfastv1.RenewLeaseRequest{
			Project: r.project, LeaseId: r.leaseID, FencingToken: r.token,
		})
		if err == nil && answer.GetLease() == nil {
			err = errNoLease
		}
		if err != nil && errors.Is(context.Cause(ctx), errPaused) {
			err = errPaused
		}
		outcome <- renewed{answer: answer, asked: asked, err: err}
	}()
	return outcome
}

func (r *renewal) take(outcome renewed) {
	if errors.Is(outcome.err, errPaused) {
		return
	}
	if outcome.err != nil {
		if isGone(outcome.err) {
			r.lose(Lost, outcome.err)
			return
		}
		r.failures++
		r.renewAt = r.client.clock.now().monotonic +
			renewalRetryDelay(ttlOf(r.current()), r.failures, r.client.random())
		r.mu.Lock()
		r.failure = outcome.err
		r.mu.Unlock()
		return
	}
	lease := outcome.answer.GetLease()
	r.failures = 0
	r.renewAt = outcome.asked.monotonic + renewalDelay(lease, r.client.random())
	r.mu.Lock()
	r.lease = lease
	r.deadline = safeUntil(lease, outcome.asked)
	r.failure = nil
	r.mu.Unlock()
	if r.onRenewed != nil {
		r.onRenewed(lease, outcome.answer.GetDependenciesUnmet())
	}
}

// isGone tells whether the server said that a lease is over; any other failure leaves it unknown.
func isGone(err error) bool {
	var rejected *WriteRejected
	if errors.As(err, &rejected) {
		return true
	}
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return false
	}
	return failed.Code() == connect.CodeFailedPrecondition || failed.Code() == connect.CodeNotFound
}
