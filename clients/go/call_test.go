package holdfast

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connecthttp"
	"connectrpc.com/connect/v2/connectinprocess"
	"google.golang.org/protobuf/types/known/durationpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
	"holdfast.dev/go/gen/holdfast/v1/holdfastv1connect"
)

// tasks is a TaskService whose answers a test writes.
type tasks struct {
	holdfastv1connect.UnimplementedTaskServiceHandler
	create func(context.Context, *holdfastv1.CreateTaskRequest) (*holdfastv1.CreateTaskResponse, error)
	update func(context.Context, *holdfastv1.UpdateTaskRequest) (*holdfastv1.UpdateTaskResponse, error)
}

func (s *tasks) CreateTask(
	ctx context.Context, request *holdfastv1.CreateTaskRequest,
) (*holdfastv1.CreateTaskResponse, error) {
	return s.create(ctx, request)
}

func (s *tasks) UpdateTask(
	ctx context.Context, request *holdfastv1.UpdateTaskRequest,
) (*holdfastv1.UpdateTaskResponse, error) {
	return s.update(ctx, request)
}

func clientOfTasks(t *testing.T, service *tasks) *Client {
	t.Helper()
	server := connect.NewServer()
	holdfastv1connect.RegisterTaskServiceHandler(server, service)
	client, err := New("http://localhost", "hf_test", func(s *settings) {
		s.transport = connectinprocess.New(server)
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestARepeatedCallHasOneRequestID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ids []string
		client := clientOfTasks(t, &tasks{
			create: func(
				_ context.Context, request *holdfastv1.CreateTaskRequest,
			) (*holdfastv1.CreateTaskResponse, error) {
				ids = append(ids, request.GetRequestId())
				return nil, unavailable()
			},
		})
		request := &holdfastv1.CreateTaskRequest{Title: "task"}
		_, err := client.Tasks.CreateTask(t.Context(), request)
		if connect.CodeOf(err) != connect.CodeUnavailable || len(ids) != 5 {
			t.Fatalf("%v after %d attempts", err, len(ids))
		}
		for _, id := range ids {
			if id == "" || id != ids[0] {
				t.Errorf("request ids %q", ids)
			}
		}
		if request.GetRequestId() != "" {
			t.Error("the caller's own request was changed")
		}
	})
}

func TestACallThatHangsLeavesTimeForTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		client := clientOfTasks(t, &tasks{
			create: func(ctx context.Context, _ *holdfastv1.CreateTaskRequest) (*holdfastv1.CreateTaskResponse, error) {
				if attempts++; attempts == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return &holdfastv1.CreateTaskResponse{}, nil
			},
		})
		began := time.Now()
		if _, err := client.Tasks.CreateTask(t.Context(), &holdfastv1.CreateTaskRequest{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 15*time.Second || took > 16*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestTheCallersDeadlineEndsAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := clientOfTasks(t, &tasks{
			create: func(ctx context.Context, _ *holdfastv1.CreateTaskRequest) (*holdfastv1.CreateTaskResponse, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		_, err := client.Tasks.CreateTask(ctx, &holdfastv1.CreateTaskRequest{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

func TestAChangeWithoutARequestIDIsRepeatedOnlyWhenNothingWasDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		answer := unavailable()
		client := clientOfTasks(t, &tasks{
			update: func(context.Context, *holdfastv1.UpdateTaskRequest) (*holdfastv1.UpdateTaskResponse, error) {
				if attempts++; attempts == 3 {
					return &holdfastv1.UpdateTaskResponse{}, nil
				}
				return nil, answer
			},
		})
		_, err := client.Tasks.UpdateTask(t.Context(), &holdfastv1.UpdateTaskRequest{})
		if connect.CodeOf(err) != connect.CodeUnavailable || attempts != 1 {
			t.Errorf("%v after %d attempts", err, attempts)
		}
		advice := &holdfastv1.RetryAdvice{RetryAfter: durationpb.New(3 * time.Second)}
		answer = failure(connect.CodeAborted, advice)
		began := time.Now()
		_, err = client.Tasks.UpdateTask(t.Context(), &holdfastv1.UpdateTaskRequest{})
		if err != nil || attempts != 3 || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %d attempts in %v", err, attempts, time.Since(began))
		}
	})
}

func TestEveryCallCarriesTheToken(t *testing.T) {
	seen := make(chan string, 2)
	server := connect.NewServer()
	holdfastv1connect.RegisterTaskServiceHandler(server, &tasks{
		create: func(context.Context, *holdfastv1.CreateTaskRequest) (*holdfastv1.CreateTaskResponse, error) {
			return &holdfastv1.CreateTaskResponse{}, nil
		},
	})
	mux := http.NewServeMux()
	connecthttp.Mount(mux, server)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("Authorization")
		mux.ServeHTTP(w, r)
	}))
	defer web.Close()
	client, err := New(web.URL, "hf_secret", WithHTTPClient(web.Client()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Tasks.CreateTask(t.Context(), &holdfastv1.CreateTaskRequest{}); err != nil {
		t.Fatal(err)
	}
	if token := waitFor(t, "the call", seen); token != "Bearer hf_secret" {
		t.Errorf("authorization %q", token)
	}
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	for _, address := range []string{"", "localhost:7420", "ftp://localhost", "http://", "http://[::1"} {
		if _, err := New(address, "hf_test"); err == nil {
			t.Errorf("%q is no address", address)
		}
	}
}
