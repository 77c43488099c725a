"""Renews the leases that a client holds, on one thread that is there while it holds any."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast import v1
from holdfast._clock import Clock, Instant
from holdfast._keeper import LOOK_EVERY, Keeper
from holdfast._services import RENEW_LEASE
from holdfast.errors import LeaseLost, LeaseLostKind, RpcError

if TYPE_CHECKING:
    from holdfast._connection import Connection

OnRenewed = Callable[[v1.Lease, "list[v1.UnmetDependency]"], None]

log = logging.getLogger("holdfast")

# With a thousand leases their times lie close together: look at them in one go.
_SHORTEST_WAIT = 0.01


class Kept:
    """A lease that is being renewed. All of it may be used from any thread."""

    def __init__(self, renewals: Renewals, keeper: Keeper, project: str | None, on_renewed: OnRenewed | None) -> None:
        self._renewals = renewals
        self._lock = renewals.lock
        self._on_renewed = on_renewed
        self._cancel: Callable[[], object] | None = None
        # Counts the renewals: the answer to one that was given up tells nothing.
        self._renewal = 0
        self.keeper = keeper
        self.project = project
        self.lost = threading.Event()

    def loss_now(self) -> LeaseLost | None:
        """Why the work must stop, if it must."""
        with self._lock:
            loss = self.keeper.loss_now(self._renewals.clock.now())
            self.tell()
        return loss

    def lose(self, kind: LeaseLostKind, cause: BaseException | None = None) -> None:
        """The work must stop."""
        with self._lock:
            self.keeper.lose(kind, cause)
            self.tell()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """In this block no renewal is under way."""
        with self._lock:
            self.keeper.pause()
            cancel = self._given_up()
        if cancel:
            cancel()
        try:
            yield
        finally:
            with self._lock:
                self.keeper.resume()
                self._renewals.look()

    def stop(self) -> None:
        """Ends the renewing and a renewal under way."""
        with self._lock:
            self.keeper.lose("released")
            cancel = self._given_up()
            self._renewals.forget(self)
        if cancel:
            cancel()

    def tell(self) -> None:
        """Sets `lost` when the lease is; to be called under the lock."""
        loss = self.keeper.loss
        if loss is not None and loss.kind != "released":
            self.lost.set()

    def renew(self, connection: Connection, timeout: float) -> None:
        """Starts a renewal; to be called under the lock."""
        self._renewal += 1
        renewal, lease, asked = self._renewal, self.keeper.lease, self._renewals.clock.now()
        request = v1.RenewLeaseRequest(project=self.project, lease_id=lease.id, fencing_token=lease.fencing_token)
        cancel = connection.start(RENEW_LEASE, request, timeout, lambda answer: self._answered(renewal, asked, answer))
        if self._renewal == renewal:
            self._cancel = cancel

    def _answered(self, renewal: int, asked: Instant, answer: v1.RenewLeaseResponse | RpcError) -> None:
        with self._lock:
            if renewal != self._renewal or self.keeper.loss is not None:
                return
            self._given_up()
            if isinstance(answer, RpcError):
                self.keeper.failed(answer, self._renewals.clock.now())
            else:
                self.keeper.renewed(answer.lease, asked)
            self.tell()
            self._renewals.look()
        if self._on_renewed and not isinstance(answer, RpcError):
            try:
                self._on_renewed(answer.lease, list(answer.dependencies_unmet))
            except Exception:
                log.exception("on_renewed failed; the lease is kept all the same")

    def _given_up(self) -> Callable[[], object] | None:
        """Lets go of the renewal under way, if there is one."""
        self._renewal += 1
        cancel, self._cancel = self._cancel, None
        return cancel


class Renewals:
    """The leases that are being renewed over one connection."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.lock = threading.RLock()
        self.clock = clock
        self._connection = connection
        self._changed = threading.Condition(self.lock)
        self._kept: set[Kept] = set()
        self._thread: threading.Thread | None = None

    def keep(self, keeper: Keeper, project: str | None, on_renewed: OnRenewed | None) -> Kept:
        """Renews a lease until it is lost or stopped."""
        kept = Kept(self, keeper, project, on_renewed)
        with self._changed:
            self._kept.add(kept)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="holdfast-renewals", daemon=True)
                self._thread.start()
            self._changed.notify()
        return kept

    def look(self) -> None:
        """Looks at all leases now."""
        with self._changed:
            self._changed.notify()

    def forget(self, kept: Kept) -> None:
        """Looks at this one no more."""
        with self._changed:
            self._kept.discard(kept)
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._kept:
                    self._thread = None
                    return
                wait = LOOK_EVERY
                now = self.clock.now()
                for kept in list(self._kept):
                    step = kept.keeper.look(now)
                    if step is None:
                        self._kept.discard(kept)
                        kept.tell()
                        continue
                    wait = min(wait, step.wait)
                    if step.renew is not None:
                        kept.renew(self._connection, step.renew)
                self._changed.wait(max(wait, _SHORTEST_WAIT))
