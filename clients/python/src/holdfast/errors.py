"""What can go wrong. Everything raised by this package on purpose is a `HoldfastError`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Literal, TypeVar, cast

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp
from google.rpc.status_pb2 import Status

from holdfast import v1

_Detail = TypeVar("_Detail", bound=Message)


class HoldfastError(Exception):
    """Base of all errors of this package."""


class RpcError(HoldfastError):
    """A call failed. The classes derived from this one say more about some of the reasons."""

    code: grpc.StatusCode
    """gRPC's status: `grpc.StatusCode.NOT_FOUND`, `PERMISSION_DENIED`, `UNAVAILABLE`, …"""

    def __init__(self, code: grpc.StatusCode, message: str, details: Status | None = None) -> None:
        super().__init__(message)
        self.code = code
        self._details = details

    def detail(self, kind: type[_Detail]) -> _Detail | None:
        """The detail of this kind that the server sent with the error, if it did."""
        for packed in self._details.details if self._details else ():
            unpacked = kind()
            if packed.Unpack(unpacked):
                return unpacked
        return None

    def __str__(self) -> str:
        return f"{self.code.name}: {super().__str__()}"


@dataclass(frozen=True)
class Violation:
    """One field that the server finds fault with."""

    field: str
    """Its name as in the .proto, with dots for nesting: `proof.fencing_token`."""
    description: str
    """What is wrong with it and what is allowed."""


class InvalidRequest(RpcError):
    """The server found fault with fields of the request."""

    violations: tuple[Violation, ...]

    def __init__(self, message: str, details: Status, violations: Iterable[Violation]) -> None:
        super().__init__(grpc.StatusCode.INVALID_ARGUMENT, message, details)
        self.violations = tuple(violations)


class WriteRejected(RpcError):
    """The write guard refused a write or a renewal. Trying the same again does not help."""

    task_id: str
    holder: v1.Holder | None
    """Who holds the live lease, if anybody does."""
    expires_at: datetime | None
    """When that lease ends unless it is renewed."""
    retry_after: float | None
    """After how many seconds trying again makes sense. None when waiting does not help."""
    fencing_token: int
    """The task's current fencing token."""
    advice: str
    """One sentence: what to do now."""
    rejection: v1.WriteRejection
    """The detail as the server sent it."""

    def __init__(self, message: str, details: Status, rejection: v1.WriteRejection) -> None:
        super().__init__(grpc.StatusCode.FAILED_PRECONDITION, message, details)
        self.task_id = rejection.task_id
        self.holder = rejection.holder if rejection.HasField("holder") else None
        self.expires_at = _instant(rejection.expires_at) if rejection.HasField("expires_at") else None
        self.retry_after = _seconds(rejection.retry_after) if rejection.HasField("retry_after") else None
        self.fencing_token = rejection.fencing_token
        self.advice = rejection.advice
        self.rejection = rejection


class LockRequired(WriteRejected):
    """The task can be leased, and the write proved no lease: acquire the task, or send the proof."""


class LockExpired(WriteRejected):
    """The lease that the write proved is over, and nobody took the task yet: stop, and acquire it again."""


class LockedByOther(WriteRejected):
    """Somebody else holds the task: take another one, or wait for `retry_after`."""


class StaleLock(WriteRejected):
    """The task was granted anew since, or an admin took it away: stop, and throw the changes away."""


class Refused(HoldfastError):
    """A lease was not granted. The server's answer says why, and what to do instead."""

    reason: str
    """Why: `HELD`, `DEPENDENCIES_UNMET`, `TASK_CLOSED`, `NOTHING_READY`, …"""
    holder: v1.Holder | None
    """Who holds the task, with `HELD`."""
    expires_at: datetime | None
    """When that lease ends unless it is renewed."""
    retry_after: float | None
    """After how many seconds asking again makes sense. None when waiting does not help."""
    advice: str
    """One sentence: what to do now."""
    refusal: v1.Refusal
    """The answer as the server sent it: also what the task waits for, and ready tasks to take instead."""

    def __init__(self, refusal: v1.Refusal) -> None:
        self.reason = v1.RefusalReason.Name(refusal.reason).removeprefix("REFUSAL_REASON_")
        super().__init__(f"refused, {self.reason}: {refusal.advice}")
        self.holder = refusal.holder if refusal.HasField("holder") else None
        self.expires_at = _instant(refusal.expires_at) if refusal.HasField("expires_at") else None
        self.retry_after = _seconds(refusal.retry_after) if refusal.HasField("retry_after") else None
        self.advice = refusal.advice
        self.refusal = refusal


LeaseLostKind = Literal["lost", "unconfirmed", "released"]

_LOST = {
    "lost": "is lost",
    "unconfirmed": "was not confirmed in time and may be lost",
    "released": "was given back",
}


class LeaseLost(HoldfastError):
    """The work must stop: its lease is gone, or can't be known to be there."""

    kind: LeaseLostKind
    """`lost`: the server said so. `unconfirmed`: unknown; no renewal was confirmed before the safe deadline.
    `released`: this program gave it back, by completing or dropping the task or by leaving the `with` block."""
    task_id: str

    def __init__(self, kind: LeaseLostKind, task_id: str) -> None:
        super().__init__(f"the lease on task {task_id} {_LOST[kind]}")
        self.kind = kind
        self.task_id = task_id


_REJECTIONS: dict[v1.WriteCode, type[WriteRejected]] = {
    v1.WRITE_CODE_LOCK_REQUIRED: LockRequired,
    v1.WRITE_CODE_LOCK_EXPIRED: LockExpired,
    v1.WRITE_CODE_LOCKED_BY_OTHER: LockedByOther,
    v1.WRITE_CODE_STALE_LOCK: StaleLock,
}

# gRPC has several codes for a connection that broke under a call; these words come from it, never from the server.
_BROKEN = ("RST_STREAM", "Stream removed", "GOAWAY", "Socket closed", "onnection reset", "ransport closed")
_CODES_OF_BROKEN = (grpc.StatusCode.CANCELLED, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)


def rpc_error(failure: grpc.RpcError) -> RpcError:
    """The typed error that gRPC's tells of."""
    # What calls raise is always a call with a status, too; gRPC's types do not say so.
    call = cast("grpc.Call", failure)
    code, message = call.code(), call.details() or ""
    if code in _CODES_OF_BROKEN and any(words in message for words in _BROKEN):
        return RpcError(grpc.StatusCode.UNAVAILABLE, f"the connection broke: {message}")
    details = _status(call)
    bare = RpcError(code, message, details)
    if details is None:
        return bare
    rejection = bare.detail(v1.WriteRejection)
    if rejection is not None:
        return _REJECTIONS.get(rejection.code, WriteRejected)(message, details, rejection)
    violations = [
        Violation(violation.field, violation.description)
        for packed in details.details
        if packed.Unpack(violation := v1.FieldViolation())
    ]
    return InvalidRequest(message, details, violations) if violations else bare


def is_gone(error: BaseException) -> bool:
    """Whether an error tells that a lease is over, so that no renewal can help."""
    return isinstance(error, RpcError) and error.code in (
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.NOT_FOUND,
    )


def _status(call: grpc.Call) -> Status | None:
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            try:
                return Status.FromString(value if isinstance(value, bytes) else value.encode())
            except DecodeError:
                return None
    return None


def _instant(timestamp: Timestamp) -> datetime:
    return timestamp.ToDatetime(tzinfo=timezone.utc)


def _seconds(duration: Duration) -> float:
    return duration.ToTimedelta().total_seconds()
