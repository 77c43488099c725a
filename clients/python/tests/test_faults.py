"""Pauses, signals, clocks that jump, blocked loops, crowds."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast import AsyncHoldfast, Happened, Holdfast, Instant, LeaseLost, Refused, Snapshot, SystemClock, v1
from tests.server import Board, environment


@contextmanager
def child(board: Board, task: str, ttl: float, *mode: str) -> Generator[subprocess.Popen[str], None, None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.child", board.server.url, board.token, task, str(ttl), *mode],
        cwd=Path(__file__).parents[1],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert heard(process) == "held"
        yield process
    finally:
        process.kill()
        process.communicate()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdin
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def wait_for_state(board: Board, task: str, state: str) -> None:
    end = time.monotonic() + 20
    while board.state(task) != state:
        assert time.monotonic() < end, f"the lease is {board.state(task)}, not {state}"
        time.sleep(0.05)


def test_a_process_that_was_stopped_past_its_deadline_sends_no_write(board: Board) -> None:
    task = board.task()
    with child(board, task, 1.5) as process:
        tell(process, "before")
        assert heard(process) == "written"
        process.send_signal(signal.SIGSTOP)
        wait_for_state(board, task, "EXPIRED")
        tell(process, "after")
        process.send_signal(signal.SIGCONT)
        assert heard(process) == "LeaseLost unconfirmed"
    notes = board.owner.tasks.get_task(project=board.project, task_id=task).notes
    assert [note.text for note in notes] == ["before\n"]
    # Nothing was even tried.
    assert board.events(v1.EVENT_KIND_WRITE_REJECTED) == []


def test_a_loop_whose_process_was_stopped_past_the_deadline_cancels_the_work(board: Board) -> None:
    task = board.task()
    with child(board, task, 1.5, "asyncio") as process:
        process.send_signal(signal.SIGSTOP)
        wait_for_state(board, task, "EXPIRED")
        process.send_signal(signal.SIGCONT)
        assert heard(process) == "LeaseLost unconfirmed"


@pytest.mark.parametrize("mode", [[], ["asyncio"]], ids=["threads", "asyncio"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_asked_to_end_gives_back_what_it_holds(
    board: Board, mode: list[str], number: signal.Signals
) -> None:
    task = board.task()
    with child(board, task, 60, *mode) as process:
        if not mode:
            tell(process, "sleep")
        process.send_signal(number)
        process.wait(20)
        assert board.state(task) == "RELEASED"


class SettableClock(SystemClock):
    """The machine's clocks, with a wall clock that can be set."""

    ahead = 0.0

    def now(self) -> Instant:
        now = super().now()
        return Instant(now.monotonic, now.wall + self.ahead)


def test_a_wall_clock_that_jumps_past_the_deadline_stops_the_work(board: Board) -> None:
    clock = SettableClock()
    with Holdfast(board.server.url, board.token, clock=clock) as holdfast, holdfast.lease(board.task(), ttl=60) as held:
        held.add_note("before")
        clock.ahead = 3600.0
        with pytest.raises(LeaseLost) as lost:
            held.add_note("after")
        assert lost.value.kind == "unconfirmed"
        assert held.lost.wait(5)
    assert board.events(v1.EVENT_KIND_WRITE_REJECTED) == []


def test_the_renewing_thread_notices_a_wall_clock_that_jumped(board: Board) -> None:
    clock = SettableClock()
    with Holdfast(board.server.url, board.token, clock=clock) as holdfast, holdfast.lease(board.task(), ttl=60) as held:
        clock.ahead = 3600.0
        assert held.lost.wait(5)


def test_a_blocked_loop_learns_of_the_loss_before_it_writes(board: Board) -> None:
    task = board.task()

    async def work() -> None:
        async with AsyncHoldfast(board.server.url, board.token) as holdfast, holdfast.lease(task, ttl=1) as lease:
            time.sleep(1.2)  # noqa: ASYNC251
            with pytest.raises(LeaseLost) as lost:
                await lease.add_note("too late")
            assert lost.value.kind == "unconfirmed"

    asyncio.run(work())
    assert board.owner.tasks.get_task(project=board.project, task_id=task).notes == []


def test_a_lost_lease_cancels_the_work_and_nothing_else(board: Board) -> None:
    task = board.task()

    async def work() -> list[str]:
        told: list[str] = []
        async with AsyncHoldfast(board.server.url, board.token) as holdfast:
            try:
                async with holdfast.lease(task, ttl=1.5):
                    board.owner.leases.force_release_lease(project=board.project, task_id=task, reason="it hangs")
                    try:
                        await asyncio.sleep(20)
                    except asyncio.CancelledError:
                        told.append("cancelled")
                        raise
            except LeaseLost as error:
                told.append(error.kind)
            await asyncio.sleep(0)
            current = asyncio.current_task()
            if sys.version_info >= (3, 11):
                assert current
                assert current.cancelling() == 0
        return told

    assert asyncio.run(work()) == ["cancelled", "lost"]


