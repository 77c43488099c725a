package holdfast

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect/v2"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

const (
	// While some tasks are left alone, the others are looked for so often.
	aroundResting = time.Second
	// In characters: a note is read by the next holder.
	longestNote = 1_000
)

// Handler does one task and returns its result, or why it could not be done.
type Handler func(ctx context.Context, lease *Lease) (result string, err error)

// Work takes one ready task after the other, best first, until ctx is done; then it returns nil. Each lease is kept as
// by [Client.WithNextLease]. When handle returns a result, the task is completed with it, unless handle completed or
// dropped it by itself. When handle returns an error, the task is given back with the error as a note for the next
// holder; this call of Work leaves it alone for 1 s, then 2 s, and after three failures for good, while it takes other
// tasks.
//
// Work waits for tasks, and for a server that cannot be reached. It returns the error of what waiting cannot mend: a
// token that is not valid, a wrong filter, an execution that was ended.
func (c *Client) Work(ctx context.Context, handle Handler, options ...LeaseOption) error {
	o := optionsOf(options)
	o.wait = longestHold
	w := worker{client: c, handle: handle, options: o, setbacks: setbacks{}}
	for troubles := 0; ctx.Err() == nil; {
		err := w.takeOne(ctx)
		if err == nil {
			troubles = 0
			continue
		}
		if ctx.Err() != nil {
			break
		}
		if !isPassing(err) {
			return err
		}
		longest := doubled(500*time.Millisecond, troubles, 30*time.Second)
		troubles++
		pause := time.Duration(float64(longest) * (0.5 + c.random()))
		if o.onTrouble != nil {
			o.onTrouble(err, pause)
		}
		_ = sleep(ctx, pause)
	}
	return nil
}

type worker struct {
	client   *Client
	handle   Handler
	options  *leaseOptions
	setbacks setbacks
}

func (w *worker) takeOne(ctx context.Context) error {
	next := wanted{next: true}
	resting := w.setbacks.resting(w.client.clock.now())
	if len(resting) > 0 {
		// The server would offer the failed task again, and again: look for another one.
		other, err := w.bestReadyBut(ctx, resting)
		if err != nil {
			return err
		}
		if other == "" {
			_ = sleep(ctx, aroundResting)
			return nil
		}
		next = wanted{taskID: other}
	}
	o := *w.options
	if !next.next {
		o.wait = 0
	}
	err := w.client.withLease(ctx, next, w.work, &o)
	var refused *Refused
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Refusal.GetReason() {
	case holdfastv1.RefusalReason_REFUSAL_REASON_EXECUTION_ENDED,
		holdfastv1.RefusalReason_REFUSAL_REASON_MAX_AGE_REACHED:
		return err
	default:
		// Nothing is ready, or somebody else was faster.
		return nil
	}
}

func (w *worker) bestReadyBut(ctx context.Context, resting []string) (taskID string, err error) {
	answer, err := w.client.Tasks.ListReadyTasks(ctx, &holdfastv1.ListReadyTasksRequest{
		Project: w.options.project, PlanId: w.options.planID, Labels: w.options.labels, Assignee: w.options.assignee,
		PageSize: int32(min(len(resting)+1, 1000)),
	})
	if err != nil {
		return "", err
	}
	for _, task := range answer.GetTasks() {
		if !slices.Contains(resting, task.GetId()) {
			return task.GetId(), nil
		}
	}
	return "", nil
}

func (w *worker) work(ctx context.Context, lease *Lease) error {
	result, err := w.handle(ctx, lease)
	if err == nil && !lease.renewal.isOver() {
		// What is done is sent, also when the worker was stopped meanwhile.
		_, err = lease.Complete(context.WithoutCancel(ctx), result)
	}
	taskID := lease.Task().GetId()
	if err == nil {
		delete(w.setbacks, taskID)
		return nil
	}
	if w.options.onWorkFailed != nil {
		w.options.onWorkFailed(lease.Task(), err)
	}
	if lease.renewal.err() != nil || (ctx.Err() != nil && errors.Is(err, context.Canceled)) {
		// Not the task's fault: the lease was lost, or the worker stopped.
		return nil
	}
	lease.noteUnlessSet(noteOf(err))
	w.setbacks.failed(taskID, w.client.clock.now())
	return nil
}

// isPassing tells whether waiting may mend it.
func isPassing(err error) bool {
	var lost *LeaseLost
	var rejected *WriteRejected
	if errors.As(err, &lost) || errors.As(err, &rejected) {
		return true
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeAborted, connect.CodeDeadlineExceeded, connect.CodeResourceExhausted:
		return true
	default:
		return false
	}
}

// noteOf is an error as the server takes a note: valid UTF-8 without NUL, not too long.
func noteOf(err error) string {
	text := []rune(strings.ToValidUTF8(strings.ReplaceAll(err.Error(), "\x00", ""), "\uFFFD"))
	return string(text[:min(len(text), longestNote)])
}

// setbacks are the tasks that the handler failed on, by id. Each is left alone for longer after each failure, and after
// too many for good: a task that nobody can do must not keep the worker from the others.
type setbacks map[string]setback

type setback struct {
	failures int
	until    time.Duration
	forGood  bool
}

const mostFailures = 3

func (s setbacks) failed(taskID string, now instant) {
	failures := s[taskID].failures + 1
	pause := doubled(time.Second, failures-1, time.Minute)
	s[taskID] = setback{failures: failures, until: now.monotonic + pause, forGood: failures >= mostFailures}
}

// resting are the tasks to leave alone now.
func (s setbacks) resting(now instant) (taskIDs []string) {
	for taskID, setback := range s {
		if setback.forGood || setback.until > now.monotonic {
			taskIDs = append(taskIDs, taskID)
		}
	}
	return taskIDs
}
