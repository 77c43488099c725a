"""What a watch tells, and how its stream is turned into that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

import grpc

from holdfast import v1
from holdfast.errors import RpcError

# The server sends a checkpoint every 15 s: after three in silence, the connection is taken for dead. In seconds.
SILENCE = 45.0

# Trying again cannot help: somebody has to change the request, the token or the server.
_FINAL = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.UNIMPLEMENTED,
)


@dataclass(frozen=True)
class Snapshot:
    """How things are now: the live leases.

    First of all, and again after a gap; forget what you knew of leases.
    """

    kind: ClassVar[Literal["snapshot"]] = "snapshot"
    leases: tuple[v1.Lease, ...]
    resume_token: str


@dataclass(frozen=True)
class Happened:
    """Something happened. Positions rise strictly; none is told twice."""

    kind: ClassVar[Literal["event"]] = "event"
    event: v1.Event


@dataclass(frozen=True)
class Checkpoint:
    """All events up to here were told: keep the token to go on from here, after a restart too."""

    kind: ClassVar[Literal["checkpoint"]] = "checkpoint"
    resume_token: str


@dataclass(frozen=True)
class Renewed:
    """New deadlines of renewed leases. Best effort."""

    kind: ClassVar[Literal["renewed"]] = "renewed"
    leases: tuple[v1.Lease, ...]


@dataclass(frozen=True)
class Gap:
    """Events were missed. A snapshot follows."""

    kind: ClassVar[Literal["gap"]] = "gap"
    reason: Literal["COMPACTED", "RESET"]
    """`COMPACTED`: they were pruned from the history before they were read. `RESET`: the database was restored."""


News = Snapshot | Happened | Checkpoint | Renewed | Gap


class Place:
    """How far a watch has come."""

    def __init__(self, resume_after: str | None) -> None:
        self.token = resume_after or ""
        self.failures = 0
        self._position = 0
        # The leases of a snapshot that is not complete yet.
        self._gathered: list[v1.Lease] = []

    def begin(self) -> None:
        """A stream is opened."""
        self._gathered = []

    def news(self, message: v1.WatchLeasesResponse) -> Iterator[News]:
        """What a message of the stream tells."""
        self.failures = 0
        match message.WhichOneof("message"):
            case "snapshot":
                self._gathered += message.snapshot.leases
            case "synced":
                leases, self._gathered = tuple(self._gathered), []
                self.token = message.synced.resume_token
                yield Snapshot(leases, self.token)
            case "events":
                for event in message.events.events:
                    if event.position > self._position:
                        self._position = event.position
                        yield Happened(event)
                self.token = message.events.resume_token
                yield Checkpoint(self.token)
            case "checkpoint":
                self.token = message.checkpoint.resume_token
                yield Checkpoint(self.token)
            case "lease_state":
                yield Renewed(tuple(message.lease_state.leases))
            case _:
                pass

    def ended(self, error: RpcError | None) -> Gap | None:
        """The stream ended: by this error, or as if it were cut.

        Returns:
            what was missed, if anything was

        Raises:
            RpcError: it makes no sense to connect again.
        """
        self.failures += 1
        if error is None:
            return None
        if error.code == grpc.StatusCode.OUT_OF_RANGE:
            gap = error.detail(v1.WatchGap)
            compacted = gap is not None and gap.reason == v1.WATCH_GAP_REASON_COMPACTED
            self.token = ""
            self._position = 0
            return Gap("COMPACTED" if compacted else "RESET")
        if error.code in _FINAL:
            raise error
        end = error.detail(v1.WatchEnd)
        if end is not None and end.resume_token:
            self.token = end.resume_token
        return None
