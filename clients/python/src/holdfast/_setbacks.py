"""The tasks on which a worker's handler failed."""

from __future__ import annotations

import time
from collections.abc import Callable

_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


class Setbacks:
    """Leaves each failed task alone for longer after each failure, and after too many for good.

    A task that nobody can do must not keep the worker from the others. Nothing is done to it; others may still try.
    """

    def __init__(self, most_failures: int, now: Callable[[], float] = time.monotonic) -> None:
        self._most_failures = most_failures
        self._now = now
        self._tasks: dict[str, tuple[int, float]] = {}

    def failed(self, task_id: str) -> None:
        """The handler failed on a task."""
        failures = self._tasks.get(task_id, (0, 0.0))[0] + 1
        pause = min(_FIRST_PAUSE * 2 ** min(failures - 1, 60), _LONGEST_PAUSE)
        until = float("inf") if failures >= self._most_failures else self._now() + pause
        self._tasks[task_id] = (failures, until)

    def succeeded(self, task_id: str) -> None:
        """The handler did a task."""
        self._tasks.pop(task_id, None)

    @property
    def resting(self) -> frozenset[str]:
        """The tasks to leave alone now."""
        now = self._now()
        return frozenset(task_id for task_id, (_, until) in self._tasks.items() if until > now)
