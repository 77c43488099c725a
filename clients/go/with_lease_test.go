package holdfast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

func refusal(refused *holdfastv1.Refusal) *holdfastv1.AcquireLeaseResponse {
	return &holdfastv1.AcquireLeaseResponse{Outcome: &holdfastv1.AcquireLeaseResponse_Refusal{Refusal: refused}}
}

// recording writes down the releases.
func recording(calls *[]string) *scripted {
	return &scripted{
		release: func(
			_ context.Context, request *holdfastv1.ReleaseLeaseRequest,
		) (*holdfastv1.ReleaseLeaseResponse, error) {
			*calls = append(*calls, strings.TrimSpace(
				fmt.Sprintf("release %s %d %s", request.GetLeaseId(), request.GetFencingToken(), request.GetNote())))
			return &holdfastv1.ReleaseLeaseResponse{}, nil
		},
	}
}

func TestWithLeaseGivesTheTaskAndReleases(t *testing.T) {
	var calls []string
	client, _ := clientOf(t, recording(&calls))
	err := client.WithLease(t.Context(), "task-1", func(_ context.Context, lease *Lease) error {
		if lease.Task().GetTitle() != "Write the parser" {
			t.Errorf("the task is %v", lease.Task())
		}
		if proof := lease.Proof(); proof.GetLeaseId() != "lease-1" || proof.GetFencingToken() != 7 {
			t.Errorf("the proof is %v", proof)
		}
		lease.SetReleaseNote("half done")
		return nil
	})
	if err != nil || len(calls) != 1 || calls[0] != "release lease-1 7 half done" {
		t.Errorf("%v, %q", err, calls)
	}
}

func TestWithLeaseReleasesOnErrorPanicAndGoexit(t *testing.T) {
	outOfIdeas := errors.New("out of ideas")
	for name, work := range map[string]func(context.Context, *Lease) error{
		"error": func(context.Context, *Lease) error { return outOfIdeas },
		"panic": func(context.Context, *Lease) error { panic(outOfIdeas) },
	} {
		t.Run(name, func(t *testing.T) {
			var calls []string
			client, _ := clientOf(t, recording(&calls))
			ended := func() (ended any) {
				defer func() {
					if panicked := recover(); panicked != nil {
						ended = panicked
					}
				}()
				return client.WithLease(t.Context(), "task-1", work)
			}()
			if ended != outOfIdeas || len(calls) != 1 {
				t.Errorf("%v, %q", ended, calls)
			}
		})
	}
}

func TestWithLeaseReleasesWhenItsContextIsDone(t *testing.T) {
	var calls []string
	client, _ := clientOf(t, recording(&calls))
	ctx, stop := context.WithCancel(t.Context())
	err := client.WithLease(ctx, "task-1", func(ctx context.Context, lease *Lease) error {
		stop()
		<-ctx.Done()
		if lease.Err() != nil {
			t.Errorf("stopped is not lost: %v", lease.Err())
		}
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || len(calls) != 1 {
		t.Errorf("%v, %q", err, calls)
	}
}

func TestWithLeaseTellsOfAFailedRelease(t *testing.T) {
	client, _ := clientOf(t, &scripted{
		release: func(context.Context, *holdfastv1.ReleaseLeaseRequest) (*holdfastv1.ReleaseLeaseResponse, error) {
			return nil, unavailable()
		},
	})
	var told error
	err := client.WithLease(t.Context(), "task-1", func(context.Context, *Lease) error { return nil },
		OnReleaseFailed(func(err error, _ *holdfastv1.Lease) { told = err }))
	if err != nil || connect.CodeOf(told) != connect.CodeUnavailable {
		t.Errorf("%v, told %v", err, told)
	}
}

func TestWithLeaseStopsTheWorkAndReleasesNothingThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		script := recording(&calls)
		script.renew = func(context.Context, *holdfastv1.RenewLeaseRequest) (*holdfastv1.RenewLeaseResponse, error) {
			return nil, failure(connect.CodeFailedPrecondition)
		}
		client, _ := clientOf(t, script)
		err := client.WithLease(t.Context(), "task-1", func(ctx context.Context, _ *Lease) error {
			<-ctx.Done()
			return ctx.Err()
		})
		var lost *LeaseLost
		if !errors.As(err, &lost) || lost.Kind != Lost || !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		if len(calls) != 0 {
			t.Errorf("sent %q", calls)
		}
	})
}

