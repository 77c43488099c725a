package holdfast

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

const (
	// The server holds a call at most so long.
	longestHold = 50 * time.Second
	// All attempts of one call together may take so much longer than the server holds it.
	askTimeout = 30 * time.Second
)

var (
	errNoOutcome = errors.New("holdfast: the server answered neither a grant nor a refusal; is it newer?")
	errNoLease   = errors.New("holdfast: the server answered without a lease; is it newer?")
)

// wanted is one task by its id, or the next: the best ready one that passes the options' filter.
type wanted struct {
	taskID string
	next   bool
}

// acquired is a grant, and a moment before the request that was answered with its lease was sent.
type acquired struct {
	grant *holdfastv1.Grant
	asked instant
}

// acquire leases a task, and waits for it as long as the options say. A [*Refused] says that it was not granted.
func (c *Client) acquire(ctx context.Context, w wanted, o *leaseOptions) (acquired, error) {
	giveUpAt := c.clock.now().monotonic + o.wait
	for {
		left := max(0, giveUpAt-c.clock.now().monotonic)
		asked := c.clock.now()
		grant, refusal, err := c.ask(ctx, w, o, min(left, longestHold))
		if err != nil {
			if ctx.Err() != nil {
				return acquired{}, context.Cause(ctx)
			}
			return acquired{}, err
		}
		if grant != nil {
			return c.confirmed(ctx, grant, asked, o)
		}
		again, useful := askAgainAfter(refusal, giveUpAt-c.clock.now().monotonic)
		if !useful {
			return acquired{}, &Refused{Refusal: refusal}
		}
		if err := sleep(ctx, again); err != nil {
			return acquired{}, err
		}
	}
}

func (c *Client) ask(
	ctx context.Context, w wanted, o *leaseOptions, wait time.Duration,
) (*holdfastv1.Grant, *holdfastv1.Refusal, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+askTimeout)
	defer cancel()
	var ttl *durationpb.Duration
	if o.ttl != 0 {
		ttl = durationpb.New(o.ttl)
	}
	if !w.next {
		answer, err := c.Leases.AcquireLease(ctx, &holdfastv1.AcquireLeaseRequest{
			Project: o.project, TaskId: w.taskID, ExecutionId: c.executionID, Ttl: ttl,
		})
		return outcomeOf(answer.GetGrant(), answer.GetRefusal(), err)
	}
	request := &holdfastv1.AcquireNextTaskRequest{
		Project: o.project, ExecutionId: c.executionID, Ttl: ttl,
		PlanId: o.planID, Labels: o.labels, Assignee: o.assignee,
	}
	if wait > 0 {
		request.Wait = durationpb.New(wait)
	}
	answer, err := c.Leases.AcquireNextTask(ctx, request)
	return outcomeOf(answer.GetGrant(), answer.GetRefusal(), err)
}

func outcomeOf(
	grant *holdfastv1.Grant, refusal *holdfastv1.Refusal, err error,
) (*holdfastv1.Grant, *holdfastv1.Refusal, error) {
	switch {
	case err != nil:
		return nil, nil, err
	case refusal != nil:
		return nil, refusal, nil
	case grant == nil:
		return nil, nil, errNoOutcome
	case grant.GetLease() == nil || grant.GetTask() == nil:
		return nil, nil, errNoLease
	default:
		return grant, nil, nil
	}
}

// askAgainAfter is not useful when asking again is no use, or the time is up.
func askAgainAfter(refusal *holdfastv1.Refusal, left time.Duration) (after time.Duration, useful bool) {
	const shortest = 250 * time.Millisecond
	switch {
	case left <= 0:
		return 0, false
	case refusal.GetReason() == holdfastv1.RefusalReason_REFUSAL_REASON_NOTHING_READY:
		return min(shortest, left), true
	case refusal.GetRetryAfter() == nil:
		return 0, false
	default:
		return min(max(shortest, refusal.GetRetryAfter().AsDuration()), left), true
	}
}

// confirmed asks once more how long the lease lives when its call was held long: it would look old from the start.
func (c *Client) confirmed(
	ctx context.Context, grant *holdfastv1.Grant, asked instant, o *leaseOptions,
) (acquired, error) {
	lease := grant.GetLease()
	if c.clock.now().monotonic-asked.monotonic < remainingOf(lease)/4 {
		return acquired{grant: grant, asked: asked}, nil
	}
	askedAgain := c.clock.now()
	answer, err := c.Leases.RenewLease(ctx, &holdfastv1.RenewLeaseRequest{
		Project: o.project, LeaseId: lease.GetId(), FencingToken: lease.GetFencingToken(),
	})
	if err == nil && answer.GetLease() == nil {
		err = errNoLease
	}
	if err != nil {
		if !isGone(err) {
			c.release(ctx, lease, "", o)
		}
		return acquired{}, &LeaseLost{Kind: Unconfirmed, TaskID: lease.GetTaskId(), cause: err}
	}
	grant.Lease = answer.GetLease()
	return acquired{grant: grant, asked: askedAgain}, nil
}
