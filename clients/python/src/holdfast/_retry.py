"""When a call is sent again: only when that cannot do it twice, and never against what the server decided."""

from __future__ import annotations

import uuid
from typing import Any

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from holdfast import v1
from holdfast._method import Method, Request, Response
from holdfast._timing import retry_pause
from holdfast.errors import RpcError

DEFAULT_ATTEMPTS = 5

# All attempts of a call together, when the caller names no time.
_CALL = 60.0
# The server takes no longer deadline than 300 s, and gRPC rounds up.
_LONGEST = 290.0
# One attempt, beyond what the server was asked to wait: an answer that got lost must leave time for the next.
_ATTEMPT = 15.0


class Attempts:
    """The attempts of one call. Times are of the monotonic clock."""

    def __init__(
        self,
        method: Method[Request, Response],
        request: Request,
        *,
        most: float,
        timeout: float | None,
        now: float,
    ) -> None:
        self._method = method
        self._most = most
        self._end = now + (_CALL if timeout is None else timeout)
        self._longest = min(_ATTEMPT + _wait_of(request), _LONGEST) if method.repeatable else _LONGEST
        self._made = 0

    def timeout(self, now: float) -> float:
        """How long the next attempt may take."""
        self._made += 1
        return max(0.001, min(self._longest, self._end - now))

    def pause(self, error: RpcError, random: float, now: float) -> float | None:
        """How long to wait before the next attempt; None: there is none, the error is final."""
        pause = retry_pause(self._made, random, retry_after(error) or 0.0)
        if self._made >= self._most or now + pause >= self._end or not is_repeated(self._method, error):
            return None
        return pause


def is_repeated(method: Method[Any, Any], error: RpcError) -> bool:
    """Whether a call that failed so is sent again."""
    if retry_after(error) is not None:
        return True
    return method.repeatable and error.code in (
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    )


def retry_after(error: RpcError) -> float | None:
    """The server's advice when nothing was done, in seconds: others were in the way, or the token has had its share."""
    nothing_done = error.code in (grpc.StatusCode.ABORTED, grpc.StatusCode.RESOURCE_EXHAUSTED)
    advice = error.detail(v1.RetryAdvice) if nothing_done else None
    return None if advice is None else advice.retry_after.ToTimedelta().total_seconds()


def add_request_id(method: Method[Any, Any], request: Message) -> None:
    """Gives a request that can have one a random `request_id`, unless it has one."""
    if method.has_request_id and not getattr(request, "request_id"):  # noqa: B009
        setattr(request, "request_id", str(uuid.uuid4()))  # noqa: B010


def _wait_of(request: Message) -> float:
    wait = getattr(request, "wait", None)
    return wait.ToTimedelta().total_seconds() if isinstance(wait, Duration) else 0.0
