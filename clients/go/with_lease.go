package holdfast

import (
	"context"
	"time"

	"connectrpc.com/connect/v2"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

const (
	// After so many attempts, of so long, to release a lease, it runs out by itself.
	releaseAttempts = 3
	releaseTimeout  = 5 * time.Second
)

// LeaseOption says how a lease is asked for, kept and given back.
type LeaseOption func(*leaseOptions)

type leaseOptions struct {
	project         string
	ttl             time.Duration
	wait            time.Duration
	planID          string
	labels          []string
	assignee        string
	onRenewed       func(*holdfastv1.Lease, []*holdfastv1.UnmetDependency)
	onReleaseFailed func(error, *holdfastv1.Lease)
	onWorkFailed    func(*holdfastv1.Task, error)
	onTrouble       func(error, time.Duration)
}

// InProject is the project of the task instead of the token's.
func InProject(project string) LeaseOption {
	return func(o *leaseOptions) { o.project = project }
}

// WithTTL is how long the lease lives without a renewal, from 1 s, instead of the project's default. That long the task
// waits for its next holder when this process dies.
func WithTTL(ttl time.Duration) LeaseOption {
	return func(o *leaseOptions) { o.ttl = ttl }
}

// WithWait goes on asking for so long while the lease is refused and waiting can help, instead of asking once.
func WithWait(wait time.Duration) LeaseOption {
	return func(o *leaseOptions) { o.wait = wait }
}

// InPlan lets only steps of this plan be the next task.
func InPlan(planID string) LeaseOption {
	return func(o *leaseOptions) { o.planID = planID }
}

// WithLabels lets only tasks with all of these labels be the next one.
func WithLabels(labels ...string) LeaseOption {
	return func(o *leaseOptions) { o.labels = labels }
}

// AssignedTo lets only tasks meant for this principal be the next one.
func AssignedTo(principal string) LeaseOption {
	return func(o *leaseOptions) { o.assignee = principal }
}

// OnWorkFailed is told of each task that the handler of [Client.Work] failed on, and why. The task is ready for others.
func OnWorkFailed(tell func(task *holdfastv1.Task, err error)) LeaseOption {
	return func(o *leaseOptions) { o.onWorkFailed = tell }
}

// OnTrouble is told of what passes by itself while [Client.Work] works, such as a server that is away, and after how long
// it is tried again.
func OnTrouble(tell func(err error, retryIn time.Duration)) LeaseOption {
	return func(o *leaseOptions) { o.onTrouble = tell }
}

// OnRenewed is told of each renewal, with the dependencies that were reopened since. No renewal happens before it
// returns, so it must do so soon.
func OnRenewed(tell func(lease *holdfastv1.Lease, dependenciesUnmet []*holdfastv1.UnmetDependency)) LeaseOption {
	return func(o *leaseOptions) { o.onRenewed = tell }
}

// OnReleaseFailed is told when the lease could not be given back; it then runs out by itself.
func OnReleaseFailed(tell func(err error, lease *holdfastv1.Lease)) LeaseOption {
	return func(o *leaseOptions) { o.onReleaseFailed = tell }
}

// WithLease leases a task, runs work while the lease is kept renewed, and gives it back, also when work panics.
//
// work must return when its context is done. That is when ctx is done, and when the lease is unsafe: the server said
// that it is lost, or no renewal was confirmed in time, by the monotonic or the wall clock. [context.Cause] then is a
// [*LeaseLost], and so is the error of WithLease, beside the one of work. To release on SIGINT and SIGTERM, let ctx come
// from signal.NotifyContext.
//
// The error is a [*Refused] when the task was not granted, else the one of work.
func (c *Client) WithLease(
	ctx context.Context, taskID string, work func(ctx context.Context, lease *Lease) error, options ...LeaseOption,
) error {
	return c.withLease(ctx, wanted{taskID: taskID}, work, optionsOf(options))
}

// WithNextLease is [Client.WithLease] with the best ready task that [InPlan], [WithLabels] and [AssignedTo] let through.
func (c *Client) WithNextLease(
	ctx context.Context, work func(ctx context.Context, lease *Lease) error, options ...LeaseOption,
) error {
	return c.withLease(ctx, wanted{next: true}, work, optionsOf(options))
}

func optionsOf(options []LeaseOption) *leaseOptions {
	o := &leaseOptions{}
	for _, option := range options {
		option(o)
	}
	return o
}

func (c *Client) withLease(
	ctx context.Context, w wanted, work func(context.Context, *Lease) error, o *leaseOptions,
) error {
	granted, err := c.acquire(ctx, w, o)
	if err != nil {
		return err
	}
	working, stopWork := context.WithCancelCause(ctx)
	defer stopWork(nil)
	lease := &Lease{
		client:  c,
		project: o.project,
		grant:   granted.grant,
		renewal: startRenewal(ctx, c, granted.grant.GetLease(), granted.asked, o, stopWork),
		work:    working,
	}
	defer lease.giveBack(ctx, o)
	err = work(working, lease)
	return withLoss(err, lease.renewal.err())
}

// giveBack ends the renewing and releases the lease, unless it is over. Also an unconfirmed one: if it is still there,
// this frees the task at once.
func (l *Lease) giveBack(ctx context.Context, o *leaseOptions) {
	closed := l.renewal.isOver()
	l.renewal.stop()
	l.mu.Lock()
	note := l.releaseNote
	l.mu.Unlock()
	if !closed && !l.renewal.isKnownLost() {
		l.client.release(ctx, l.grant.GetLease(), note, o)
	}
}

// release gives a lease back. Releasing twice does no harm.
func (c *Client) release(ctx context.Context, lease *holdfastv1.Lease, note string, o *leaseOptions) {
	// A lease is given back above all when ctx is done.
	ctx = context.WithoutCancel(ctx)
	for attempt := 1; ; attempt++ {
		err := c.releaseOnce(ctx, lease, note, o.project)
		if err == nil {
			return
		}
		if connect.CodeOf(err) != connect.CodeUnavailable || attempt == releaseAttempts {
			if o.onReleaseFailed != nil {
				o.onReleaseFailed(err, lease)
			}
			return
		}
		_ = sleep(ctx, retryPause(attempt, c.random(), 0))
	}
}

func (c *Client) releaseOnce(ctx context.Context, lease *holdfastv1.Lease, note, project string) error {
	ctx, cancel := context.WithTimeout(ctx, releaseTimeout)
	defer cancel()
	_, err := c.Leases.ReleaseLease(ctx, &holdfastv1.ReleaseLeaseRequest{
		Project: project, LeaseId: lease.GetId(), FencingToken: lease.GetFencingToken(), Note: note,
	})
	return err
}