def test_a_cancellation_from_elsewhere_stays_one(board: Board) -> None:
    task = board.task()

    async def work() -> None:
        async with AsyncHoldfast(board.server.url, board.token) as holdfast:
            held = asyncio.Event()

            async def hold() -> None:
                async with holdfast.lease(task):
                    held.set()
                    await asyncio.sleep(20)

            holding = asyncio.create_task(hold())
            await held.wait()
            holding.cancel()
            with pytest.raises(asyncio.CancelledError):
                await holding

    asyncio.run(work())
    assert board.state(task) == "RELEASED"


def test_a_server_that_restarts_while_a_lease_is_held_and_a_watch_is_open(board: Board) -> None:
    task = board.task()
    with Holdfast(board.server.url, board.token) as holdfast, holdfast.watch() as watch:
        assert isinstance(next(watch), Snapshot)
        with holdfast.lease(task, ttl=10) as lease:
            board.server.act(act="restart")
            lease.complete("done")
        events: list[v1.Event] = []
        for news in watch:
            if isinstance(news, Happened):
                events.append(news.event)
                if news.event.kind == v1.EVENT_KIND_LEASE_RELEASED:
                    break
    positions = [event.position for event in events]
    assert positions == sorted(set(positions))
    kinds = [event.kind for event in events]
    assert kinds.count(v1.EVENT_KIND_LEASE_ACQUIRED) == kinds.count(v1.EVENT_KIND_TASK_COMPLETED) == 1
    assert kinds.count(v1.EVENT_KIND_LEASE_RELEASED) == 1


def test_many_leases_at_once_leave_no_thread(board: Board) -> None:
    tasks = [board.task(f"task {number}") for number in range(60)]
    with Holdfast(board.server.url, board.token) as holdfast:
        with holdfast.lease(board.task("first"), ttl=60):
            pass
        before = set(threading.enumerate())

        def hold(task: str) -> None:
            renewed = threading.Event()
            with holdfast.lease(task, ttl=9, on_renewed=lambda _lease, _unmet: renewed.set()) as lease:
                assert renewed.wait(20)
                lease.raise_if_unsafe()

        with ThreadPoolExecutor(len(tasks)) as pool:
            list(pool.map(hold, tasks))
        gone_by = time.monotonic() + 5
        while set(threading.enumerate()) - before and time.monotonic() < gone_by:
            time.sleep(0.02)
        assert set(threading.enumerate()) - before == set()
    assert {board.state(task) for task in tasks} == {"RELEASED"}
    assert board.events(v1.EVENT_KIND_LEASE_EXPIRED) == []


def test_many_leases_in_one_loop_leave_no_task(board: Board) -> None:
    tasks = [board.task(f"task {number}") for number in range(60)]

    async def work() -> None:
        async with AsyncHoldfast(board.server.url, board.token) as holdfast:

            async def hold(task: str) -> None:
                renewed = asyncio.Event()
                async with holdfast.lease(task, ttl=9, on_renewed=lambda _lease, _unmet: renewed.set()) as lease:
                    await asyncio.wait_for(renewed.wait(), 20)
                    lease.raise_if_unsafe()

            await asyncio.gather(*(hold(task) for task in tasks))
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(work())
    assert {board.state(task) for task in tasks} == {"RELEASED"}
    assert board.events(v1.EVENT_KIND_LEASE_EXPIRED) == []


def test_a_watch_that_is_let_go_of_ends(board: Board) -> None:
    with Holdfast(board.server.url, board.token) as holdfast:
        for news in holdfast.watch():
            assert isinstance(news, Snapshot)
            break
        gone_by = time.monotonic() + 5
        while any(thread.name == "holdfast-watch" for thread in threading.enumerate()):
            assert time.monotonic() < gone_by
            time.sleep(0.02)


def test_a_watch_is_closed_from_another_thread(board: Board) -> None:
    with Holdfast(board.server.url, board.token) as holdfast:
        watch = holdfast.watch()
        assert isinstance(next(watch), Snapshot)
        threading.Timer(0.1, watch.close).start()
        assert [news.kind for news in watch if news.kind != "checkpoint"] == []


def test_a_worker_that_waits_for_a_task_stops_when_it_is_told_to(board: Board) -> None:
    with Holdfast(board.server.url, board.token) as holdfast:
        stop = threading.Event()
        threading.Timer(0.3, stop.set).start()
        started = time.monotonic()
        holdfast.work(lambda _lease: None, stop=stop)
        assert time.monotonic() - started < 10


def test_a_next_task_that_does_not_come_in_time_is_refused(board: Board) -> None:
    with Holdfast(board.server.url, board.token) as holdfast, pytest.raises(Refused), holdfast.lease_next(wait=0.3):
        pass
