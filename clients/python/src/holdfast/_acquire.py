"""How a lease is asked for: what both clients have in common."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from google.protobuf.duration_pb2 import Duration

from holdfast import v1
from holdfast._clock import Instant, seconds
from holdfast._timing import remaining_of
from holdfast.errors import HoldfastError, Refused

# The server holds a call at most so long, in seconds.
_LONGEST_CALL = 50.0
# A call may take so much longer than the server was asked to wait.
_BEYOND_WAIT = 30.0
_SOONEST_AGAIN = 0.25


@dataclass(frozen=True)
class TaskWanted:
    """One task."""

    task_id: str


@dataclass(frozen=True)
class NextWanted:
    """The best ready task that passes the filter."""

    plan_id: str | None = None
    labels: tuple[str, ...] = ()
    assignee: str | None = None


Wanted = TaskWanted | NextWanted


def next_wanted(plan_id: str | None, labels: Iterable[str], assignee: str | None) -> NextWanted:
    """The filter as it was given. A single label as a string is taken for what it is."""
    return NextWanted(plan_id, (labels,) if isinstance(labels, str) else tuple(labels), assignee)


@dataclass(frozen=True)
class Acquired:
    """A grant, and the moment from which the lease's time counts."""

    grant: v1.Grant
    asked: Instant

    def looks_old(self, now: Instant) -> bool:
        """Whether so much of the lease may have passed that it is worth asking how long it lives."""
        return now.monotonic - self.asked.monotonic >= remaining_of(self.grant.lease) / 4


class Asking:
    """Makes the requests for one lease until it is granted or refused for good."""

    def __init__(
        self,
        wanted: Wanted,
        *,
        execution_id: str,
        project: str | None,
        ttl: float | timedelta | None,
        wait: float | timedelta,
        now: Instant,
    ) -> None:
        self._wanted = wanted
        self._execution_id = execution_id
        self._project = project
        self._ttl = None if ttl is None else _duration(seconds(ttl))
        self._give_up_at = now.monotonic + max(0.0, seconds(wait))

    def request(self, now: Instant) -> tuple[v1.AcquireLeaseRequest | v1.AcquireNextTaskRequest, float]:
        """What to ask now, and how many seconds the call may take. The id in it is the client's to add."""
        wait = min(max(0.0, self._give_up_at - now.monotonic), _LONGEST_CALL)
        if isinstance(self._wanted, TaskWanted):
            task = v1.AcquireLeaseRequest(
                project=self._project,
                task_id=self._wanted.task_id,
                execution_id=self._execution_id,
                ttl=self._ttl,
            )
            return task, wait + _BEYOND_WAIT
        best = v1.AcquireNextTaskRequest(
            project=self._project,
            execution_id=self._execution_id,
            ttl=self._ttl,
            plan_id=self._wanted.plan_id,
            labels=self._wanted.labels,
            assignee=self._wanted.assignee,
            wait=_duration(wait) if wait > 0 else None,
        )
        return best, wait + _BEYOND_WAIT

    def pause(self, refusal: v1.Refusal, now: Instant) -> float:
        """How many seconds to wait before asking again.

        Raises:
            Refused: asking again is no use, or the time is up.
        """
        left = self._give_up_at - now.monotonic
        if left > 0:
            if refusal.reason == v1.REFUSAL_REASON_NOTHING_READY:
                return min(_SOONEST_AGAIN, left)
            if refusal.HasField("retry_after"):
                return min(max(_SOONEST_AGAIN, refusal.retry_after.ToTimedelta().total_seconds()), left)
        raise Refused(refusal)


def outcome_of(answer: v1.AcquireLeaseResponse | v1.AcquireNextTaskResponse) -> v1.Grant | v1.Refusal:
    """The grant or the refusal in an answer."""
    match answer.WhichOneof("outcome"):
        case "grant":
            return answer.grant
        case "refusal":
            return answer.refusal
        case _:
            raise HoldfastError("the server answered neither a grant nor a refusal; is it newer?")


def _duration(length: float) -> Duration:
    duration = Duration()
    duration.FromTimedelta(timedelta(seconds=length))
    return duration
