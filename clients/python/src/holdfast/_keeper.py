"""Decides when a lease is renewed and when the work under it must stop. Calls nobody and never waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import random as system_random

from holdfast import v1
from holdfast._clock import Instant
from holdfast._timing import (
    remaining_of,
    renewal_delay,
    renewal_retry_delay,
    renewal_timeout,
    safe_until,
    time_left,
    ttl_of,
)
from holdfast.errors import LeaseLost, LeaseLostKind, is_gone

# The machine may have slept: look at the wall clock at least this often, in seconds.
LOOK_EVERY = 1.0


@dataclass(frozen=True)
class Step:
    """What to do now."""

    wait: float
    """Look again after so many seconds, or when a renewal has ended."""
    renew: float | None
    """Start a renewal that may take so many seconds."""


class Keeper:
    """What is known of one lease while it is held.

    A failed renewal leaves the lease *unknown*, and it is tried again until the safe deadline; an answer that it is
    gone makes it *lost* at once.
    """

    def __init__(
        self,
        lease: v1.Lease,
        asked: Instant,
        *,
        random: Callable[[], float] = system_random,
    ) -> None:
        """Begins to keep a lease.

        Args:
            lease: As the server answered it.
            asked: A moment before that request was sent.
            random: Between 0 and 1, for the jitter.
        """
        self.lease = lease
        self._random = random
        self._deadline = asked
        self._renew_at = 0.0
        self._failures = 0
        self._last_failure: BaseException | None = None
        self._renewing = False
        self._paused = False
        self.loss: LeaseLost | None = None
        self._take(lease, asked)

    def look(self, now: Instant) -> Step | None:
        """What to do now; None: nothing more, the lease is over. A renewal that is asked for counts as started."""
        if self.loss_now(now) is not None:
            return None
        left = time_left(self._deadline, now)
        renew = None
        if not self._renewing and not self._paused and now.monotonic >= self._renew_at:
            self._renewing = True
            renew = renewal_timeout(ttl_of(self.lease), left)
        until_renewal = LOOK_EVERY if self._renewing or self._paused else self._renew_at - now.monotonic
        return Step(max(0.0, min(LOOK_EVERY, until_renewal, left)), renew)

    def loss_now(self, now: Instant) -> LeaseLost | None:
        """Why the work must stop, also when nobody looked for long."""
        if self.loss is None and time_left(self._deadline, now) <= 0:
            self.lose("unconfirmed", self._last_failure)
        return self.loss

    def renewed(self, lease: v1.Lease, asked: Instant) -> None:
        """A renewal that was sent after `asked` was confirmed."""
        self._renewing = False
        self._failures = 0
        self._take(lease, asked)

    def failed(self, error: BaseException, now: Instant) -> None:
        """A renewal failed."""
        self._renewing = False
        if is_gone(error):
            self.lose("lost", error)
            return
        self._last_failure = error
        self._failures += 1
        delay = renewal_retry_delay(ttl_of(self.lease), self._failures, self._random())
        self._renew_at = now.monotonic + delay

    def pause(self) -> None:
        """From now on no renewal is asked for, and one that was started is given up. The deadline stays."""
        self._paused = True
        self._renewing = False

    def resume(self) -> None:
        """Renewals are asked for again."""
        self._paused = False

    def lose(self, kind: LeaseLostKind, cause: BaseException | None = None) -> None:
        """The work must stop. Only the first reason counts."""
        if self.loss is None:
            self.loss = LeaseLost(kind, self.lease.task_id)
            self.loss.__cause__ = cause

    def _take(self, lease: v1.Lease, asked: Instant) -> None:
        ttl, remaining = ttl_of(lease), remaining_of(lease)
        self.lease = lease
        self._deadline = safe_until(ttl, remaining, asked)
        self._renew_at = asked.monotonic + renewal_delay(ttl, remaining, self._random())
