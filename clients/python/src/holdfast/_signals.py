"""SIGTERM, while leases are held. By default Python dies of it on the spot, and gives nothing back.

A handler that the program has set stays as it is. In threads other than the main one nothing is done: only the main
thread may set handlers, so nothing here is locked.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_STATUS = 128 + signal.SIGTERM

# How many of these blocks the main thread is in.
_blocks = 0
_blocks_of_loop = 0


def _free() -> bool:
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@contextmanager
def unwound_by_sigterm() -> Generator[None, None, None]:
    """In this block, SIGTERM ends the program by SystemExit, so that what is held is given back."""
    global _blocks
    if _blocks == 0 and _free():
        signal.signal(signal.SIGTERM, _exit)
    elif _blocks == 0 or threading.current_thread() is not threading.main_thread():
        yield
        return
    _blocks += 1
    try:
        yield
    finally:
        _blocks -= 1
        if _blocks == 0 and signal.getsignal(signal.SIGTERM) is _exit:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def loop_unwound_by_sigterm() -> Generator[None, None, None]:
    """In this block, SIGTERM ends the running loop by SystemExit; `asyncio.run` then cancels all tasks."""
    global _blocks_of_loop
    loop = asyncio.get_running_loop()
    if _blocks_of_loop == 0 and _free():
        try:
            loop.add_signal_handler(signal.SIGTERM, _exit_loop)
        except (NotImplementedError, RuntimeError):
            yield
            return
    elif _blocks_of_loop == 0 or threading.current_thread() is not threading.main_thread():
        yield
        return
    _blocks_of_loop += 1
    try:
        yield
    finally:
        _blocks_of_loop -= 1
        if _blocks_of_loop == 0 and not loop.is_closed():
            loop.remove_signal_handler(signal.SIGTERM)


def _exit(_number: int, _frame: FrameType | None) -> NoReturn:
    # A second one ends the program even if giving back hangs.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise SystemExit(_STATUS)


def _exit_loop() -> NoReturn:
    raise SystemExit(_STATUS)
