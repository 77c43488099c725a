package holdfast

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/types/known/durationpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// kept is a lease of some TTL that is kept, by a clock that jumps as soon as everybody waits.
type kept struct {
	lease *Lease
	ctx   context.Context
	clock *settableClock

	mu sync.Mutex
	// When each renewal was asked for, since the lease was.
	asked []time.Duration
}

func (k *kept) renewals() []time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.asked)
}

// keep runs test while a lease is kept; answer says how long each renewal extends it.
func keep(t *testing.T, ttl time.Duration, answer func(context.Context) (time.Duration, error), test func(*kept)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		k := &kept{}
		client, clock := clientOf(t, &scripted{
			acquire: func(context.Context, *holdfastv1.AcquireLeaseRequest) (*holdfastv1.AcquireLeaseResponse, error) {
				return granted(leaseOf(ttl)), nil
			},
			renew: func(ctx context.Context, request *holdfastv1.RenewLeaseRequest) (*holdfastv1.RenewLeaseResponse, error) {
				if request.GetLeaseId() != "lease-1" || request.GetFencingToken() != 7 {
					t.Errorf("a renewal without the proof of the lease: %v", request)
				}
				k.mu.Lock()
				k.asked = append(k.asked, time.Since(began))
				k.mu.Unlock()
				remaining, err := answer(ctx)
				if err != nil {
					return nil, err
				}
				lease := leaseOf(ttl)
				lease.Remaining = durationpb.New(remaining)
				return &holdfastv1.RenewLeaseResponse{Lease: lease}, nil
			},
		})
		err := client.WithLease(t.Context(), "task-1", func(ctx context.Context, lease *Lease) error {
			k.lease, k.ctx, k.clock = lease, ctx, clock
			test(k)
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// after lets time pass, and everybody finish what they do then.
func after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func always(ttl time.Duration) func(context.Context) (time.Duration, error) {
	return func(context.Context) (time.Duration, error) { return ttl, nil }
}

func failing(err error) func(context.Context) (time.Duration, error) {
	return func(context.Context) (time.Duration, error) { return 0, err }
}

func isLost(t *testing.T, k *kept, kind LostKind) *LeaseLost {
	t.Helper()
	var lost *LeaseLost
	if !errors.As(context.Cause(k.ctx), &lost) {
		t.Fatalf("the work was not stopped for a lost lease, but: %v", context.Cause(k.ctx))
	}
	if lost.Kind != kind || lost.TaskID != "task-1" {
		t.Errorf("%s %s instead of %s", lost.TaskID, lost.Kind, kind)
	}
	if !errors.Is(k.lease.Err(), lost) {
		t.Errorf("Err is %v", k.lease.Err())
	}
	return lost
}

func isKept(t *testing.T, k *kept) {
	t.Helper()
	if err := k.ctx.Err(); err != nil {
		t.Fatalf("the work was stopped: %v", context.Cause(k.ctx))
	}
	if err := k.lease.Err(); err != nil {
		t.Fatal(err)
	}
}

func TestRenewsAtEachThirdOfTheTTL(t *testing.T) {
	keep(t, 90*time.Second, always(90*time.Second), func(k *kept) {
		after(95 * time.Second)
		isKept(t, k)
		expected := []time.Duration{30 * time.Second, 60 * time.Second, 90 * time.Second}
		if !slices.Equal(k.renewals(), expected) {
			t.Errorf("renewed at %v", k.renewals())
		}
	})
}

func TestAFailedRenewalIsUnknown(t *testing.T) {
	var mended atomic.Bool
	answer := func(context.Context) (time.Duration, error) {
		if mended.Load() {
			return 90 * time.Second, nil
		}
		return 0, unavailable()
	}
	keep(t, 90*time.Second, answer, func(k *kept) {
		after(60 * time.Second)
		isKept(t, k)
		if len(k.renewals()) < 4 {
			t.Errorf("tried only at %v", k.renewals())
		}
		mended.Store(true)
		after(200 * time.Second)
		isKept(t, k)
	})
}

func TestUnconfirmedAtTheSafeDeadline(t *testing.T) {
	keep(t, 90*time.Second, failing(unavailable()), func(k *kept) {
		after(81*time.Second - time.Millisecond)
		isKept(t, k)
		after(time.Millisecond)
		lost := isLost(t, k, Unconfirmed)
		if connect.CodeOf(lost) != connect.CodeUnavailable {
			t.Errorf("without the reason: %v", lost)
		}
	})
}

func TestCountsFromBeforeARenewalWasSent(t *testing.T) {
	calls := 0
	answer := func(context.Context) (time.Duration, error) {
		if calls++; calls > 1 {
			return 0, unavailable()
		}
		time.Sleep(10 * time.Second)
		return 90 * time.Second, nil
	}
	keep(t, 90*time.Second, answer, func(k *kept) {
		// Renewed at 30 s, so safe until 111 s.
		after(111*time.Second - time.Millisecond)
		isKept(t, k)
		after(time.Millisecond)
		isLost(t, k, Unconfirmed)
	})
}

func TestDoesNotWaitForARenewalThatNeverComesBack(t *testing.T) {
	never := func(ctx context.Context) (time.Duration, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	keep(t, 90*time.Second, never, func(k *kept) {
		after(81 * time.Second)
		isLost(t, k, Unconfirmed)
		if len(k.renewals()) < 3 {
			t.Errorf("one attempt used up the time of the others: %v", k.renewals())
		}
	})
}

func TestLostAtOnceWhenTheServerSaysSo(t *testing.T) {
	stale := &holdfastv1.WriteRejection{Code: holdfastv1.WriteCode_WRITE_CODE_STALE_LOCK, TaskId: "task-1"}
	for name, err := range map[string]error{
		"a rejection":         failure(connect.CodeFailedPrecondition, stale),
		"NOT_FOUND":           failure(connect.CodeNotFound),
		"FAILED_PRECONDITION": failure(connect.CodeFailedPrecondition),
	} {
		t.Run(name, func(t *testing.T) {
			keep(t, 90*time.Second, failing(err), func(k *kept) {
				after(30 * time.Second)
				lost := isLost(t, k, Lost)
				if name == "a rejection" && !errors.Is(lost, ErrStaleLock) {
					t.Errorf("without the verdict: %v", lost)
				}
				after(time.Minute)
				if len(k.renewals()) != 1 {
					t.Errorf("renewed at %v", k.renewals())
				}
			})
		})
	}
}

func TestAMachineThatSleptStopsWithinASecondOfWaking(t *testing.T) {
	keep(t, 90*time.Second, always(90*time.Second), func(k *kept) {
		after(5 * time.Second)
		// The wall clock goes on in suspend, the monotonic one does not.
		k.clock.wall.Store(int64(85 * time.Second))
		after(time.Second)
		isLost(t, k, Unconfirmed)
	})
}

func TestAWallClockThatIsSetBackKeepsTheMonotonicDeadline(t *testing.T) {
	keep(t, 90*time.Second, failing(unavailable()), func(k *kept) {
		k.clock.wall.Store(int64(-time.Hour))
		after(81 * time.Second)
		isLost(t, k, Unconfirmed)
	})
}

func TestErrSaysSoWhenNothingHadTheTimeTo(t *testing.T) {
	keep(t, 90*time.Second, always(90*time.Second), func(k *kept) {
		synctest.Wait()
		k.clock.monotonic.Store(int64(81 * time.Second))
		if k.ctx.Err() != nil {
			t.Error("stopped already")
		}
		var lost *LeaseLost
		if !errors.As(k.lease.Err(), &lost) {
			t.Error("not told")
		}
		if _, err := k.lease.AddNote(context.Background(), "late"); !errors.As(err, &lost) {
			t.Errorf("a late write: %v", err)
		}
		isLost(t, k, Unconfirmed)
	})
}

func TestThirtyDays(t *testing.T) {
	const days = 24 * time.Hour
	keep(t, 30*days, always(30*days), func(k *kept) {
		after(9*days - time.Minute)
		isKept(t, k)
		if len(k.renewals()) != 0 {
			t.Errorf("renewed at %v", k.renewals())
		}
	})
}

func TestEndsAtTheAgeCapInsteadOfRenewingEverFaster(t *testing.T) {
	began := time.Now
	var start time.Time
	answer := func(context.Context) (time.Duration, error) { return 100*time.Second - began().Sub(start), nil }
	keep(t, 90*time.Second, answer, func(k *kept) {
		start = time.Now()
		after(91 * time.Second)
		isLost(t, k, Unconfirmed)
		if len(k.renewals()) > 20 {
			t.Errorf("%d renewals", len(k.renewals()))
		}
	})
}

// synctest fails when a goroutine is left.
func TestLeavesNothingWithARenewalUnderWay(t *testing.T) {
	never := func(ctx context.Context) (time.Duration, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	keep(t, 90*time.Second, never, func(k *kept) {
		after(30 * time.Second)
		isKept(t, k)
	})
}
