"""Renews one lease, for asyncio."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast import v1
from holdfast._clock import Clock
from holdfast._keeper import Keeper
from holdfast._services import RENEW_LEASE
from holdfast.errors import LeaseLost, LeaseLostKind, RpcError

if TYPE_CHECKING:
    from holdfast._aio_connection import AsyncConnection
    from holdfast._renewals import OnRenewed

log = logging.getLogger("holdfast")


class AsyncKept:
    """A lease that is being renewed, and the task that works under it."""

    def __init__(
        self,
        connection: AsyncConnection,
        clock: Clock,
        keeper: Keeper,
        project: str | None,
        on_renewed: OnRenewed | None,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._on_renewed = on_renewed
        self.keeper = keeper
        self.project = project
        self.lost = asyncio.Event()
        self._renewal: asyncio.Task[None] | None = None
        owner = asyncio.current_task()
        assert owner is not None
        self._owner = owner
        self._cancelled = False
        self._cancelling = owner.cancelling() if sys.version_info >= (3, 11) else 0
        self._keeping = asyncio.create_task(self._keep(), name="holdfast-renewal")

    def loss_now(self) -> LeaseLost | None:
        """Why the work must stop, if it must."""
        loss = self.keeper.loss_now(self._clock.now())
        self._tell()
        return loss

    def lose(self, kind: LeaseLostKind, cause: BaseException | None = None) -> None:
        """The work must stop."""
        self.keeper.lose(kind, cause)
        self._tell()

    @contextmanager
    def paused(self) -> Generator[None, None, None]:
        """In this block no renewal is under way."""
        self.keeper.pause()
        if self._renewal:
            self._renewal.cancel()
            self._renewal = None
        try:
            yield
        finally:
            self.keeper.resume()

    def stop(self) -> None:
        """Ends the renewing and a renewal under way."""
        self.keeper.lose("released")
        self._keeping.cancel()
        if self._renewal:
            self._renewal.cancel()

    async def stopped(self) -> None:
        """Waits until nothing is under way any more."""
        await asyncio.wait([task for task in (self._keeping, self._renewal) if task])

    async def take_back(self, error: BaseException | None) -> bool:
        """Takes back the cancellation of the work, if it was cancelled because the lease is lost.

        Args:
            error: What the work ended with.

        Returns:
            whether that is what it ended with
        """
        if not self._cancelled:
            return False
        is_cancelled = isinstance(error, asyncio.CancelledError)
        if not is_cancelled:
            # The work ended before it noticed: the next await would be cancelled.
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                if self._uncancel():
                    raise
                return False
        return not self._uncancel() and is_cancelled

    def _uncancel(self) -> bool:
        """Whether somebody else has cancelled the work, too."""
        if sys.version_info >= (3, 11):
            return self._owner.uncancel() > self._cancelling
        return False

    def _tell(self) -> None:
        loss = self.keeper.loss
        if loss is None or loss.kind == "released" or self.lost.is_set():
            return
        self.lost.set()
        # The work itself learns of it by an exception.
        if asyncio.current_task() is not self._owner:
            self._cancelled = True
            self._owner.cancel(f"the lease on task {loss.task_id} is not safe any more")

    async def _keep(self) -> None:
        while (step := self.keeper.look(self._clock.now())) is not None:
            if step.renew is not None:
                self._renewal = asyncio.create_task(self._renew(step.renew), name="holdfast-renew")
            if self._renewal:
                await asyncio.wait([self._renewal], timeout=step.wait)
                if self._renewal and self._renewal.done():
                    self._renewal = None
            else:
                await asyncio.sleep(step.wait)
        self._tell()

    async def _renew(self, timeout: float) -> None:
        lease, asked = self.keeper.lease, self._clock.now()
        request = v1.RenewLeaseRequest(project=self.project, lease_id=lease.id, fencing_token=lease.fencing_token)
        try:
            answer = await self._connection.once(RENEW_LEASE, request, timeout)
        except RpcError as error:
            self.keeper.failed(error, self._clock.now())
            return
        if self.keeper.loss is not None:
            return
        self.keeper.renewed(answer.lease, asked)
        if self._on_renewed:
            try:
                self._on_renewed(answer.lease, list(answer.dependencies_unmet))
            except Exception:
                log.exception("on_renewed failed; the lease is kept all the same")
