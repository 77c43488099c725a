package holdfast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// verbs are what the steps of a scenario can do; test/vectors/README.md says what each means.
var verbs map[string]func(*run, context.Context, []byte) error

func init() {
	verbs = map[string]func(*run, context.Context, []byte) error{
		"calculate": doCalculate, "call": doCall, "hold": doHold, "holds": doHolds, "leave": doLeave,
		"news": doNews, "renewed": doRenewed, "server": doServer, "stopped": doStopped, "unwatch": doUnwatch,
		"watch": doWatch, "work": doWork, "write": doWrite,
	}
}

func doCall(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, As, RPC            string
		Request, Answer, Error any
		Bind                   map[string]string
		Repeat                 bool
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	request, err := r.fill(step.Request)
	if err != nil {
		return err
	}
	for {
		answer, err := invoke(ctx, r.client(step.As), step.RPC, request)
		err = r.outcome(answer, err, step.Answer, step.Error, step.Bind)
		if err == nil || !step.Repeat {
			return err
		}
		if sleep(ctx, 100*time.Millisecond) != nil {
			return err
		}
	}
}

func doHold(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, As, Held  string
		Wanted        any
		TTLMs, WaitMs int64
		Background    bool
		Answer, Error any
		Bind          map[string]string
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	filled, err := r.fill(step.Wanted)
	if err != nil {
		return err
	}
	var wanted struct {
		TaskID *string
		Next   *nextTask
	}
	if err := reshape(filled, &wanted); err != nil {
		return err
	}
	held := &heldLease{
		began: make(chan struct{}), leave: make(chan error, 1), ended: make(chan struct{}),
		changed: make(chan struct{}),
	}
	r.holds[step.Held] = held
	options := []LeaseOption{
		WithTTL(time.Duration(step.TTLMs) * time.Millisecond),
		WithWait(time.Duration(step.WaitMs) * time.Millisecond),
		OnRenewed(func(*holdfastv1.Lease, []*holdfastv1.UnmetDependency) { held.countRenewal() }),
	}
	work := func(ctx context.Context, lease *Lease) error {
		held.ctx, held.lease = ctx, lease
		close(held.began)
		select {
		case err := <-held.leave:
			return err
		case <-r.ctx.Done():
			return nil
		}
	}
	client := r.client(step.As)
	go func() {
		defer close(held.ended)
		if wanted.TaskID != nil {
			held.err = client.WithLease(r.ctx, *wanted.TaskID, work, options...)
		} else {
			held.err = client.WithNextLease(r.ctx, work, append(options, wanted.Next.options()...)...)
		}
	}()
	if step.Background {
		return nil
	}
	return r.began(ctx, held, step.Answer, step.Error, step.Bind)
}

func doHolds(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Held string
		Answer   any
		Bind     map[string]string
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	return r.began(ctx, r.holds[step.Held], step.Answer, nil, step.Bind)
}

