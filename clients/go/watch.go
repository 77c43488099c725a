package holdfast

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"

	"connectrpc.com/connect/v2"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// The server sends a checkpoint every 15 s: after three in silence, the connection is taken for dead.
const silence = 45 * time.Second

var errSilence = errors.New("holdfast: nothing was heard of the server for three checkpoints")

// News is what a watch tells: a [Snapshot], an [Event], a [Checkpoint], a [Renewed] or a [Gap].
type News interface{ isNews() }

// Snapshot is how things are now: the live leases. It comes first of all, and again after a gap; forget what you knew of
// leases.
type Snapshot struct {
	Leases []*holdfastv1.Lease
	// ResumeToken goes on after it.
	ResumeToken string
}

// Event is something that happened. Positions rise strictly; none is told twice.
type Event struct {
	*holdfastv1.Event
}

// Checkpoint says that all events up to here were told: keep the token to go on from here, after a restart too.
type Checkpoint struct {
	ResumeToken string
}

// Renewed has the new deadlines of renewed leases. Best effort.
type Renewed struct {
	Leases []*holdfastv1.Lease
}

// Gap says that events were missed. A snapshot follows.
type Gap struct {
	Reason GapReason
}

func (Snapshot) isNews()   {}
func (Event) isNews()      {}
func (Checkpoint) isNews() {}
func (Renewed) isNews()    {}
func (Gap) isNews()        {}

// GapReason says why events were missed.
type GapReason string

const (
	// Compacted: they were pruned from the history before they were read.
	Compacted GapReason = "COMPACTED"
	// Reset: the database was restored.
	Reset GapReason = "RESET"
)

// Connection is how the connection of a watch stands.
type Connection struct {
	State ConnectionState
	// Attempt counts from 1 since it was last live; while waiting.
	Attempt int
	// RetryIn is when it is tried again; while waiting.
	RetryIn time.Duration
	// Err is why it was lost; while waiting. Nil: it just ended.
	Err error
}

// ConnectionState is how the connection of a watch stands.
type ConnectionState string

const (
	// Connecting: a stream was asked for.
	Connecting ConnectionState = "connecting"
	// Live: the server sent something.
	Live ConnectionState = "live"
	// Waiting: it was lost, and is tried again.
	Waiting ConnectionState = "waiting"
)

// WatchOptions say what to watch, and from where. The filters hold together: an event must pass all that are given.
type WatchOptions struct {
	// Project is the project; empty: the token's.
	Project string
	// TaskIDs lets only these tasks through; empty: all.
	TaskIDs []string
	// PlanID lets only steps of this plan through, and the plan itself.
	PlanID string
	// Kinds lets only these kinds of events through; empty: all. Leases are told whatever the kinds.
	Kinds []holdfastv1.EventKind
	// Principal lets only through what it holds or does.
	Principal string
	// ExecutionID lets only through what it holds or does.
	ExecutionID string
	// ResumeAfter is a token of an earlier watch with the same filter: told is exactly what came after it, and no
	// snapshot.
	ResumeAfter string
	// OnConnection is told whenever the connection changes.
	OnConnection func(Connection)
}

// Watch watches a project for as long as you iterate, or until ctx is done. It connects again by itself and goes on
// where it stopped: nothing is missed without a [Gap], nothing is told twice.
//
// The only error, and then the last that is told, is one that trying again cannot mend: a wrong filter or token, no
// permission. When ctx is done, the iteration just ends.
func (c *Client) Watch(ctx context.Context, options WatchOptions) iter.Seq2[News, error] {
	return func(yield func(News, error) bool) {
		w := &watch{client: c, options: options, token: options.ResumeAfter}
		w.run(ctx, yield)
	}
}

// watch is how far one iteration has come.
type watch struct {
	client   *Client
	options  WatchOptions
	token    string
	position int64
	// The leases of a snapshot that is not complete yet.
	gathered []*holdfastv1.Lease
	failures int
}

