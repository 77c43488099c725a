package holdfast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect/v2"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

func snapshot(taskIDs ...string) *holdfastv1.WatchLeasesResponse {
	var leases []*holdfastv1.Lease
	for _, id := range taskIDs {
		leases = append(leases, &holdfastv1.Lease{TaskId: id})
	}
	return &holdfastv1.WatchLeasesResponse{Message: &holdfastv1.WatchLeasesResponse_Snapshot{
		Snapshot: &holdfastv1.WatchSnapshot{Leases: leases},
	}}
}

func synced(token string) *holdfastv1.WatchLeasesResponse {
	return &holdfastv1.WatchLeasesResponse{Message: &holdfastv1.WatchLeasesResponse_Synced{
		Synced: &holdfastv1.WatchSynced{ResumeToken: token},
	}}
}

func events(token string, positions ...int64) *holdfastv1.WatchLeasesResponse {
	var events []*holdfastv1.Event
	for _, position := range positions {
		events = append(events, &holdfastv1.Event{Position: position})
	}
	return &holdfastv1.WatchLeasesResponse{Message: &holdfastv1.WatchLeasesResponse_Events{
		Events: &holdfastv1.WatchEvents{Events: events, ResumeToken: token},
	}}
}

// script is one stream: its messages, then its end. A stream with neither error nor cut stays open.
type script struct {
	messages []*holdfastv1.WatchLeasesResponse
	err      error
	cut      bool
}

// watched is a watch of a server that answers with one stream after another.
type watched struct {
	client *Client

	mu    sync.Mutex
	asked []*holdfastv1.WatchLeasesRequest
	told  []string
	last  []News
	// When it waited, for how long.
	pauses []Connection
	err    error
	ended  bool
	stop   context.CancelFunc
}

func watching(t *testing.T, options WatchOptions, streams ...script) *watched {
	t.Helper()
	w := &watched{}
	w.client, _ = clientOf(t, &scripted{
		watch: func(
			ctx context.Context, request *holdfastv1.WatchLeasesRequest, send func(*holdfastv1.WatchLeasesResponse),
		) error {
			w.mu.Lock()
			w.asked = append(w.asked, request)
			var next script
			if len(w.asked) <= len(streams) {
				next = streams[len(w.asked)-1]
			}
			w.mu.Unlock()
			for _, message := range next.messages {
				send(message)
			}
			if next.err == nil && !next.cut {
				<-ctx.Done()
				return ctx.Err()
			}
			return next.err
		},
	})
	w.client.random = func() float64 { return 1 }
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	options.OnConnection = func(connection Connection) {
		if connection.State == Waiting {
			w.pauses = append(w.pauses, connection)
		}
	}
	go func() {
		for news, err := range w.client.Watch(ctx, options) {
			if err != nil {
				w.err = err
				continue
			}
			w.last = append(w.last, news)
			switch news := news.(type) {
			case Event:
				w.told = append(w.told, fmt.Sprint(news.GetPosition()))
			default:
				w.told = append(w.told, fmt.Sprintf("%T", news)[len("holdfast."):])
			}
		}
		w.ended = true
	}()
	synctest.Wait()
	return w
}

func (w *watched) expect(t *testing.T, told ...string) {
	t.Helper()
	if !slices.Equal(w.told, told) {
		t.Errorf("told %q instead of %q", w.told, told)
	}
}

func (w *watched) resumedAfter() (tokens []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, request := range w.asked {
		tokens = append(tokens, request.GetResumeAfter())
	}
	return tokens
}

func messages(messages ...*holdfastv1.WatchLeasesResponse) []*holdfastv1.WatchLeasesResponse {
	return messages
}

func TestOneSnapshotThenTheEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, WatchOptions{}, script{
			messages: messages(snapshot("a", "b"), snapshot("c"), synced("t0"), events("t2", 1, 2)),
		})
		defer w.stop()
		w.expect(t, "Snapshot", "1", "2", "Checkpoint")
		if first := w.last[0].(Snapshot); len(first.Leases) != 3 || first.ResumeToken != "t0" {
			t.Errorf("the snapshot is %v", first)
		}
	})
}

func TestGoesOnWhereItStoppedAndTellsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := failure(connect.CodeUnavailable, &holdfastv1.WatchEnd{ResumeToken: "t4"})
		w := watching(t, WatchOptions{},
			script{messages: messages(synced("t0"), events("t2", 1, 2)), cut: true},
			script{messages: messages(events("t3", 2, 3)), err: ended},
			script{messages: messages(events("t5", 5))},
		)
		defer w.stop()
		after(250 * time.Millisecond)
		after(250 * time.Millisecond)
		if tokens := w.resumedAfter(); !slices.Equal(tokens, []string{"", "t2", "t4"}) {
			t.Errorf("resumed after %q", tokens)
		}
		w.expect(t, "Snapshot", "1", "2", "Checkpoint", "3", "Checkpoint", "5", "Checkpoint")
	})
}

func TestDropsHalfASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, WatchOptions{},
			script{messages: messages(snapshot("a")), cut: true},
			script{messages: messages(snapshot("b"), synced("t0"))},
		)
		defer w.stop()
		after(250 * time.Millisecond)
		w.expect(t, "Snapshot")
		if first := w.last[0].(Snapshot); len(first.Leases) != 1 || first.Leases[0].GetTaskId() != "b" {
			t.Errorf("the snapshot is %v", first)
		}
	})
}

