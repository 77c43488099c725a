"""What the workers of both clients have in common."""

from __future__ import annotations

from collections.abc import Iterable

import grpc

from holdfast import v1
from holdfast.errors import LeaseLost, Refused, RpcError, WriteRejected

# A call waits so long for a task; an idle worker is a call a minute. In seconds.
WAIT = 50.0
# While tasks that failed are left alone, the others are looked for so often. In seconds.
LOOK_EVERY = 1.0

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0

# Nothing was ready, or somebody else was faster.
_TAKEN = ("NOTHING_READY", "HELD", "DEPENDENCIES_UNMET", "TASK_CLOSED", "LEASE_ENDED")
_PASSING = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


def is_taken(error: BaseException) -> bool:
    """Whether the next task should be tried at once."""
    return isinstance(error, Refused) and error.reason in _TAKEN


def is_passing(error: BaseException) -> bool:
    """Whether trying again later may help. A lost lease is one: the task is somebody else's now."""
    if isinstance(error, LeaseLost | WriteRejected):
        return True
    return isinstance(error, RpcError) and error.code in _PASSING


def trouble_pause(troubles: int, random: float) -> float:
    """How long to wait after so many troubles in a row, in seconds."""
    return min(_FIRST_PAUSE * 2 ** min(troubles - 1, 60), _LONGEST_PAUSE) * (0.5 + random)


def first_other(tasks: Iterable[v1.Task], passed_over: frozenset[str]) -> v1.Task | None:
    """The best of these tasks that is not to be passed over."""
    return next((task for task in tasks if task.id not in passed_over), None)


def page_size(passed_over: frozenset[str]) -> int:
    """How many ready tasks to read so that one of them is another one."""
    return min(len(passed_over) + 1, 1_000)
