"""The client for threads, driven by the runner."""

from __future__ import annotations

import threading
from typing import Any

from holdfast import HeldLease, Holdfast, News, v1
from tests.vectors.requests import arguments_of, filter_of, method_of
from tests.vectors.told import WorkFailed, json_of

_LONG = 25.0


class ThreadHolding:
    def __init__(self, client: Holdfast, wanted: dict[str, Any], ttl: float | None, wait: float) -> None:
        self._client = client
        self._wanted = wanted
        self._ttl = ttl
        self._wait = wait
        self._held: HeldLease | None = None
        self._error: BaseException | None = None
        self._begun = threading.Event()
        self._leave = threading.Event()
        self._throwing: str | None = None
        self._renewals = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        def on_renewed(_lease: v1.Lease, _unmet: list[v1.UnmetDependency]) -> None:
            self._renewals.release()

        try:
            if "taskId" in self._wanted:
                hold = self._client.lease(self._wanted["taskId"], ttl=self._ttl, wait=self._wait, on_renewed=on_renewed)
            else:
                hold = self._client.lease_next(
                    **filter_of(self._wanted["next"]), ttl=self._ttl, wait=self._wait, on_renewed=on_renewed
                )
            with hold as self._held:
                self._begun.set()
                self._leave.wait()
                if self._throwing is not None:
                    raise WorkFailed(self._throwing)
        except BaseException as error:
            self._error = error
        finally:
            self._begun.set()

    def _lease(self) -> HeldLease:
        assert self._begun.wait(_LONG)
        if self._held is None:
            assert self._error
            raise self._error
        return self._held

    def sent(self) -> None:
        self._begun.wait(0.2)

    def begun(self) -> Any:
        held = self._lease()
        parts = {"lease": held.lease, "task": held.task, "continuation": held.continuation}
        return {name: json_of(part) for name, part in parts.items()}

    def write(self, write: str, request: dict[str, Any]) -> Any:
        held = self._lease()
        match write:
            case "addNote":
                return json_of(held.add_note(**request))
            case "update":
                return json_of(held.update(**request))
            case "complete":
                return json_of(held.complete(**request))
            case "drop":
                return json_of(held.drop(**request))
            case _:
                raise KeyError(write)

    def renewed(self, times: int) -> None:
        while self._renewals.acquire(blocking=False):
            pass
        for _ in range(times):
            assert self._renewals.acquire(timeout=_LONG)

    def stopped(self) -> BaseException:
        held = self._lease()
        assert held.lost.wait(_LONG)
        assert held.loss
        return held.loss

    def leave(self, throwing: str | None = None, release_note: str | None = None) -> None:
        if release_note is not None:
            self._lease().release_note = release_note
        self._throwing = throwing
        self._leave.set()
        self._thread.join()
        if self._error:
            raise self._error


class ThreadWatching:
    def __init__(self, client: Holdfast, options: dict[str, Any]) -> None:
        self._watch = client.watch(**options)

    def next(self) -> News | None:
        # A watch that tells nothing must fail the step, not hang the runner.
        late = threading.Timer(_LONG, self._watch.close)
        late.start()
        try:
            return next(self._watch, None)
        finally:
            late.cancel()

    def close(self) -> None:
        self._watch.close()


class Threads:
    """The client for threads."""

    def client(self, url: str, token: str, execution_id: str) -> Holdfast:
        return Holdfast(url, token, execution_id)

    def call(self, client: Holdfast, rpc: str, request: dict[str, Any]) -> Any:
        return json_of(method_of(client, rpc)(**arguments_of(rpc, request)))

    def hold(self, client: Holdfast, wanted: dict[str, Any], ttl: float | None, wait: float) -> ThreadHolding:
        return ThreadHolding(client, wanted, ttl, wait)

    def work(
        self, client: Holdfast, wanted: dict[str, Any], tasks: int, result: str, failing: dict[str, str]
    ) -> list[str]:
        titles: list[str] = []
        stop = threading.Event()

        @client.worker(**filter_of(wanted))
        def handler(lease: HeldLease) -> str | None:
            titles.append(lease.task.title)
            if len(titles) == tasks:
                stop.set()
            if lease.task.title in failing:
                raise WorkFailed(failing[lease.task.title])
            return result

        handler.run(stop)
        return titles

    def watch(self, client: Holdfast, options: dict[str, Any]) -> ThreadWatching:
        return ThreadWatching(client, options)

    def close(self, client: Holdfast) -> None:
        client.close()