func TestAGapStartsAnew(t *testing.T) {
	for reason, named := range map[holdfastv1.WatchGapReason]GapReason{
		holdfastv1.WatchGapReason_WATCH_GAP_REASON_COMPACTED: Compacted,
		holdfastv1.WatchGapReason_WATCH_GAP_REASON_RESET:     Reset,
	} {
		t.Run(string(named), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gap := failure(connect.CodeOutOfRange, &holdfastv1.WatchGap{Reason: reason})
				w := watching(t, WatchOptions{ResumeAfter: "old"},
					script{err: gap}, script{messages: messages(synced("t9"), events("t1", 1))})
				defer w.stop()
				after(250 * time.Millisecond)
				if tokens := w.resumedAfter(); !slices.Equal(tokens, []string{"old", ""}) {
					t.Errorf("resumed after %q", tokens)
				}
				w.expect(t, "Gap", "Snapshot", "1", "Checkpoint")
				if w.last[0].(Gap).Reason != named {
					t.Errorf("the gap is %v", w.last[0])
				}
			})
		})
	}
}

func TestGivesUpOnlyWhenTryingAgainCannotHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, WatchOptions{}, script{err: failure(connect.CodeUnauthenticated)})
		if !w.ended || connect.CodeOf(w.err) != connect.CodeUnauthenticated {
			t.Errorf("the error is %v", w.err)
		}
		violation := &holdfastv1.FieldViolation{Field: "kinds[0]", Description: "must name a kind"}
		w = watching(t, WatchOptions{}, script{err: failure(connect.CodeInvalidArgument, violation)})
		var invalid *InvalidRequest
		if !w.ended || !errors.As(w.err, &invalid) {
			t.Errorf("the error is %v", w.err)
		}
	})
}

func TestWaitsLongerFromFailureToFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := script{err: unavailable()}
		streams := slices.Repeat([]script{down}, 8)
		streams = append(streams, script{messages: messages(synced("t0")), cut: true}, down, script{})
		w := watching(t, WatchOptions{}, streams...)
		defer w.stop()
		after(2 * time.Minute)
		var pauses []string
		for _, pause := range w.pauses {
			pauses = append(pauses, fmt.Sprint(pause.Attempt, " ", pause.RetryIn))
		}
		expected := []string{
			"1 250ms", "2 500ms", "3 1s", "4 2s", "5 4s", "6 8s", "7 10s", "8 10s", "1 250ms", "2 500ms",
		}
		if len(pauses) < 10 || !slices.Equal(pauses[:10], expected) {
			t.Errorf("paused %q", pauses)
		}
	})
}

func TestSilenceIsADeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, WatchOptions{},
			script{messages: messages(synced("t0"))}, script{messages: messages(events("t1", 1))})
		defer w.stop()
		after(45*time.Second - time.Millisecond)
		if len(w.resumedAfter()) != 1 {
			t.Error("gave up too early")
		}
		after(time.Millisecond + 250*time.Millisecond)
		if tokens := w.resumedAfter(); !slices.Equal(tokens, []string{"", "t0"}) {
			t.Errorf("resumed after %q", tokens)
		}
		w.expect(t, "Snapshot", "1", "Checkpoint")
	})
}

// synctest fails when a goroutine is left.
func TestEndsWithItsContextAndWithItsReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, WatchOptions{}, script{messages: messages(synced("t0"))})
		w.stop()
		synctest.Wait()
		if !w.ended || w.err != nil {
			t.Errorf("ended: %t, %v", w.ended, w.err)
		}
		waiting := watching(t, WatchOptions{}, script{cut: true})
		waiting.stop()
		synctest.Wait()
		if !waiting.ended || waiting.err != nil {
			t.Errorf("ended: %t, %v", waiting.ended, waiting.err)
		}
	})
}

func TestTheReaderMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := clientOf(t, &scripted{
			watch: func(
				ctx context.Context, _ *holdfastv1.WatchLeasesRequest, send func(*holdfastv1.WatchLeasesResponse),
			) error {
				send(synced("t0"))
				<-ctx.Done()
				return ctx.Err()
			},
		})
		told := 0
		for _, err := range client.Watch(t.Context(), WatchOptions{}) {
			if err != nil {
				t.Error(err)
			}
			told++
			break
		}
		if told != 1 {
			t.Errorf("told %d", told)
		}
	})
}

func TestSendsItsFilterWithEveryStreamAndNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		client, _ := clientOf(t, &scripted{
			watch: func(
				ctx context.Context, request *holdfastv1.WatchLeasesRequest, _ func(*holdfastv1.WatchLeasesResponse),
			) error {
				asked++
				if request.GetProject() != "p" || request.GetTaskIds()[0] != "a" || request.GetPrincipal() != "ada" {
					t.Errorf("asked for %v", request)
				}
				if _, bounded := ctx.Deadline(); bounded {
					t.Error("with a deadline")
				}
				return nil
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for news, err := range client.Watch(ctx, WatchOptions{Project: "p", TaskIDs: []string{"a"}, Principal: "ada"}) {
			t.Errorf("told %v, %v", news, err)
		}
		if asked < 2 {
			t.Errorf("asked %d times", asked)
		}
	})
}
