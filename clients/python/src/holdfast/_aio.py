"""The client for asyncio."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast import v1
from holdfast._acquire import TaskWanted, next_wanted
from holdfast._aio_connection import AsyncConnection
from holdfast._aio_lease import AsyncHeldLease, AsyncHold
from holdfast._aio_watch import AsyncWatch
from holdfast._aio_work import AsyncHandler, AsyncWorker, async_work
from holdfast._clock import Clock, SystemClock
from holdfast._renewals import OnRenewed
from holdfast._retry import DEFAULT_ATTEMPTS
from holdfast._services import AsyncHistoryService, AsyncLeaseService, AsyncProjectService, AsyncTaskService

if TYPE_CHECKING:
    from types import TracebackType


class AsyncHoldfast:
    """A client of one server. Connects at the first call, and belongs to the event loop in which that is made.

    `tasks`, `leases`, `history` and `projects` have one method for each RPC. Do not fork a process that has made calls:
    gRPC does not come along.
    """

    tasks: AsyncTaskService
    leases: AsyncLeaseService
    history: AsyncHistoryService
    projects: AsyncProjectService
    execution_id: str
    """The execution in whose name leases are acquired and tasks are written."""

    def __init__(
        self,
        url: str,
        token: str,
        execution_id: str | None = None,
        *,
        attempts: int = DEFAULT_ATTEMPTS,
        root_certificates: bytes | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Makes a client.

        Args:
            url: The server's address, such as `http://localhost:7420`.
            token: The caller's token, `hf_…`.
            execution_id: Names this run of the caller, 1–256 printable characters; a random one by default.
            attempts: How often a call is sent at most; 1: never again. Sent again is only what cannot be done twice
                (what reads, and what has a request id), when no answer came; never what the server refused.
            root_certificates: PEM of the authorities that the server's certificate is checked against, instead of
                the usual ones.
            clock: Tells the time by which leases are kept; the machine's by default.

        Raises:
            ValueError: `url` is no http(s) address, or the token cannot be one.
        """
        self.execution_id = execution_id or str(uuid.uuid4())
        self.clock = clock or SystemClock()
        self.connection = AsyncConnection(
            url, token, self.execution_id, attempts=attempts, root_certificates=root_certificates
        )
        self.tasks = AsyncTaskService(self.connection)
        self.leases = AsyncLeaseService(self.connection)
        self.history = AsyncHistoryService(self.connection)
        self.projects = AsyncProjectService(self.connection)

    def lease(
        self,
        task_id: str,
        *,
        project: str | None = None,
        ttl: float | timedelta | None = None,
        wait: float | timedelta = 0,
        on_renewed: OnRenewed | None = None,
    ) -> AbstractAsyncContextManager[AsyncHeldLease]:
        """Leases a task for the time of a `async with` block, and keeps the lease renewed meanwhile.

        It is given back when the block is left, however it is: also by an exception or a cancellation, by Ctrl-C, and
        by SIGTERM if the loop is that of `asyncio.run` in the main thread and the program does not handle that itself.
        When the lease is lost, the task that runs the block is cancelled, and the block raises `LeaseLost`.

        Args:
            task_id: The task.
            project: The project; absent: the token's.
            ttl: The time to live in seconds, from 1; absent: the project's default.
            wait: For how many seconds to go on asking while it is refused and waiting can help.
            on_renewed: Called after each renewal with the lease and the dependencies that were reopened since.

        Raises:
            Refused: it was not granted.
            RpcError: the call failed.
        """
        return AsyncHold(self, TaskWanted(task_id), project=project, ttl=ttl, wait=wait, on_renewed=on_renewed)

    def lease_next(
        self,
        *,
        plan_id: str | None = None,
        labels: Iterable[str] = (),
        assignee: str | None = None,
        project: str | None = None,
        ttl: float | timedelta | None = None,
        wait: float | timedelta = 0,
        on_renewed: OnRenewed | None = None,
    ) -> AbstractAsyncContextManager[AsyncHeldLease]:
        """Leases the best ready task for the time of a `async with` block; else as `lease`.

        Args:
            plan_id: Only steps of this plan.
            labels: Only tasks with all of these labels.
            assignee: Only tasks meant for this principal.
            project: The project; absent: the token's.
            ttl: The time to live in seconds, from 1; absent: the project's default.
            wait: For how many seconds to wait until a task is ready.
            on_renewed: Called after each renewal.

        Raises:
            Refused: no task is ready; its `reason` is `NOTHING_READY`.
            RpcError: the call failed.
        """
        wanted = next_wanted(plan_id, labels, assignee)
        return AsyncHold(self, wanted, project=project, ttl=ttl, wait=wait, on_renewed=on_renewed)

    async def work(
        self,
        handler: AsyncHandler,
        *,
        plan_id: str | None = None,
        labels: Iterable[str] = (),
        assignee: str | None = None,
        project: str | None = None,
        ttl: float | timedelta | None = None,
        most_failures: int = 3,
        stop: asyncio.Event | None = None,
    ) -> None:
        """Takes one ready task after the other and awaits `handler` with the lease on it, until `stop` is set.

        The task is completed with what the handler returns (a result of at most 64 KiB, or None), unless the handler
        completed or dropped it itself. When the handler raises, the task is given back with the error's message as a
        note, and is left alone for a while. Lost leases and a server that is away do not end the work; SIGTERM and
        Ctrl-C do, and give back what is held.

        Args:
            handler: Works on one task.
            plan_id: Only steps of this plan.
            labels: Only tasks with all of these labels.
            assignee: Only tasks meant for this principal.
            project: The project; absent: the token's.
            ttl: A lease's time to live in seconds, from 1; absent: the project's default.
            most_failures: So many failures on one task, and it is left to others.
            stop: When it is set no more tasks are taken; a handler that runs goes on.

        Raises:
            RpcError: what trying again does not help against: a wrong token, no permission.
            Refused: the execution was ended.
        """
        wanted = next_wanted(plan_id, labels, assignee)
        await async_work(self, handler, wanted, project=project, ttl=ttl, most_failures=most_failures, stop=stop)

    def worker(
        self,
        *,
        plan_id: str | None = None,
        labels: Iterable[str] = (),
        assignee: str | None = None,
        project: str | None = None,
        ttl: float | timedelta | None = None,
        most_failures: int = 3,
    ) -> Callable[[AsyncHandler], AsyncWorker]:
        """Makes a worker of the function below it: `run` does what `work` does. The arguments are those of `work`."""

        def decorate(handler: AsyncHandler) -> AsyncWorker:
            return AsyncWorker(
                self,
                handler,
                next_wanted(plan_id, labels, assignee),
                project=project,
                ttl=ttl,
                most_failures=most_failures,
            )

        return decorate

    def watch(
        self,
        *,
        project: str | None = None,
        task_ids: Iterable[str] | None = None,
        plan_id: str | None = None,
        kinds: Iterable[v1.EventKind] | None = None,
        principal: str | None = None,
        execution_id: str | None = None,
        resume_after: str | None = None,
    ) -> AsyncWatch:
        """Watches a project for as long as you iterate.

        Connects again by itself and goes on where it stopped: nothing is missed without a `Gap`, nothing is told twice.

        Args:
            project: The project; absent: the token's.
            task_ids: Only these tasks.
            plan_id: Only steps of this plan, and the plan itself.
            kinds: Only these kinds of events. Leases are told whatever the kinds.
            principal: Only what this principal holds or does.
            execution_id: Only what this execution holds or does.
            resume_after: A token of an earlier watch with the same filter: told is exactly what came after it, and no
                snapshot.
        """
        request = v1.WatchLeasesRequest(
            project=project,
            task_ids=task_ids,
            plan_id=plan_id,
            kinds=kinds,
            principal=principal,
            execution_id=execution_id,
            resume_after=resume_after,
        )
        return AsyncWatch(self.connection, request)

    async def close(self) -> None:
        """Closes the connection, and with it every call and watch that is under way."""
        await self.connection.close()

    async def __aenter__(self) -> AsyncHoldfast:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
