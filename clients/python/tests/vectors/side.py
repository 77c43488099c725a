"""What the runner needs of a client, whichever it is."""

from __future__ import annotations

from typing import Any, Protocol

from holdfast import News


class Holding(Protocol):
    """A lease that is held from one step of a scenario to another."""

    def sent(self) -> None:
        """Waits until the request was sent."""
        ...

    def begun(self) -> Any:
        """Waits until the work has begun: lease, task and continuation."""
        ...

    def write(self, write: str, request: dict[str, Any]) -> Any:
        """Writes through the lease."""
        ...

    def renewed(self, times: int) -> None:
        """Waits until it was renewed so many times more."""
        ...

    def stopped(self) -> BaseException:
        """Waits until the work is told to stop: why."""
        ...

    def leave(self, throwing: str | None = None, release_note: str | None = None) -> None:
        """Lets the work return or fail, and waits until the block is left."""
        ...


class Watching(Protocol):
    """A watch that is read a piece at a time."""

    def next(self) -> News | None:
        """What is told next; None at the end."""
        ...

    def close(self) -> None:
        """Ends it."""
        ...


class Side(Protocol):
    """One of the two clients, driven by the runner's thread."""

    def client(self, url: str, token: str, execution_id: str) -> Any:
        """Makes a client."""
        ...

    def call(self, client: Any, rpc: str, request: dict[str, Any]) -> Any:
        """Calls an RPC."""
        ...

    def hold(self, client: Any, wanted: dict[str, Any], ttl: float | None, wait: float) -> Holding:
        """Begins to hold a lease."""
        ...

    def work(self, client: Any, wanted: dict[str, Any], tasks: int, result: str, failing: dict[str, str]) -> list[str]:
        """Works on so many tasks: their titles."""
        ...

    def watch(self, client: Any, options: dict[str, Any]) -> Watching:
        """Begins to watch."""
        ...

    def close(self, client: Any) -> None:
        """Closes a client."""
        ...
