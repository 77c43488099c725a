"""A lease while the work of a task of asyncio runs under it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import ExitStack
from datetime import timedelta
from random import random
from typing import TYPE_CHECKING, Any

import grpc

from holdfast import v1
from holdfast._acquire import Acquired, Asking, Wanted, outcome_of
from holdfast._aio_renewal import AsyncKept
from holdfast._guarded import RELEASE, RELEASE_ATTEMPTS, WRITE, given, is_closing, prove, tells_of_loss
from holdfast._keeper import Keeper
from holdfast._method import Method, Request, Response
from holdfast._services import ACQUIRE_LEASE, ACQUIRE_NEXT_TASK, RELEASE_LEASE, AsyncTaskService
from holdfast._signals import loop_unwound_by_sigterm
from holdfast._timing import retry_pause
from holdfast.errors import HoldfastError, LeaseLost, RpcError

if TYPE_CHECKING:
    from types import TracebackType

    from holdfast._aio import AsyncHoldfast
    from holdfast._aio_connection import AsyncConnection
    from holdfast._renewals import OnRenewed

log = logging.getLogger("holdfast")


class AsyncHeldLease:
    """A lease that is kept renewed until its `async with` block is left.

    When it is lost, the task that runs the block is cancelled, and the block raises `LeaseLost`. An event loop that was
    blocked does that late: every write through the lease looks at the clocks first, and raises `LeaseLost` instead of
    being sent when the lease is not safe. What gets no answer is sent again, where that is safe, for as long as the
    lease is.
    """

    task: v1.Task
    """The task as it was when the lease was granted."""
    continuation: v1.Continuation
    """What earlier holders left: their notes, how their leases ended, the results of the dependencies."""
    proof: v1.Proof
    """What shows that the lease is held. Goes with every write made through it; add it to others."""
    tasks: AsyncTaskService
    """The tasks service; its writes of this task carry project, execution and proof."""
    release_note: str
    """A note for the next holder, left when the lease is given back."""

    def __init__(self, holdfast: AsyncHoldfast, acquired: Acquired, kept: AsyncKept) -> None:
        self._holdfast = holdfast
        self._kept = kept
        self._writes = _Writes(holdfast.connection, kept, acquired.grant.lease)
        self.task = acquired.grant.task
        self.continuation = acquired.grant.continuation
        self.proof = self._writes.proof
        self.tasks = AsyncTaskService(self._writes)
        self.release_note = ""

    @property
    def lease(self) -> v1.Lease:
        """The lease as of the last confirmed renewal."""
        return self._kept.keeper.lease

    @property
    def lost(self) -> asyncio.Event:
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

    async def check(self) -> v1.CheckLeaseResponse:
        """Asks the server whether a write would pass, to fence things outside Holdfast.

        Raises:
            LeaseLost: the work must stop.
            RpcError: the call failed; the answer is not known.
        """
        self.raise_if_unsafe()
        return await self._holdfast.leases.check_lease(
            project=self._kept.project, task_id=self.task.id, proof=self.proof
        )

    async def add_note(self, text: str) -> v1.AddNoteResponse:
        """Notes progress that the next holder should know, 1 byte to 64 KiB.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed.
        """
        return await self.tasks.add_note(task_id=self.task.id, text=text)

    async def update(
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
        return await self.tasks.update_task(
            task_id=self.task.id,
            title=title,
            body=body,
            priority=priority,
            labels=labels,
            assignee=assignee,
            update_mask=given(title=title, body=body, priority=priority, labels=labels, assignee=assignee),
            etag=etag,
        )

    async def complete(self, result: str = "") -> v1.CompleteTaskResponse:
        """Marks the task DONE, which ends the lease.

        Args:
            result: What came of it, at most 64 KiB. Given to whoever takes a task that waited for this one.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed.
        """
        return await self.tasks.complete_task(task_id=self.task.id, result=result)

    async def drop(self, reason: str = "") -> v1.DropTaskResponse:
        """Marks the task DROPPED, which ends the lease: it will not be done.

        Args:
            reason: Why, at most 64 KiB.

        Raises:
            LeaseLost: the work must stop.
            WriteRejected: the lease is gone; the work must stop.
            RpcError: the call failed. With UNAVAILABLE the task may have been dropped.
        """
        return await self.tasks.drop_task(task_id=self.task.id, reason=reason)


class _Writes:
    """Carries the calls of a held lease's tasks service."""

    def __init__(self, connection: AsyncConnection, kept: AsyncKept, lease: v1.Lease) -> None:
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

    async def unary(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> Response:
        if not prove(request, self._task_id, self._kept.project, self.proof):
            return await self._connection.unary(method, request, timeout)
        self.raise_if_unsafe()
        if not is_closing(method):
            return await self._send(method, request, timeout)
        # A renewal that arrives after the end would take the lease for lost.
        with self._kept.paused():
            answer = await self._send(method, request, timeout)
            self.closed = True
            self._kept.stop()
            return answer

    def stream(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> AsyncIterator[Response]:
        return self._connection.stream(method, request, timeout)

    async def _send(self, method: Method[Request, Response], request: Request, timeout: float | None) -> Response:
        call = self._connection.unary(
            method, request, WRITE if timeout is None else timeout, most_attempts=float("inf")
        )
        try:
            answer = await _unless(self._kept.lost, call)
        except RpcError as error:
            if tells_of_loss(error):
                self._kept.lose("lost", error)
            raise
        if answer is None:
            self.raise_if_unsafe()
            raise AssertionError("a lease that is lost is unsafe")
        return answer


async def _unless(event: asyncio.Event, call: Coroutine[Any, Any, Response]) -> Response | None:
    """What the call answers; None when the event happens first, which ends the call."""
    calling = asyncio.ensure_future(call)
    happening = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait([calling, happening], return_when=asyncio.FIRST_COMPLETED)
        return calling.result() if calling.done() else None
    finally:
        calling.cancel()
        happening.cancel()


class AsyncHold:
    """Leases a task for the time of an `async with` block."""

    def __init__(
        self,
        holdfast: AsyncHoldfast,
        wanted: Wanted,
        *,
        project: str | None,
        ttl: float | timedelta | None,
        wait: float | timedelta,
        on_renewed: OnRenewed | None,
    ) -> None:
        self._holdfast = holdfast
        self._wanted = wanted
        self._project = project
        self._ttl = ttl
        self._wait = wait
        self._on_renewed = on_renewed
        self._entered: tuple[ExitStack, AsyncKept, AsyncHeldLease] | None = None

    @property
    def entered(self) -> bool:
        """Whether the block was begun."""
        return self._entered is not None

    async def __aenter__(self) -> AsyncHeldLease:
        """Waits until the task is leased.

        Raises:
            Refused: it was not granted.
            RpcError: the call failed.
        """
        if self._entered:
            raise RuntimeError("a lease is for one block; ask for another one")
        with ExitStack() as stack:
            stack.enter_context(loop_unwound_by_sigterm())
            acquired = await self._acquire()
            keeper = Keeper(acquired.grant.lease, acquired.asked)
            holdfast = self._holdfast
            kept = AsyncKept(holdfast.connection, holdfast.clock, keeper, self._project, self._on_renewed)
            held = AsyncHeldLease(holdfast, acquired, kept)
            self._entered = (stack.pop_all(), kept, held)
            return held

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Gives the lease back, unless it is known to be gone.

        Raises:
            LeaseLost: the block was cancelled because of that.
        """
        assert self._entered
        stack, kept, held = self._entered
        with stack:
            loss = kept.keeper.loss
            kept.stop()
            ended_by_loss = await kept.take_back(error)
            await kept.stopped()
            # Lost, or ended by a write: there is nothing to give back.
            if loss is None or loss.kind == "unconfirmed":
                await self._release(held)
            if ended_by_loss and loss:
                raise LeaseLost(loss.kind, loss.task_id) from loss.__cause__

    async def _acquire(self) -> Acquired:
        clock, connection = self._holdfast.clock, self._holdfast.connection
        asking = Asking(
            self._wanted,
            execution_id=self._holdfast.execution_id,
            project=self._project,
            ttl=self._ttl,
            wait=self._wait,
            now=clock.now(),
        )
        while True:
            asked = clock.now()
            request, timeout = asking.request(asked)
            if isinstance(request, v1.AcquireLeaseRequest):
                outcome = outcome_of(await connection.unary(ACQUIRE_LEASE, request, timeout))
            else:
                outcome = outcome_of(await connection.unary(ACQUIRE_NEXT_TASK, request, timeout))
            if isinstance(outcome, v1.Grant):
                return await self._confirmed(Acquired(outcome, asked))
            await asyncio.sleep(asking.pause(outcome, clock.now()))

    # The lease of a call that was held long would look old from the start: ask once more how long it lives.
    async def _confirmed(self, acquired: Acquired) -> Acquired:
        asked = self._holdfast.clock.now()
        if not acquired.looks_old(asked):
            return acquired
        lease = acquired.grant.lease
        try:
            renewed = await self._holdfast.leases.renew_lease(
                project=self._project, lease_id=lease.id, fencing_token=lease.fencing_token
            )
        except HoldfastError as error:
            raise LeaseLost("unconfirmed", lease.task_id) from error
        acquired.grant.lease.CopyFrom(renewed.lease)
        return Acquired(acquired.grant, asked)

    async def _release(self, held: AsyncHeldLease) -> None:
        """Gives the lease back. Also an unconfirmed one: if it is still there, this frees the task at once."""
        request = v1.ReleaseLeaseRequest(
            project=self._project,
            lease_id=held.proof.lease_id,
            fencing_token=held.proof.fencing_token,
            note=held.release_note,
        )
        for attempt in range(1, RELEASE_ATTEMPTS + 1):
            try:
                connection = self._holdfast.connection
                await connection.once(RELEASE_LEASE, request, RELEASE, wait_for_ready=True)
                return
            except RpcError as error:
                if error.code != grpc.StatusCode.UNAVAILABLE or attempt == RELEASE_ATTEMPTS:
                    log.warning(
                        "the lease on task %s was not given back; it runs out by itself: %s",
                        held.task.id,
                        error,
                    )
                    return
            await asyncio.sleep(retry_pause(attempt, random()))
