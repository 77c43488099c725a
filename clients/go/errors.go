package holdfast

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect/v2"
	"connectrpc.com/connect/v2/connectproto"
	"google.golang.org/protobuf/proto"

	holdfastv1 "holdfast.dev/go/gen/holdfast/v1"
)

// Why the write guard refused a write; [errors.Is] tells which of them a [*WriteRejected] is.
var (
	// ErrLockRequired: the task can be leased and the write proved no lease. Acquire it, or send the proof.
	ErrLockRequired = errors.New("LOCK_REQUIRED")
	// ErrLockExpired: the lease that the write proved is over, and nobody took the task over.
	ErrLockExpired = errors.New("LOCK_EXPIRED")
	// ErrLockedByOther: somebody else holds the task.
	ErrLockedByOther = errors.New("LOCKED_BY_OTHER")
	// ErrStaleLock: the task was granted again since, or the lease was taken away.
	ErrStaleLock = errors.New("STALE_LOCK")
)

var sentinels = map[holdfastv1.WriteCode]error{
	holdfastv1.WriteCode_WRITE_CODE_LOCK_REQUIRED:   ErrLockRequired,
	holdfastv1.WriteCode_WRITE_CODE_LOCK_EXPIRED:    ErrLockExpired,
	holdfastv1.WriteCode_WRITE_CODE_LOCKED_BY_OTHER: ErrLockedByOther,
	holdfastv1.WriteCode_WRITE_CODE_STALE_LOCK:      ErrStaleLock,
}

// WriteRejected says that the write guard refused a write or a renewal. Trying the same again does not help. It wraps
// the *connect.Error of the call.
type WriteRejected struct {
	// Code is the guard's verdict.
	Code holdfastv1.WriteCode
	// TaskID is the task that the write was for.
	TaskID string
	// Holder is who holds the live lease; nil: nobody does.
	Holder *holdfastv1.Holder
	// ExpiresAt is when that lease ends unless it is renewed; zero: there is none.
	ExpiresAt time.Time
	// RetryAfter is after how long trying again makes sense; zero: waiting does not help.
	RetryAfter time.Duration
	// FencingToken is the task's current one.
	FencingToken int64
	// Advice is one sentence: what to do now.
	Advice string
	// Detail is all of this as the server sent it.
	Detail *holdfastv1.WriteRejection

	cause *connect.Error
}

func newWriteRejected(detail *holdfastv1.WriteRejection, cause *connect.Error) *WriteRejected {
	rejected := &WriteRejected{
		Code:         detail.GetCode(),
		TaskID:       detail.GetTaskId(),
		Holder:       detail.GetHolder(),
		RetryAfter:   detail.GetRetryAfter().AsDuration(),
		FencingToken: detail.GetFencingToken(),
		Advice:       detail.GetAdvice(),
		Detail:       detail,
		cause:        cause,
	}
	if detail.GetExpiresAt() != nil {
		rejected.ExpiresAt = detail.GetExpiresAt().AsTime()
	}
	return rejected
}

// Error names the verdict and says what to do.
func (e *WriteRejected) Error() string {
	return strings.TrimSpace(fmt.Sprintf("holdfast: rejected %s: %s %s",
		nameOf(e.Code, "WRITE_CODE_"), sentence(e.cause.Message()), e.Advice))
}

// Unwrap returns the call's *connect.Error.
func (e *WriteRejected) Unwrap() error { return e.cause }

// Is tells whether target is the sentinel of the verdict.
func (e *WriteRejected) Is(target error) bool {
	sentinel, known := sentinels[e.Code]
	return known && target == sentinel
}

// FieldViolation is one bad field of a request.
type FieldViolation struct {
	// Field is its name as in the .proto, with dots for nesting.
	Field string
	// Description is what is wrong with it and what is allowed.
	Description string
}

// InvalidRequest says that the server found fault with fields of the request. It wraps the *connect.Error of the call.
type InvalidRequest struct {
	// Violations has one for each bad field.
	Violations []FieldViolation

	cause *connect.Error
}

// Error names each bad field.
func (e *InvalidRequest) Error() string {
	said := make([]string, len(e.Violations))
	for i, violation := range e.Violations {
		said[i] = violation.Field + ": " + violation.Description
	}
	return "holdfast: invalid request: " + strings.Join(said, "; ")
}

// Unwrap returns the call's *connect.Error.
func (e *InvalidRequest) Unwrap() error { return e.cause }

// Refused says that a lease was not granted, why, and what to do instead.
type Refused struct {
	// Refusal is the server's answer.
	Refusal *holdfastv1.Refusal
}

// Error names the reason and says what to do.
func (e *Refused) Error() string {
	return strings.TrimSpace(fmt.Sprintf("holdfast: refused %s: %s",
		nameOf(e.Refusal.GetReason(), "REFUSAL_REASON_"), e.Refusal.GetAdvice()))
}

// LostKind says how sure it is that a lease is lost.
type LostKind string

const (
	// Lost: the server said so.
	Lost LostKind = "lost"
	// Unconfirmed: unknown; no renewal was confirmed before the safe deadline.
	Unconfirmed LostKind = "unconfirmed"
	// Released: this program ended it, by completing or dropping the task, or since the function that had it returned.
	Released LostKind = "released"
)

var lostSentences = map[LostKind]string{
	Lost:        "is lost",
	Unconfirmed: "was not confirmed in time and may be lost",
	Released:    "was given back",
}

// LeaseLost says that the work must stop: its lease is gone, or can't be known to be there. It is the
// [context.Cause] of the work's context, and wraps what made it so.
type LeaseLost struct {
	// Kind says how sure it is.
	Kind LostKind
	// TaskID is the task that the lease was on.
	TaskID string

	cause error
}

// Error says which, and why.
func (e *LeaseLost) Error() string {
	text := fmt.Sprintf("holdfast: the lease on task %s %s", e.TaskID, lostSentences[e.Kind])
	if e.cause != nil {
		text += ": " + e.cause.Error()
	}
	return text
}

// Unwrap returns the server's verdict, or the last failure to renew, if there was one.
func (e *LeaseLost) Unwrap() error { return e.cause }

// typed turns a call's error into the one that its details tell of; any other stays what it is.
func typed(err error) error {
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return err
	}
	if rejection, found := detailOf[*holdfastv1.WriteRejection](failed); found {
		return newWriteRejected(rejection, failed)
	}
	var violations []FieldViolation
	for _, detail := range detailsOf[*holdfastv1.FieldViolation](failed) {
		violations = append(violations, FieldViolation{Field: detail.GetField(), Description: detail.GetDescription()})
	}
	if violations != nil {
		return &InvalidRequest{Violations: violations, cause: failed}
	}
	return err
}

// detailOf finds the first detail of a kind in a call's error.
func detailOf[Detail proto.Message](err error) (detail Detail, found bool) {
	details := detailsOf[Detail](err)
	if len(details) == 0 {
		return detail, false
	}
	return details[0], true
}

func detailsOf[Detail proto.Message](err error) (found []Detail) {
	var failed *connect.Error
	if !errors.As(err, &failed) {
		return nil
	}
	for _, packed := range failed.Details() {
		// A detail of a kind that this version does not know is none for it.
		message, err := connectproto.UnmarshalErrorDetail(packed)
		if err != nil {
			continue
		}
		if detail, is := message.(Detail); is {
			found = append(found, detail)
		}
	}
	return found
}

func nameOf(value fmt.Stringer, prefix string) string {
	return strings.TrimPrefix(value.String(), prefix)
}

func sentence(text string) string {
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}
