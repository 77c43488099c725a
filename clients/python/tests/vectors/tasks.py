"""The client for asyncio, driven by the runner from its thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from holdfast import AsyncHeldLease, AsyncHoldfast, News, v1
from tests.vectors.requests import arguments_of, filter_of, method_of
from tests.vectors.told import WorkFailed, json_of

_LONG = 25.0

Result = TypeVar("Result")


class Loop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Runs something on the loop, and waits for it."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(_LONG + 10)

    def close(self) -> None:
        """Ends the loop."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class TaskHolding:
    def __init__(
        self, loop: Loop, client: AsyncHoldfast, wanted: dict[str, Any], ttl: float | None, wait: float
    ) -> None:
        self._loop = loop
        self._client = client
        self._wanted = wanted
        self._ttl = ttl
        self._wait = wait
        self._held: AsyncHeldLease | None = None
        self._throwing: str | None = None
        loop.run(self._start())

    async def _start(self) -> None:
        self._begun = asyncio.Event()
        self._leave = asyncio.Event()
        self._renewals = asyncio.Semaphore(0)
        self._work_task = asyncio.create_task(self._work())
        self._work_task.add_done_callback(lambda _task: self._begun.set())

    async def _work(self) -> None:
        def on_renewed(_lease: v1.Lease, _unmet: list[v1.UnmetDependency]) -> None:
            self._renewals.release()

        if "taskId" in self._wanted:
            hold = self._client.lease(self._wanted["taskId"], ttl=self._ttl, wait=self._wait, on_renewed=on_renewed)
        else:
            hold = self._client.lease_next(
                **filter_of(self._wanted["next"]), ttl=self._ttl, wait=self._wait, on_renewed=on_renewed
            )
        async with hold as self._held:
            self._begun.set()
            try:
                await self._leave.wait()
            except asyncio.CancelledError:
                # Told to stop: the scenario's work does, when it is its turn.
                await self._leave.wait()
            if self._throwing is not None:
                raise WorkFailed(self._throwing)

    async def _lease(self) -> AsyncHeldLease:
        await asyncio.wait_for(self._begun.wait(), _LONG)
        if self._held is None:
            await self._work_task
        assert self._held
        return self._held

    def sent(self) -> None:
        self._loop.run(asyncio.sleep(0.2))

    def begun(self) -> Any:
        held = self._loop.run(self._lease())
        parts = {"lease": held.lease, "task": held.task, "continuation": held.continuation}
        return {name: json_of(part) for name, part in parts.items()}

    def write(self, write: str, request: dict[str, Any]) -> Any:
        return self._loop.run(self._write(write, request))

    async def _write(self, write: str, request: dict[str, Any]) -> Any:
        held = await self._lease()
        match write:
            case "addNote":
                return json_of(await held.add_note(**request))
            case "update":
                return json_of(await held.update(**request))
            case "complete":
                return json_of(await held.complete(**request))
            case "drop":
                return json_of(await held.drop(**request))
            case _:
                raise KeyError(write)

    def renewed(self, times: int) -> None:
        self._loop.run(self._renewed(times))

    async def _renewed(self, times: int) -> None:
        self._renewals = asyncio.Semaphore(0)
        for _ in range(times):
            await asyncio.wait_for(self._renewals.acquire(), _LONG)

    def stopped(self) -> BaseException:
        return self._loop.run(self._stopped())

    async def _stopped(self) -> BaseException:
        held = await self._lease()
        await asyncio.wait_for(held.lost.wait(), _LONG)
        assert held.loss
        return held.loss

    def leave(self, throwing: str | None = None, release_note: str | None = None) -> None:
        self._loop.run(self._left(throwing, release_note))

    async def _left(self, throwing: str | None, release_note: str | None) -> None:
        if release_note is not None:
            (await self._lease()).release_note = release_note
        self._throwing = throwing
        self._leave.set()
        await self._work_task


class TaskWatching:
    def __init__(self, loop: Loop, client: AsyncHoldfast, options: dict[str, Any]) -> None:
        self._loop = loop
        self._watch = client.watch(**options)

    def next(self) -> News | None:
        return self._loop.run(self._next())

    async def _next(self) -> News | None:
        try:
            return await asyncio.wait_for(self._watch.__anext__(), _LONG)
        except StopAsyncIteration:
            return None

    def close(self) -> None:
        self._loop.run(self._watch.aclose())


class Tasks:
    """The client for asyncio."""

    def __init__(self) -> None:
        self.loop = Loop()

    def client(self, url: str, token: str, execution_id: str) -> AsyncHoldfast:
        return AsyncHoldfast(url, token, execution_id)

    def call(self, client: AsyncHoldfast, rpc: str, request: dict[str, Any]) -> Any:
        return json_of(self.loop.run(method_of(client, rpc)(**arguments_of(rpc, request))))

    def hold(self, client: AsyncHoldfast, wanted: dict[str, Any], ttl: float | None, wait: float) -> TaskHolding:
        return TaskHolding(self.loop, client, wanted, ttl, wait)

    def work(
        self, client: AsyncHoldfast, wanted: dict[str, Any], tasks: int, result: str, failing: dict[str, str]
    ) -> list[str]:
        titles: list[str] = []

        async def run() -> None:
            stop = asyncio.Event()

            @client.worker(**filter_of(wanted))
            async def handler(lease: AsyncHeldLease) -> str | None:
                titles.append(lease.task.title)
                if len(titles) == tasks:
                    stop.set()
                if lease.task.title in failing:
                    raise WorkFailed(failing[lease.task.title])
                return result

            await handler.run(stop)

        self.loop.run(run())
        return titles

    def watch(self, client: AsyncHoldfast, options: dict[str, Any]) -> TaskWatching:
        return TaskWatching(self.loop, client, options)

    def close(self, client: AsyncHoldfast) -> None:
        self.loop.run(client.close())
