"""A worker for threads."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from datetime import timedelta
from random import random
from typing import TYPE_CHECKING

from holdfast import v1
from holdfast._acquire import NextWanted, TaskWanted, Wanted
from holdfast._connection import Stopped
from holdfast._guarded import note_of
from holdfast._lease import HeldLease, hold
from holdfast._setbacks import Setbacks
from holdfast._signals import unwound_by_sigterm
from holdfast._working import LOOK_EVERY, WAIT, first_other, is_passing, is_taken, page_size, trouble_pause
from holdfast.errors import LeaseLost

if TYPE_CHECKING:
    from holdfast._client import Holdfast

Handler = Callable[[HeldLease], "str | None"]
"""Works on one task. What it returns is the task's result, unless it completed or dropped the task itself."""

log = logging.getLogger("holdfast")


class Worker:
    """A function that works on tasks. Called, it is the function; `run` lets it work."""

    def __init__(
        self,
        holdfast: Holdfast,
        handler: Handler,
        wanted: NextWanted,
        *,
        project: str | None,
        ttl: float | timedelta | None,
        most_failures: int,
    ) -> None:
        functools.update_wrapper(self, handler)
        self._holdfast = holdfast
        self._handler = handler
        self._wanted = wanted
        self._project = project
        self._ttl = ttl
        self._most_failures = most_failures

    def __call__(self, lease: HeldLease) -> str | None:
        """Works on one task."""
        return self._handler(lease)

    def run(self, stop: threading.Event | None = None) -> None:
        """Works until `stop` is set, as `Holdfast.work` does."""
        work(
            self._holdfast,
            self._handler,
            self._wanted,
            project=self._project,
            ttl=self._ttl,
            most_failures=self._most_failures,
            stop=stop,
        )


def work(
    holdfast: Holdfast,
    handler: Handler,
    wanted: NextWanted,
    *,
    project: str | None,
    ttl: float | timedelta | None,
    most_failures: int,
    stop: threading.Event | None,
) -> None:
    """Takes one ready task after the other, until `stop` is set."""
    stop = stop or threading.Event()
    setbacks = Setbacks(most_failures)
    troubles = 0
    # Also between two tasks, so that SIGTERM ends the worker the same way at all times.
    with unwound_by_sigterm():
        while not stop.is_set():
            try:
                if not _work_once(holdfast, handler, wanted, project, ttl, setbacks, stop):
                    stop.wait(LOOK_EVERY)
                troubles = 0
            except Stopped:
                return
            except Exception as error:
                if is_taken(error):
                    continue
                if not is_passing(error):
                    raise
                troubles += 1
                pause = trouble_pause(troubles, random())
                log.warning("the worker goes on in %.1f s: %s", pause, error)
                stop.wait(pause)


def _work_once(
    holdfast: Holdfast,
    handler: Handler,
    wanted: NextWanted,
    project: str | None,
    ttl: float | timedelta | None,
    setbacks: Setbacks,
    stop: threading.Event,
) -> bool:
    """Works on one task; False: there was none to take."""
    take: Wanted = wanted
    resting = setbacks.resting
    if resting:
        # The server would offer the failed task again, and again: look for another one.
        other = _best_ready(holdfast, wanted, project, resting)
        if other is None:
            return False
        take = TaskWanted(other.id)
    wait = 0.0 if resting else WAIT
    with hold(holdfast, take, project=project, ttl=ttl, wait=wait, on_renewed=None, stop=stop) as lease:
        try:
            result = handler(lease)
        except Exception as error:
            lease.release_note = lease.release_note or note_of(error)
            if isinstance(error, LeaseLost):
                log.warning("stopped working on task %s: %s", lease.task.id, error)
            else:
                setbacks.failed(lease.task.id)
                log.warning("gave task %s back", lease.task.id, exc_info=error)
            return True
        if not lease.closed:
            lease.complete(result or "")
        setbacks.succeeded(lease.task.id)
    return True


def _best_ready(
    holdfast: Holdfast, wanted: NextWanted, project: str | None, passed_over: frozenset[str]
) -> v1.Task | None:
    answer = holdfast.tasks.list_ready_tasks(
        project=project,
        plan_id=wanted.plan_id,
        labels=wanted.labels,
        assignee=wanted.assignee,
        page_size=page_size(passed_over),
    )
    return first_other(answer.tasks, passed_over)
