"""A lease while the work under it runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import timedelta
from random import random
from typing import TYPE_CHECKING

import grpc

from holdfast import v1
from holdfast._acquire import Acquired, Asking, Wanted, outcome_of
from holdfast._connection import Stopped
from holdfast._guarded import RELEASE, RELEASE_ATTEMPTS, WRITE, given, is_closing, prove, tells_of_loss
from holdfast._keeper import Keeper
from holdfast._method import Method, Request, Response
from holdfast._services import ACQUIRE_LEASE, ACQUIRE_NEXT_TASK, RELEASE_LEASE, TaskService
from holdfast._signals import unwound_by_sigterm
from holdfast._timing import retry_pause
from holdfast.errors import HoldfastError, LeaseLost, RpcError

if TYPE_CHECKING:
    from holdfast._client import Holdfast
    from holdfast._connection import Connection, ResponseStream
    from holdfast._renewals import Kept, OnRenewed

log = logging.getLogger("holdfast")


class HeldLease:
    """A lease that is kept renewed until its `with` block is left.

    A block cannot be interrupted from outside: look at `lost` in long work, or call `raise_if_unsafe` before anything
    that others would see. Every write through the lease does that first, and raises `LeaseLost` instead of being sent
    when the lease is not safe. What gets no answer is sent again, where that is safe, for as long as the lease is.
    """

    task: v1.Task
    """The task as it was when the lease was granted."""
    continuation: v1.Continuation
    """What earlier holders left: their notes, how their leases ended, the results of the dependencies."""
    proof: v1.Proof
    """What shows that the lease is held. Goes with every write made through it; add it to others."""
    tasks: TaskService
    """The tasks service; its writes of this task carry project, execution and proof."""
    release_note: str
    """A note for the next holder, left when the lease is given back."""

    def __init__(self, holdfast: Holdfast, acquired: Acquired, kept: Kept) -> None:
        lease = acquired.grant.lease
        self._holdfast = holdfast
        self._kept = kept
        self._writes = _Writes(holdfast.connection, kept, lease)
        self.task = acquired.grant.task
        self.continuation = acquired.grant.continuation
        self.proof = self._writes.proof
        self.tasks = TaskService(self._writes)
        self.release_note = ""

    @property
    def lease(self) -> v1.Lease:
        """The lease as of the last confirmed renewal."""
        return self._kept.keeper.lease

    @property
    def lost(self) -> threading.Event:
        """Set when the work must stop: the lease is lost, or was not confirmed before the safe deadline."""
        return self._kept.lost

    @property
    def loss(self) -> LeaseLost | None:
        """Why the work must stop; None while it may go on."""
        return self._kept.loss_now()

    @property
    def closed(self) -> bool:
        """Whether a write made through this lease has ended it: completing, dropping or deleting the task."""
        return self._writes.closed

    def raise_if_unsafe(self) -> None:
        """Looks at the clocks, without asking the server. Call it before anything that others would see.

        Raises:
            LeaseLost: the work must stop.
        """
        self._writes.raise_if_unsafe()

    def check(self) -> v1.CheckLeaseResponse:
        """Asks the server whether a write would pass, to fence things outside Holdfast.

        Raises:
            LeaseLost: the work must stop.
            RpcError: the call failed; the answer is not known.
        """
        self.raise_if_unsafe()
        return self._holdfast.leases.check_lease(project=self._kept.project, task_id=self.task.id, proof=self.proof)

    def add_note(self, text: str) -> v1.AddNoteResponse:
        """Notes progress that the next holder should know, 1 byte to 64 KiB.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed.
        """
        return self.tasks.add_note(task_id=self.task.id, text=text)

    def update(
        self,
        *,
        title: str | None = None,
        body: str | None = None,
        priority: int | None = None,
        labels: Iterable[str] | None = None,
        assignee: str | None = None,
        etag: str | None = None,
    ) -> v1.UpdateTaskResponse:
        """Changes the task's content; what is None keeps its value.

        Args:
            title: One line, at most 500 characters.
            body: Free text, at most 64 KiB.
            priority: Higher first.
            labels: The new labels, all of them.
            assignee: The principal it is meant for; empty: nobody.
            etag: Refuse with ABORTED unless the task's etag is this one.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed. With UNAVAILABLE the change may have been made.
        """
        return self.tasks.update_task(
            task_id=self.task.id,
            title=title,
            body=body,
            priority=priority,
            labels=labels,
            assignee=assignee,
            update_mask=given(title=title, body=body, priority=priority, labels=labels, assignee=assignee),
            etag=etag,
        )

    def complete(self, result: str = "") -> v1.CompleteTaskResponse:
        """Marks the task DONE, which ends the lease.

        Args:
            result: What came of it, at most 64 KiB. Given to whoever takes a task that waited for this one.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed.
        """
        return self.tasks.complete_task(task_id=self.task.id, result=result)

    def drop(self, reason: str = "") -> v1.DropTaskResponse:
        """Marks the task DROPPED, which ends the lease: it will not be done.

        Args:
            reason: Why, at most 64 KiB.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed. With UNAVAILABLE the task may have been dropped.
        """
        return self.tasks.drop_task(task_id=self.task.id, reason=reason)


class _Writes:
    """Carries the calls of a held lease's tasks service."""

    def __init__(self, connection: Connection, kept: Kept, lease: v1.Lease) -> None:
        self._connection = connection
        self._kept = kept
        self._task_id = lease.task_id
        self.execution_id = lease.holder.execution_id or connection.execution_id
        self.proof = v1.Proof(lease_id=lease.id, fencing_token=lease.fencing_token)
        self.closed = False

    def raise_if_unsafe(self) -> None:
        loss = self._kept.loss_now()
        if loss is not None:
            raise LeaseLost(loss.kind, loss.task_id) from loss.__cause__

    def unary(self, method: Method[Request, Response], request: Request, timeout: float | None = None) -> Response:
        if not prove(request, self._task_id, self._kept.project, self.proof):
            return self._connection.unary(method, request, timeout)
        self.raise_if_unsafe()
        if not is_closing(method):
            return self._send(method, request, timeout)
        # A renewal that arrives after the end would take the lease for lost.
        with self._kept.paused():
            answer = self._send(method, request, timeout)
            self.closed = True
            self._kept.stop()
            return answer

    def stream(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> ResponseStream[Response]:
        return self._connection.stream(method, request, timeout)

    def _send(self, method: Method[Request, Response], request: Request, timeout: float | None) -> Response:
        try:
            return self._connection.unary(
                method,
                request,
                WRITE if timeout is None else timeout,
                self._kept.lost,
                most_attempts=float("inf"),
            )
        except Stopped:
            self.raise_if_unsafe()
            raise
        except RpcError as error:
            if tells_of_loss(error):
                self._kept.lose("lost", error)
            raise


def _release(connection: Connection, held: HeldLease, kept: Kept) -> None:
    """Gives the lease back. Also an unconfirmed one: if it is still there, this frees the task at once."""
    request = v1.ReleaseLeaseRequest(
        project=kept.project,
        lease_id=held.proof.lease_id,
        fencing_token=held.proof.fencing_token,
        note=held.release_note,
    )
    for attempt in range(1, RELEASE_ATTEMPTS + 1):
        try:
            connection.once(RELEASE_LEASE, request, RELEASE, wait_for_ready=True)
            return
        except RpcError as error:
            if error.code != grpc.StatusCode.UNAVAILABLE or attempt == RELEASE_ATTEMPTS:
                log.warning("the lease on task %s was not given back; it runs out by itself: %s", held.task.id, error)
                return
        time.sleep(retry_pause(attempt, random()))


@contextmanager
def hold(
    holdfast: Holdfast,
    wanted: Wanted,
    *,
    project: str | None,
    ttl: float | timedelta | None,
    wait: float | timedelta,
    on_renewed: OnRenewed | None,
    stop: threading.Event | None = None,
) -> Generator[HeldLease, None, None]:
    """Leases a task for the time of a `with` block."""
    with unwound_by_sigterm():
        acquired = _acquire(holdfast, wanted, project=project, ttl=ttl, wait=wait, stop=stop)
        keeper = Keeper(acquired.grant.lease, acquired.asked)
        kept = holdfast.renewals.keep(keeper, project, on_renewed)
        held = HeldLease(holdfast, acquired, kept)
        try:
            yield held
        finally:
            loss = kept.keeper.loss
            kept.stop()
            # Lost, or ended by a write: there is nothing to give back.
            if loss is None or loss.kind == "unconfirmed":
                _release(holdfast.connection, held, kept)


def _acquire(
    holdfast: Holdfast,
    wanted: Wanted,
    *,
    project: str | None,
    ttl: float | timedelta | None,
    wait: float | timedelta,
    stop: threading.Event | None,
) -> Acquired:
    clock, connection = holdfast.clock, holdfast.connection
    asking = Asking(
        wanted,
        execution_id=holdfast.execution_id,
        project=project,
        ttl=ttl,
        wait=wait,
        now=clock.now(),
    )
    while True:
        asked = clock.now()
        request, timeout = asking.request(asked)
        if isinstance(request, v1.AcquireLeaseRequest):
            outcome = outcome_of(connection.unary(ACQUIRE_LEASE, request, timeout, stop))
        else:
            outcome = outcome_of(connection.unary(ACQUIRE_NEXT_TASK, request, timeout, stop))
        if isinstance(outcome, v1.Grant):
            return _confirmed(holdfast, Acquired(outcome, asked), project)
        (stop or threading.Event()).wait(asking.pause(outcome, clock.now()))


# The lease of a call that was held long would look old from the start: ask once more how long it lives.
def _confirmed(holdfast: Holdfast, acquired: Acquired, project: str | None) -> Acquired:
    asked = holdfast.clock.now()
    if not acquired.looks_old(asked):
        return acquired
    lease = acquired.grant.lease
    try:
        renewed = holdfast.leases.renew_lease(
            project=project, lease_id=lease.id, fencing_token=lease.fencing_token, timeout=10
        )
    except HoldfastError as error:
        raise LeaseLost("unconfirmed", lease.task_id) from error
    acquired.grant.lease.CopyFrom(renewed.lease)
    return Acquired(acquired.grant, asked)
