"""The client's own functions, under the names of the scenarios."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.rpc.status_pb2 import Status

from holdfast import Instant, RpcError, _services, _timing, v1
from holdfast._retry import is_repeated


def calculate(name: str, given: dict[str, Any]) -> Any:
    """Calls the function of that name; one that is not known is an error."""
    return _FUNCTIONS[name](given)


def _instant(value: dict[str, float]) -> Instant:
    return Instant(value["monotonicMs"] / 1000, value["wallMs"] / 1000)


def _safe_until(given: dict[str, Any]) -> Any:
    until = _timing.safe_until(given["ttlMs"] / 1000, given["remainingMs"] / 1000, _instant(given["asked"]))
    return {"monotonicMs": until.monotonic * 1000, "wallMs": until.wall * 1000}


def _retries(given: dict[str, Any]) -> Any:
    method = next(one for one in _services.METHODS if one.path == f"/holdfast.v1.{given['rpc']}")
    details = Status()
    if "retryAfterMs" in given:
        advice = Packed()
        retry_after = timedelta(milliseconds=given["retryAfterMs"])
        advice.Pack(v1.RetryAdvice(retry_after=retry_after))
        details.details.append(advice)
    error = RpcError(grpc.StatusCode[given["status"]], "", details)
    return {"retries": method is not _services.WATCH_LEASES and is_repeated(method, error)}


_FUNCTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "safetyMargin": lambda given: {"marginMs": _timing.safety_margin(given["ttlMs"] / 1000) * 1000},
    "safeUntil": _safe_until,
    "timeLeft": lambda given: {"leftMs": _timing.time_left(_instant(given["deadline"]), _instant(given["now"])) * 1000},
    "renewalDelay": lambda given: {
        "delayMs": _timing.renewal_delay(given["ttlMs"] / 1000, given["remainingMs"] / 1000, given["random"]) * 1000
    },
    "renewalRetryDelay": lambda given: {
        "delayMs": _timing.renewal_retry_delay(given["ttlMs"] / 1000, given["failures"], given["random"]) * 1000
    },
    "renewalTimeout": lambda given: {
        "timeoutMs": _timing.renewal_timeout(given["ttlMs"] / 1000, given["leftMs"] / 1000) * 1000
    },
    "retries": _retries,
    "retryPause": lambda given: {
        "pauseMs": _timing.retry_pause(given["attempt"], given["random"], given.get("retryAfterMs", 0) / 1000) * 1000
    },
    "watchPause": lambda given: {"pauseMs": _timing.watch_pause(given["failures"], given["random"]) * 1000},
}
