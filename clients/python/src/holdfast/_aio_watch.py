"""A watch for asyncio."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from random import random
from typing import TYPE_CHECKING, cast

from holdfast import v1
from holdfast._news import SILENCE, News, Place
from holdfast._services import WATCH_LEASES
from holdfast._timing import watch_pause
from holdfast.errors import RpcError

if TYPE_CHECKING:
    from types import TracebackType

    from holdfast._aio_connection import AsyncConnection

log = logging.getLogger("holdfast")


class AsyncWatch(AsyncIterator[News]):
    """What happens in a project, for as long as you iterate.

    Connects again by itself and goes on where it stopped: nothing is missed without a `Gap`, nothing is told twice.
    Ended by `aclose`, by leaving an `async with` block, or by cancelling what iterates.
    """

    def __init__(self, connection: AsyncConnection, request: v1.WatchLeasesRequest) -> None:
        # It must not know this object: letting go of a watch ends what it reads.
        self._news = _news(connection, request)

    async def __anext__(self) -> News:
        """What is told next; waits for it.

        Raises:
            RpcError: the server refuses for good: a wrong filter or token, no permission.
        """
        return await self._news.__anext__()

    async def aclose(self) -> None:
        """Ends the watch. To be called by what iterates it; from elsewhere, cancel that."""
        await self._news.aclose()

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


async def _news(connection: AsyncConnection, request: v1.WatchLeasesRequest) -> AsyncGenerator[News, None]:
    place = Place(request.resume_after)
    while True:
        failure: RpcError | None = None
        try:
            async with aclosing(_messages(connection, request, place)) as messages:
                async for message in messages:
                    for news in place.news(message):
                        yield news
        except RpcError as error:
            failure = error
        gap = place.ended(failure)
        if gap:
            yield gap
        pause = watch_pause(place.failures, random())
        log.info("the watch lost its connection, again in %.2f s: %s", pause, failure)
        await asyncio.sleep(pause)


async def _messages(
    connection: AsyncConnection, request: v1.WatchLeasesRequest, place: Place
) -> AsyncGenerator[v1.WatchLeasesResponse, None]:
    """One stream. Ends when nothing came for too long."""
    place.begin()
    request.resume_after = place.token
    stream = cast("AsyncGenerator[v1.WatchLeasesResponse, None]", connection.stream(WATCH_LEASES, request))
    async with aclosing(stream):
        while True:
            try:
                # While the reader is busy, silence is its own.
                yield await asyncio.wait_for(stream.__anext__(), SILENCE)
            except (StopAsyncIteration, asyncio.TimeoutError):
                return