func (w *watch) run(ctx context.Context, yield func(News, error) bool) {
	for ctx.Err() == nil {
		w.tell(Connection{State: Connecting})
		goOn, err := w.stream(ctx, yield)
		if !goOn || ctx.Err() != nil {
			return
		}
		if reason, is := gapOf(err); is {
			w.token, w.position = "", 0
			if !yield(Gap{Reason: reason}, nil) {
				return
			}
		} else if isFinal(err) {
			yield(nil, err)
			return
		}
		if end, is := detailOf[*holdfastv1.WatchEnd](err); is && end.GetResumeToken() != "" {
			w.token = end.GetResumeToken()
		}
		w.failures++
		pause := watchPause(w.failures, w.client.random())
		w.tell(Connection{State: Waiting, Attempt: w.failures, RetryIn: pause, Err: err})
		_ = sleep(ctx, pause)
	}
}

func (w *watch) tell(connection Connection) {
	if w.options.OnConnection != nil {
		w.options.OnConnection(connection)
	}
}

// stream reads one stream. goOn is false when the reader wants no more; err is nil when the stream just ended.
func (w *watch) stream(ctx context.Context, yield func(News, error) bool) (goOn bool, err error) {
	w.gathered = nil
	// Without the deadline of ctx: the server refuses long ones.
	streaming, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
	silent := time.AfterFunc(silence, func() { end(errSilence) })
	defer silent.Stop()

	stream, err := w.client.Leases.WatchLeases(streaming, &holdfastv1.WatchLeasesRequest{
		Project: w.options.Project, TaskIds: w.options.TaskIDs, PlanId: w.options.PlanID, Kinds: w.options.Kinds,
		Principal: w.options.Principal, ExecutionId: w.options.ExecutionID, ResumeAfter: w.token,
	})
	if err != nil {
		return true, endOf(streaming, err)
	}
	defer func() { _ = stream.Close() }()
	for live := false; ; live = true {
		message, err := stream.Receive()
		// While the reader is busy, silence is its own.
		silent.Stop()
		if err != nil {
			return true, endOf(streaming, err)
		}
		if !live {
			w.tell(Connection{State: Live})
		}
		w.failures = 0
		if !w.take(message, yield) {
			return false, nil
		}
		silent.Reset(silence)
	}
}

// endOf is why a stream ended; nil: it just did.
func endOf(streaming context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(streaming), errSilence):
		return errSilence
	case errors.Is(err, io.EOF):
		return nil
	default:
		return err
	}
}

// take tells what a message says; it is false when the reader wants no more.
func (w *watch) take(message *holdfastv1.WatchLeasesResponse, yield func(News, error) bool) bool {
	switch said := message.GetMessage().(type) {
	case *holdfastv1.WatchLeasesResponse_Snapshot:
		w.gathered = append(w.gathered, said.Snapshot.GetLeases()...)
		return true
	case *holdfastv1.WatchLeasesResponse_Synced:
		leases := w.gathered
		w.gathered = nil
		w.token = said.Synced.GetResumeToken()
		return yield(Snapshot{Leases: leases, ResumeToken: w.token}, nil)
	case *holdfastv1.WatchLeasesResponse_Events:
		for _, event := range said.Events.GetEvents() {
			if event.GetPosition() <= w.position {
				continue
			}
			w.position = event.GetPosition()
			if !yield(Event{event}, nil) {
				return false
			}
		}
		w.token = said.Events.GetResumeToken()
		return yield(Checkpoint{ResumeToken: w.token}, nil)
	case *holdfastv1.WatchLeasesResponse_Checkpoint:
		w.token = said.Checkpoint.GetResumeToken()
		return yield(Checkpoint{ResumeToken: w.token}, nil)
	case *holdfastv1.WatchLeasesResponse_LeaseState:
		return yield(Renewed{Leases: said.LeaseState.GetLeases()}, nil)
	default:
		// Of a newer server.
		return true
	}
}

func gapOf(err error) (GapReason, bool) {
	if err == nil || connect.CodeOf(err) != connect.CodeOutOfRange {
		return "", false
	}
	gap, _ := detailOf[*holdfastv1.WatchGap](err)
	if gap.GetReason() == holdfastv1.WatchGapReason_WATCH_GAP_REASON_COMPACTED {
		return Compacted, true
	}
	return Reset, true
}

// isFinal tells whether trying again cannot help: somebody has to change the request, the token or the server.
func isFinal(err error) bool {
	if err == nil {
		return false
	}
	switch connect.CodeOf(err) {
	case connect.CodeInvalidArgument, connect.CodeNotFound, connect.CodePermissionDenied, connect.CodeUnauthenticated,
		connect.CodeUnimplemented:
		return true
	default:
		return false
	}
}
