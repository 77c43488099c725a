"""Where a lease's timing comes from."""

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol


@dataclass(frozen=True)
class Instant:
    """One moment, read from two clocks, in seconds.

    The monotonic clock is never set, but on Linux it stands still while the machine is suspended; the wall clock
    goes on in suspend, but may be set.
    """

    monotonic: float
    wall: float


class Clock(Protocol):
    """Tells the time. Tests give their own."""

    def now(self) -> Instant:
        """What both clocks say."""
        ...


class SystemClock:
    """The machine's clocks."""

    def now(self) -> Instant:
        """What both clocks say."""
        return Instant(time.monotonic(), time.time())


def seconds(duration: float | timedelta) -> float:
    """A length of time in seconds."""
    return duration.total_seconds() if isinstance(duration, timedelta) else float(duration)
