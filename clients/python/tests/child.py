"""A program that holds a lease. What it is told on stdin it does, and tells on stdout what came of it.

python -m tests.child URL TOKEN TASK TTL [asyncio]
"""

from __future__ import annotations

import asyncio
import sys
import time

from holdfast import AsyncHoldfast, Holdfast, HoldfastError, LeaseLost


def say(line: str) -> None:
    print(line, flush=True)


def told(error: HoldfastError) -> str:
    return f"LeaseLost {error.kind}" if isinstance(error, LeaseLost) else type(error).__name__


def hold(url: str, token: str, task: str, ttl: float) -> None:
    with Holdfast(url, token) as holdfast, holdfast.lease(task, ttl=ttl) as lease:
        say("held")
        for line in sys.stdin:
            if line == "sleep\n":
                time.sleep(60)
            try:
                lease.add_note(line)
                say("written")
            except HoldfastError as error:
                say(told(error))


async def hold_in_loop(url: str, token: str, task: str, ttl: float) -> None:
    try:
        async with AsyncHoldfast(url, token) as holdfast, holdfast.lease(task, ttl=ttl):
            say("held")
            await asyncio.sleep(60)
    except LeaseLost as error:
        say(told(error))


if __name__ == "__main__":
    url, token, task, ttl, *mode = sys.argv[1:]
    if mode:
        asyncio.run(hold_in_loop(url, token, task, float(ttl)))
    else:
        hold(url, token, task, float(ttl))
