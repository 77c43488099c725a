"""A watch for threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from random import random
from typing import TYPE_CHECKING

from holdfast import v1
from holdfast._news import SILENCE, News, Place
from holdfast._services import WATCH_LEASES
from holdfast._timing import watch_pause
from holdfast.errors import RpcError

if TYPE_CHECKING:
    from types import TracebackType

    from holdfast._connection import Connection, ResponseStream

log = logging.getLogger("holdfast")


class Watch(Iterator[News]):
    """What happens in a project, for as long as you iterate.

    Connects again by itself and goes on where it stopped: nothing is missed without a `Gap`, nothing is told twice.
    Ended by `close`, by leaving a `with` block, or by letting go of it.
    """

    def __init__(self, connection: Connection, request: v1.WatchLeasesRequest) -> None:
        self._reading = _Reading(connection, request)
        # It must not know this object: letting go of a watch ends what it reads.
        self._news = self._reading.news()

    def __next__(self) -> News:
        """What is told next; waits for it.

        Raises:
            RpcError: the server refuses for good: a wrong filter or token, no permission.
        """
        return next(self._news)

    def close(self) -> None:
        """Ends the watch, from any thread: the iteration stops then."""
        self._reading.stop()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


class _Reading:
    """The stream of a watch."""

    def __init__(self, connection: Connection, request: v1.WatchLeasesRequest) -> None:
        self._connection = connection
        self._request = request
        self._closed = threading.Event()
        self._stream: ResponseStream[v1.WatchLeasesResponse] | None = None

    def stop(self) -> None:
        self._closed.set()
        stream = self._stream
        if stream:
            stream.cancel()

    def news(self) -> Iterator[News]:
        closed, place = self._closed, Place(self._request.resume_after)
        while not closed.is_set():
            failure: RpcError | None = None
            try:
                for message in self._messages(place):
                    yield from place.news(message)
                    if closed.is_set():
                        return
            except RpcError as error:
                failure = error
            if closed.is_set():
                return
            gap = place.ended(failure)
            if gap:
                yield gap
            pause = watch_pause(place.failures, random())
            log.info("the watch lost its connection, again in %.2f s: %s", pause, failure)
            closed.wait(pause)

    def _messages(self, place: Place) -> Iterator[v1.WatchLeasesResponse]:
        """One stream."""
        place.begin()
        self._request.resume_after = place.token
        stream = self._stream = self._connection.stream(WATCH_LEASES, self._request)
        if self._closed.is_set():
            stream.cancel()
        silence = Silence(stream)
        try:
            while True:
                silence.begins()
                try:
                    message = next(stream)
                except StopIteration:
                    return
                finally:
                    # While the reader is busy, silence is its own.
                    silence.is_over()
                yield message
        finally:
            silence.stop()
            stream.cancel()


class Silence:
    """Ends a stream on which nothing came for too long."""

    def __init__(self, stream: ResponseStream[v1.WatchLeasesResponse]) -> None:
        self._stream = stream
        self._changed = threading.Condition()
        self._listening = False
        self._turn = 0
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="holdfast-watch", daemon=True)
        self._thread.start()

    def begins(self) -> None:
        """From now on something should come."""
        with self._changed:
            self._turn += 1
            self._listening = True

    def is_over(self) -> None:
        """Something came."""
        with self._changed:
            self._turn += 1
            self._listening = False

    def stop(self) -> None:
        """Ends the looking."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def _run(self) -> None:
        with self._changed:
            while not self._stopped:
                turn = self._turn
                self._changed.wait(SILENCE)
                if not self._stopped and self._listening and self._turn == turn:
                    self._stream.cancel()
                    return
