package holdfast

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectinprocess"
	"connectrpc.com/connect/v2/connectproto"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
	"holdfast.dev/go/gen/holdfast/v1/holdfastv1connect"
)

// scripted is a LeaseService whose answers a test writes; what it leaves out is UNIMPLEMENTED.
type scripted struct {
	holdfastv1connect.UnimplementedLeaseServiceHandler
	acquire func(context.Context, *holdfastv1.AcquireLeaseRequest) (*holdfastv1.AcquireLeaseResponse, error)
	next    func(context.Context, *holdfastv1.AcquireNextTaskRequest) (*holdfastv1.AcquireNextTaskResponse, error)
	renew   func(context.Context, *holdfastv1.RenewLeaseRequest) (*holdfastv1.RenewLeaseResponse, error)
	release func(context.Context, *holdfastv1.ReleaseLeaseRequest) (*holdfastv1.ReleaseLeaseResponse, error)
	watch   func(context.Context, *holdfastv1.WatchLeasesRequest, func(*holdfastv1.WatchLeasesResponse)) error
}

func (s *scripted) AcquireLease(
	ctx context.Context, request *holdfastv1.AcquireLeaseRequest,
) (*holdfastv1.AcquireLeaseResponse, error) {
	if s.acquire == nil {
		return granted(leaseOf(90 * time.Second)), nil
	}
	return s.acquire(ctx, request)
}

func (s *scripted) AcquireNextTask(
	ctx context.Context, request *holdfastv1.AcquireNextTaskRequest,
) (*holdfastv1.AcquireNextTaskResponse, error) {
	return s.next(ctx, request)
}

func (s *scripted) RenewLease(
	ctx context.Context, request *holdfastv1.RenewLeaseRequest,
) (*holdfastv1.RenewLeaseResponse, error) {
	if s.renew == nil {
		return &holdfastv1.RenewLeaseResponse{Lease: leaseOf(90 * time.Second)}, nil
	}
	return s.renew(ctx, request)
}

func (s *scripted) ReleaseLease(
	ctx context.Context, request *holdfastv1.ReleaseLeaseRequest,
) (*holdfastv1.ReleaseLeaseResponse, error) {
	if s.release == nil {
		return &holdfastv1.ReleaseLeaseResponse{}, nil
	}
	return s.release(ctx, request)
}

func (s *scripted) WatchLeases(
	ctx context.Context, request *holdfastv1.WatchLeasesRequest,
	stream holdfastv1connect.LeaseServiceWatchLeasesServerStream,
) error {
	return s.watch(ctx, request, func(message *holdfastv1.WatchLeasesResponse) { _ = stream.Send(message) })
}

// settableClock is the machine's clock, until a test sets it.
type settableClock struct {
	systemClock
	monotonic, wall atomic.Int64
}

func (c *settableClock) now() instant {
	now := c.systemClock.now()
	return instant{
		monotonic: now.monotonic + time.Duration(c.monotonic.Load()),
		wall:      now.wall + time.Duration(c.wall.Load()),
	}
}

// clientOf is a client of a scripted server in this process, without chance, and its clock.
func clientOf(t *testing.T, leases *scripted) (*Client, *settableClock) {
	t.Helper()
	server := connect.NewServer()
	holdfastv1connect.RegisterLeaseServiceHandler(server, leases)
	clock := &settableClock{systemClock: newSystemClock()}
	client, err := New("http://localhost", "hf_test", WithExecutionID("run-1"), func(s *settings) {
		s.transport = connectinprocess.New(server)
		s.clock = clock
		s.random = func() float64 { return 0.5 }
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, clock
}

func leaseOf(ttl time.Duration) *holdfastv1.Lease {
	return &holdfastv1.Lease{
		Id: "lease-1", TaskId: "task-1", FencingToken: 7, Ttl: durationpb.New(ttl), Remaining: durationpb.New(ttl),
	}
}

func granted(lease *holdfastv1.Lease) *holdfastv1.AcquireLeaseResponse {
	return &holdfastv1.AcquireLeaseResponse{Outcome: &holdfastv1.AcquireLeaseResponse_Grant{Grant: grantOf(lease)}}
}

func grantOf(lease *holdfastv1.Lease) *holdfastv1.Grant {
	return &holdfastv1.Grant{Lease: lease, Task: &holdfastv1.Task{Id: "task-1", Title: "Write the parser"}}
}

func failure(code connect.Code, details ...proto.Message) error {
	err := connect.NewError(code, "as the test wants it")
	for _, detail := range details {
		packed, packing := connectproto.NewErrorDetail(detail)
		if packing != nil {
			panic(packing)
		}
		err = err.WithDetail(packed)
	}
	return err
}

func unavailable() error { return failure(connect.CodeUnavailable) }