// began waits until the work under a lease began, or the lease was not granted.
func (r *run) began(ctx context.Context, held *heldLease, answer, failure any, names map[string]string) error {
	select {
	case <-held.began:
		said := map[string]any{"lease": asJSON(held.lease.Current()), "task": asJSON(held.lease.Task())}
		if held.lease.Continuation() != nil {
			said["continuation"] = asJSON(held.lease.Continuation())
		}
		return r.outcome(said, nil, answer, failure, names)
	case <-held.ended:
		return r.outcome(nil, held.err, answer, failure, names)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func doWrite(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Held, Write        string
		Request, Answer, Error any
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	request, err := r.fill(step.Request)
	if err != nil {
		return err
	}
	answer, err := writeThrough(ctx, r.holds[step.Held].lease, step.Write, request)
	return r.outcome(answer, err, step.Answer, step.Error, nil)
}

func writeThrough(ctx context.Context, lease *Lease, write string, request any) (any, error) {
	switch write {
	case "addNote":
		var given struct{ Text string }
		if err := reshape(request, &given); err != nil {
			return nil, err
		}
		answer, err := lease.AddNote(ctx, given.Text)
		return asJSON(answer), err
	case "complete":
		var given struct{ Result string }
		if err := reshape(request, &given); err != nil {
			return nil, err
		}
		answer, err := lease.Complete(ctx, given.Result)
		return asJSON(answer), err
	case "drop":
		var given struct{ Reason string }
		if err := reshape(request, &given); err != nil {
			return nil, err
		}
		answer, err := lease.Drop(ctx, given.Reason)
		return asJSON(answer), err
	case "update":
		change := &holdfastv1.UpdateTaskRequest{}
		if err := fromJSON(request, change); err != nil {
			return nil, err
		}
		answer, err := lease.Update(ctx, change)
		return asJSON(answer), err
	default:
		return nil, fmt.Errorf("unknown write %q", write)
	}
}

func (h *heldLease) countRenewal() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewed++
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *heldLease) renewals() (int, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.renewed, h.changed
}

func doRenewed(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Held string
		Times    int
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	held := r.holds[step.Held]
	before, _ := held.renewals()
	for {
		now, changed := held.renewals()
		if now-before >= step.Times {
			return nil
		}
		select {
		case <-changed:
		case <-held.ctx.Done():
			return context.Cause(held.ctx)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func doStopped(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Held string
		Error    any
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	held := r.holds[step.Held]
	select {
	case <-held.ctx.Done():
		return r.meets(step.Error, errorAsJSON(context.Cause(held.ctx)))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// workFailed is an error of the work itself.
type workFailed string

func (e workFailed) Error() string { return string(e) }

func doLeave(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Held, ReleaseNote, Throwing string
		Error                           any
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	held := r.holds[step.Held]
	held.lease.SetReleaseNote(step.ReleaseNote)
	if step.Throwing != "" {
		held.leave <- workFailed(step.Throwing)
	} else {
		held.leave <- nil
	}
	select {
	case <-held.ended:
		return r.outcome(nil, held.err, nil, step.Error, nil)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

type nextTask struct {
	PlanID   string
	Labels   []string
	Assignee string
}

func (n *nextTask) options() []LeaseOption {
	return []LeaseOption{InPlan(n.PlanID), WithLabels(n.Labels...), AssignedTo(n.Assignee)}
}

func doWork(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, As, Result string
		Next           any
		Tasks          int
		Failing        map[string]string
		Titles         []string
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	filled, err := r.fill(step.Next)
	if err != nil {
		return err
	}
	var next nextTask
	if err := reshape(filled, &next); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var titles []string
	handle := func(_ context.Context, lease *Lease) (string, error) {
		title := lease.Task().GetTitle()
		titles = append(titles, title)
		if len(titles) == step.Tasks {
			stop()
		}
		if message, fails := step.Failing[title]; fails {
			return "", workFailed(message)
		}
		return step.Result, nil
	}
	if err := r.client(step.As).Work(ctx, handle, next.options()...); err != nil {
		return err
	}
	if !slices.Equal(titles, step.Titles) {
		return fmt.Errorf("worked on %q instead of %q", titles, step.Titles)
	}
	return nil
}

func doWatch(r *run, _ context.Context, text []byte) error {
	var step struct {
		Do, As, Watch string
		Options       any
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	filled, err := r.fill(step.Options)
	if err != nil {
		return err
	}
	request := &holdfastv1.WatchLeasesRequest{}
	if err := fromJSON(filled, request); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.ctx)
	watch := &openWatch{cancel: cancel, news: make(chan any, 1000), ended: make(chan struct{})}
	r.watches[step.Watch] = watch
	told := r.client(step.As).Watch(ctx, WatchOptions{
		Project: request.GetProject(), TaskIDs: request.GetTaskIds(), PlanID: request.GetPlanId(),
		Kinds: request.GetKinds(), Principal: request.GetPrincipal(), ExecutionID: request.GetExecutionId(),
		ResumeAfter: request.GetResumeAfter(),
	})
	go func() {
		defer close(watch.ended)
		for news, err := range told {
			if err != nil {
				watch.err = err
				return
			}
			watch.news <- newsAsJSON(news)
		}
	}()
	return nil
}

func newsAsJSON(news News) any {
	leases := func(list []*holdfastv1.Lease) []any {
		all := make([]any, len(list))
		for i, lease := range list {
			all[i] = asJSON(lease)
		}
		return all
	}
	switch news := news.(type) {
	case Snapshot:
		return map[string]any{"kind": "snapshot", "leases": leases(news.Leases), "resumeToken": news.ResumeToken}
	case Event:
		return map[string]any{"kind": "event", "event": asJSON(news.Event)}
	case Checkpoint:
		return map[string]any{"kind": "checkpoint", "resumeToken": news.ResumeToken}
	case Renewed:
		return map[string]any{"kind": "renewed", "leases": leases(news.Leases)}
	case Gap:
		return map[string]any{"kind": "gap", "reason": string(news.Reason)}
	default:
		panic(fmt.Sprintf("unknown news %T", news))
	}
}

func doNews(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Watch string
		News      []map[string]any
		Bind      map[string]string
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	watch := r.watches[step.Watch]
	var last any
	for _, expected := range step.News {
		for met := false; !met; {
			select {
			case last = <-watch.news:
			case <-watch.ended:
				return fmt.Errorf("the watch ended: %w", watch.err)
			case <-ctx.Done():
				return fmt.Errorf("not told: %v", expected)
			}
			kind := last.(map[string]any)["kind"]
			if kind != expected["kind"] && mayBePassedOver(kind) {
				continue
			}
			if err := r.meets(expected, last); err != nil {
				return fmt.Errorf("%w in %v", err, last)
			}
			met = true
		}
	}
	return r.bind(step.Bind, last)
}

func mayBePassedOver(kind any) bool { return kind == "checkpoint" || kind == "renewed" }

func doUnwatch(r *run, ctx context.Context, text []byte) error {
	var step struct {
		Do, Watch string
		Error     any
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	watch := r.watches[step.Watch]
	if step.Error == nil {
		watch.cancel()
	}
	select {
	case <-watch.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	close(watch.news)
	for news := range watch.news {
		if !mayBePassedOver(news.(map[string]any)["kind"]) {
			return fmt.Errorf("told, too: %v", news)
		}
	}
	return r.outcome(nil, watch.err, nil, step.Error, nil)
}

func doServer(r *run, _ context.Context, text []byte) error {
	var step map[string]any
	if err := json.Unmarshal(text, &step); err != nil {
		return err
	}
	filled, err := r.fill(step)
	if err != nil {
		return err
	}
	fields := filled.(map[string]any)
	r.server.act(r.t, fields["act"].(string), fields)
	return nil
}

// errorAsJSON is what the client returned, as the scenarios write errors.
func errorAsJSON(err error) any {
	var rejected *WriteRejected
	var lost *LeaseLost
	var refused *Refused
	var invalid *InvalidRequest
	var failed workFailed
	var call *connect.Error
	switch {
	// First: it wraps the verdict that it comes from.
	case errors.As(err, &lost):
		return map[string]any{"type": "LeaseLost", "kind": string(lost.Kind), "taskId": lost.TaskID}
	case errors.As(err, &rejected):
		return rejectedAsJSON(rejected)
	case errors.As(err, &refused):
		return map[string]any{
			"type": "Refused", "reason": nameOf(refused.Refusal.GetReason(), "REFUSAL_REASON_"),
			"refusal": asJSON(refused.Refusal),
		}
	case errors.As(err, &invalid):
		violations := make([]any, len(invalid.Violations))
		for i, violation := range invalid.Violations {
			violations[i] = map[string]any{"field": violation.Field, "description": violation.Description}
		}
		return map[string]any{"type": "InvalidRequest", "status": statusOf(err), "violations": violations}
	case errors.As(err, &failed):
		return map[string]any{"type": "WorkFailed", "message": failed.Error()}
	case errors.As(err, &call):
		return map[string]any{"type": "RpcError", "status": statusOf(err)}
	default:
		return map[string]any{"type": fmt.Sprintf("%T", err), "message": fmt.Sprint(err)}
	}
}

func rejectedAsJSON(rejected *WriteRejected) any {
	types := map[error]string{
		ErrLockRequired: "LockRequired", ErrLockExpired: "LockExpired",
		ErrLockedByOther: "LockedByOther", ErrStaleLock: "StaleLock",
	}
	said := map[string]any{
		"status": statusOf(rejected), "code": nameOf(rejected.Code, "WRITE_CODE_"), "taskId": rejected.TaskID,
		"fencingToken": fmt.Sprint(rejected.FencingToken), "advice": rejected.Advice,
	}
	for sentinel, name := range types {
		if errors.Is(rejected, sentinel) {
			said["type"] = name
		}
	}
	if rejected.Holder != nil {
		said["holder"] = asJSON(rejected.Holder)
	}
	if !rejected.ExpiresAt.IsZero() {
		said["expiresAt"] = rejected.ExpiresAt.Format(time.RFC3339Nano)
	}
	if rejected.RetryAfter != 0 {
		said["retryAfterMs"] = inMs(rejected.RetryAfter)
	}
	return said
}

func statusOf(err error) string {
	status := strings.ToUpper(connect.CodeOf(err).String())
	if status == "CANCELED" {
		return "CANCELLED"
	}
	return status
}

// reshape reads a value into another shape, and fails on a key that is not known.
func reshape(value, into any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return strictly(text, into)
}

func inMs(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ofMs(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

type scenarioInstant struct{ MonotonicMs, WallMs float64 }

func (i scenarioInstant) instant() instant {
	return instant{monotonic: ofMs(i.MonotonicMs), wall: ofMs(i.WallMs)}
}

func doCalculate(r *run, _ context.Context, text []byte) error {
	var step struct {
		Do, Function  string
		Input, Output any
	}
	if err := strictly(text, &step); err != nil {
		return err
	}
	var in struct {
		TTLMs, RemainingMs, LeftMs, Random float64
		RetryAfterMs                       *float64
		Asked, Deadline, Now               scenarioInstant
		Failures, Attempt                  int
		RPC, Status                        string
	}
	if err := reshape(step.Input, &in); err != nil {
		return err
	}
	lease := &holdfastv1.Lease{
		Ttl: durationpb.New(ofMs(in.TTLMs)), Remaining: durationpb.New(ofMs(in.RemainingMs)),
	}
	var retryAfter time.Duration
	if in.RetryAfterMs != nil {
		retryAfter = ofMs(*in.RetryAfterMs)
	}
	var output map[string]any
	switch step.Function {
	case "safetyMargin":
		output = map[string]any{"marginMs": inMs(safetyMargin(ttlOf(lease)))}
	case "safeUntil":
		until := safeUntil(lease, in.Asked.instant())
		output = map[string]any{"monotonicMs": inMs(until.monotonic), "wallMs": inMs(until.wall)}
	case "timeLeft":
		output = map[string]any{"leftMs": inMs(timeLeft(in.Deadline.instant(), in.Now.instant()))}
	case "renewalDelay":
		output = map[string]any{"delayMs": inMs(renewalDelay(lease, in.Random))}
	case "renewalRetryDelay":
		output = map[string]any{"delayMs": inMs(renewalRetryDelay(ttlOf(lease), in.Failures, in.Random))}
	case "renewalTimeout":
		output = map[string]any{"timeoutMs": inMs(renewalTimeout(ttlOf(lease), ofMs(in.LeftMs)))}
	case "retries":
		method, code, err := methodAndCode(in.RPC, in.Status)
		if err != nil {
			return err
		}
		output = map[string]any{"retries": retries(method, code, in.RetryAfterMs != nil)}
	case "retryPause":
		output = map[string]any{"pauseMs": inMs(retryPause(in.Attempt, in.Random, retryAfter))}
	case "watchPause":
		output = map[string]any{"pauseMs": inMs(watchPause(in.Failures, in.Random))}
	default:
		return fmt.Errorf("unknown function %q", step.Function)
	}
	return r.meets(step.Output, any(output))
}

func methodAndCode(rpc, status string) (protoreflect.MethodDescriptor, connect.Code, error) {
	service, name, _ := strings.Cut(rpc, "/")
	for _, file := range []protoreflect.FileDescriptor{
		holdfastv1.File_holdfast_v1_task_proto, holdfastv1.File_holdfast_v1_lease_proto,
		holdfastv1.File_holdfast_v1_history_proto, holdfastv1.File_holdfast_v1_project_proto,
	} {
		found := file.Services().ByName(protoreflect.Name(service))
		if found == nil || found.Methods().ByName(protoreflect.Name(name)) == nil {
			continue
		}
		for code := connect.CodeCanceled; code <= connect.CodeUnauthenticated; code++ {
			if statusOf(connect.NewError(code, "")) == status {
				return found.Methods().ByName(protoreflect.Name(name)), code, nil
			}
		}
		return nil, 0, fmt.Errorf("%q is no status", status)
	}
	return nil, 0, fmt.Errorf("there is no %s", rpc)
}
