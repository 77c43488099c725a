package holdfast

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"connectrpc.com/connect/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

const (
	mostAttempts = 5
	// All attempts of a call together may take so long, when the context has no deadline.
	callTimeout = time.Minute
	// One attempt of a call that may be sent again may take so long, and longer by what the request asks the server to
	// hold it: an answer that got lost must leave time for the next.
	attemptTimeout = 15 * time.Second
)

// caller adds to each call what every caller needs: the token, a request id, safe retries and typed errors.
type caller struct {
	authorization string
	random        func() float64
}

func newCaller(token string, random func() float64) *caller {
	return &caller{authorization: "Bearer " + token, random: random}
}

// intercept is a [connect.ClientInterceptor].
func (c *caller) intercept(next connect.ClientFunc) connect.ClientFunc {
	return func(ctx context.Context, spec connect.Spec) (connect.ClientStream, error) {
		// Headers of its own for each call: what the context has may be shared by calls at the same time.
		given, _ := connect.CallInfoForClientContext(ctx)
		ctx, info := connect.NewClientContext(ctx)
		if given != nil {
			for name, values := range given.RequestHeader().All() {
				info.RequestHeader().SetValues(name, values)
			}
		}
		info.RequestHeader().Set("Authorization", c.authorization)
		if spec.StreamType == connect.StreamTypeUnary {
			return &unaryCall{caller: c, next: next, ctx: ctx, spec: spec}, nil
		}
		stream, err := next(ctx, spec)
		if err != nil {
			return nil, typed(err)
		}
		return typedStream{stream}, nil
	}
}

// typedStream is a stream whose errors are typed.
type typedStream struct {
	connect.ClientStream
}

func (s typedStream) Receive(message any) error {
	return typed(s.ClientStream.Receive(message))
}

// unaryCall sends its request when the answer is asked for, and again where that is safe.
type unaryCall struct {
	caller *caller
	next   connect.ClientFunc
	ctx    context.Context
	spec   connect.Spec

	request proto.Message
}

func (u *unaryCall) SendHeaders() error { return nil }

func (u *unaryCall) Send(message any) error {
	request, is := message.(proto.Message)
	if !is {
		return connect.Errorf(connect.CodeInternal, "%T is not a message", message)
	}
	u.request = withRequestID(request)
	return nil
}

func (u *unaryCall) CloseSend() error { return nil }

func (u *unaryCall) Close() error { return nil }

func (u *unaryCall) Receive(answer any) error {
	if _, bounded := u.ctx.Deadline(); !bounded {
		ctx, cancel := context.WithTimeout(u.ctx, callTimeout)
		defer cancel()
		u.ctx = ctx
	}
	method, _ := u.spec.Schema.(protoreflect.MethodDescriptor)
	// The server refuses long deadlines, but the caller's may be for all that it does.
	timeout := callTimeout
	if isRepeatable(method) {
		timeout = attemptTimeout + heldFor(u.request)
	}
	stillHeld, isUnderLease := u.ctx.Value(leaseCheck{}).(func() error)
	for attempt := 1; ; attempt++ {
		// The process may have been suspended between two attempts.
		if isUnderLease {
			if err := stillHeld(); err != nil {
				return err
			}
		}
		err := u.attempt(answer, timeout)
		if err == nil {
			return nil
		}
		advice, advised := detailOf[*holdfastv1.RetryAdvice](err)
		isLast := attempt == mostAttempts && !isUnderLease
		if u.ctx.Err() != nil || isLast || !retries(method, connect.CodeOf(err), advised) {
			return typed(err)
		}
		pause := retryPause(attempt, u.caller.random(), advice.GetRetryAfter().AsDuration())
		if sleep(u.ctx, pause) != nil {
			return typed(err)
		}
	}
}

func (u *unaryCall) attempt(answer any, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(u.ctx, timeout)
	defer cancel()
	stream, err := u.next(ctx, u.spec)
	if err != nil {
		return u.afterTransport(err)
	}
	// What closing says was said before: the answer is there, or why it is not.
	defer func() { _ = stream.Close() }()
	// A send that ends early is explained by what is received.
	if err := stream.Send(u.request); err != nil && !errors.Is(err, io.EOF) {
		return u.afterTransport(err)
	}
	if err := stream.CloseSend(); err != nil && !errors.Is(err, io.EOF) {
		return u.afterTransport(err)
	}
	return u.afterTransport(stream.Receive(answer))
}

// afterTransport gives a connection that broke one code, wherever in the call it did: UNAVAILABLE.
func (u *unaryCall) afterTransport(err error) error {
	var failed *connect.Error
	if err == nil || u.ctx.Err() != nil || !errors.As(err, &failed) || failed.IsRemote() {
		return err
	}
	switch failed.Code() {
	case connect.CodeUnknown, connect.CodeInternal, connect.CodeCanceled, connect.CodeAborted:
		return connect.NewError(connect.CodeUnavailable, failed.Message()).WithCause(err)
	default:
		return err
	}
}

// retries tells whether a call that failed so is sent again. advised: the error carries a RetryAdvice.
func retries(method protoreflect.MethodDescriptor, code connect.Code, advised bool) bool {
	if method == nil || method.IsStreamingClient() || method.IsStreamingServer() {
		return false
	}
	switch code {
	case connect.CodeAborted, connect.CodeResourceExhausted:
		// Nothing was done.
		return advised
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded:
		return isRepeatable(method)
	default:
		return false
	}
}

func withRequestID(request proto.Message) proto.Message {
	field := requestIDOf(request.ProtoReflect().Descriptor())
	if field == nil || request.ProtoReflect().Get(field).String() != "" {
		return request
	}
	identified := proto.Clone(request)
	identified.ProtoReflect().Set(field, protoreflect.ValueOfString(rand.Text()))
	return identified
}

func requestIDOf(message protoreflect.MessageDescriptor) protoreflect.FieldDescriptor {
	return message.Fields().ByName("request_id")
}

// heldFor is how long the request asks the server to hold it.
func heldFor(request proto.Message) time.Duration {
	if next, is := request.(*holdfastv1.AcquireNextTaskRequest); is {
		return next.GetWait().AsDuration()
	}
	return 0
}

type leaseCheck struct{}

// underLease makes every attempt of the calls with this context ask stillHeld first; its error ends the call. They have
// as many attempts as there is time.
func underLease(ctx context.Context, stillHeld func() error) context.Context {
	return context.WithValue(ctx, leaseCheck{}, stillHeld)
}

// isRepeatable tells whether doing a call twice is the same as doing it once.
func isRepeatable(method protoreflect.MethodDescriptor) bool {
	options, _ := method.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS ||
		requestIDOf(method.Input()) != nil
}