func TestALeaseIsOfNoUseAfterItsWork(t *testing.T) {
	client, _ := clientOf(t, &scripted{})
	var kept *Lease
	err := client.WithLease(t.Context(), "task-1", func(_ context.Context, lease *Lease) error {
		kept = lease
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var lost *LeaseLost
	if _, err := kept.AddNote(t.Context(), "late"); !errors.As(err, &lost) || lost.Kind != Released {
		t.Errorf("a write afterwards: %v", err)
	}
}

func TestARefusalRunsNoWork(t *testing.T) {
	client, _ := clientOf(t, &scripted{
		acquire: func(context.Context, *holdfastv1.AcquireLeaseRequest) (*holdfastv1.AcquireLeaseResponse, error) {
			return refusal(&holdfastv1.Refusal{
				Reason: holdfastv1.RefusalReason_REFUSAL_REASON_HELD, Advice: "Take another.",
			}), nil
		},
	})
	err := client.WithLease(t.Context(), "task-1", func(context.Context, *Lease) error {
		t.Error("it ran")
		return nil
	})
	var refused *Refused
	if !errors.As(err, &refused) || err.Error() != "holdfast: refused HELD: Take another." {
		t.Errorf("the error is %v", err)
	}
}

func TestAsksAgainWhenTheServerSaysAndOnlyWhileItMayWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var asked []time.Duration
		client, _ := clientOf(t, &scripted{
			acquire: func(context.Context, *holdfastv1.AcquireLeaseRequest) (*holdfastv1.AcquireLeaseResponse, error) {
				asked = append(asked, time.Since(began))
				return refusal(&holdfastv1.Refusal{
					Reason: holdfastv1.RefusalReason_REFUSAL_REASON_HELD, RetryAfter: durationpb.New(2 * time.Second),
				}), nil
			},
		})
		err := client.WithLease(t.Context(), "task-1", func(context.Context, *Lease) error { return nil },
			WithWait(5*time.Second))
		var refused *Refused
		if !errors.As(err, &refused) || fmt.Sprint(asked) != "[0s 2s 4s 5s]" {
			t.Errorf("%v, asked at %v", err, asked)
		}
	})
}

func TestTheServerHoldsACallForTheNextTaskAtMost50Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []*holdfastv1.AcquireNextTaskRequest
		client, _ := clientOf(t, &scripted{
			next: func(
				_ context.Context, request *holdfastv1.AcquireNextTaskRequest,
			) (*holdfastv1.AcquireNextTaskResponse, error) {
				requests = append(requests, request)
				time.Sleep(request.GetWait().AsDuration())
				if len(requests) == 1 {
					return &holdfastv1.AcquireNextTaskResponse{Outcome: &holdfastv1.AcquireNextTaskResponse_Refusal{
						Refusal: &holdfastv1.Refusal{Reason: holdfastv1.RefusalReason_REFUSAL_REASON_NOTHING_READY},
					}}, nil
				}
				return &holdfastv1.AcquireNextTaskResponse{Outcome: &holdfastv1.AcquireNextTaskResponse_Grant{
					Grant: grantOf(leaseOf(90 * time.Second)),
				}}, nil
			},
		})
		err := client.WithNextLease(t.Context(), func(_ context.Context, lease *Lease) error { return lease.Err() },
			WithWait(80*time.Second), WithTTL(30*time.Second), WithLabels("backend"))
		if err != nil || len(requests) != 2 {
			t.Fatalf("%v, %d requests", err, len(requests))
		}
		first, second := requests[0], requests[1]
		if first.GetWait().AsDuration() != 50*time.Second || second.GetWait().AsDuration() != 29750*time.Millisecond {
			t.Errorf("waits %v and %v", first.GetWait(), second.GetWait())
		}
		if first.GetRequestId() == "" || first.GetRequestId() == second.GetRequestId() {
			t.Errorf("request ids %q and %q", first.GetRequestId(), second.GetRequestId())
		}
		if first.GetTtl().AsDuration() != 30*time.Second || first.GetLabels()[0] != "backend" ||
			first.GetExecutionId() != "run-1" {
			t.Errorf("the request is %v", first)
		}
	})
}

func TestAnEmptyTaskIDIsNotTheNextTask(t *testing.T) {
	client, _ := clientOf(t, &scripted{
		acquire: func(
			_ context.Context, request *holdfastv1.AcquireLeaseRequest,
		) (*holdfastv1.AcquireLeaseResponse, error) {
			return nil, failure(connect.CodeInvalidArgument, &holdfastv1.FieldViolation{
				Field: "task_id", Description: "is required",
			})
		},
	})
	err := client.WithLease(t.Context(), "", func(context.Context, *Lease) error { return nil })
	var invalid *InvalidRequest
	if !errors.As(err, &invalid) || err.Error() != "holdfast: invalid request: task_id: is required" {
		t.Errorf("the error is %v", err)
	}
}

func TestAGrantThatWasLongInComingIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renewals := 0
		client, _ := clientOf(t, &scripted{
			acquire: func(context.Context, *holdfastv1.AcquireLeaseRequest) (*holdfastv1.AcquireLeaseResponse, error) {
				time.Sleep(8 * time.Second)
				return granted(leaseOf(10 * time.Second)), nil
			},
			renew: func(context.Context, *holdfastv1.RenewLeaseRequest) (*holdfastv1.RenewLeaseResponse, error) {
				renewals++
				return &holdfastv1.RenewLeaseResponse{Lease: leaseOf(10 * time.Second)}, nil
			},
		})
		err := client.WithLease(t.Context(), "task-1", func(_ context.Context, lease *Lease) error {
			return lease.Err()
		})
		if err != nil || renewals != 1 {
			t.Errorf("%v, %d renewals", err, renewals)
		}
	})
}

func TestWaitingStopsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, _ := clientOf(t, &scripted{
			acquire: func(context.Context, *holdfastv1.AcquireLeaseRequest) (*holdfastv1.AcquireLeaseResponse, error) {
				return refusal(&holdfastv1.Refusal{
					Reason: holdfastv1.RefusalReason_REFUSAL_REASON_HELD, RetryAfter: durationpb.New(time.Minute),
				}), nil
			},
		})
		enough := errors.New("enough")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { stop(enough) })
		err := client.WithLease(ctx, "task-1", func(context.Context, *Lease) error { return nil },
			WithWait(time.Hour))
		if !errors.Is(err, enough) {
			t.Errorf("the error is %v", err)
		}
	})
}
