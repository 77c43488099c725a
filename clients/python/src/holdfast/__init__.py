"""Holdfast for Python: leases that are hard to misuse, typed services, a watch that misses nothing.

`Holdfast` is the client for threads, `AsyncHoldfast` the one for asyncio. The messages are in `holdfast.v1`.
"""

from holdfast._aio import AsyncHoldfast
from holdfast._aio_lease import AsyncHeldLease
from holdfast._aio_watch import AsyncWatch
from holdfast._aio_work import AsyncWorker
from holdfast._channel import VERSION as __version__
from holdfast._client import Holdfast
from holdfast._clock import Clock, Instant, SystemClock
from holdfast._connection import Stopped
from holdfast._lease import HeldLease
from holdfast._news import Checkpoint, Gap, Happened, News, Renewed, Snapshot
from holdfast._services import (
    AsyncHistoryService,
    AsyncLeaseService,
    AsyncProjectService,
    AsyncTaskService,
    HistoryService,
    LeaseService,
    ProjectService,
    TaskService,
)
from holdfast._watch import Watch
from holdfast._work import Worker
from holdfast.errors import (
    HoldfastError,
    InvalidRequest,
    LeaseLost,
    LockedByOther,
    LockExpired,
    LockRequired,
    Refused,
    RpcError,
    StaleLock,
    Violation,
    WriteRejected,
)

__all__ = [
    "AsyncHeldLease",
    "AsyncHistoryService",
    "AsyncHoldfast",
    "AsyncLeaseService",
    "AsyncProjectService",
    "AsyncTaskService",
    "AsyncWatch",
    "AsyncWorker",
    "Checkpoint",
    "Clock",
    "Gap",
    "Happened",
    "HeldLease",
    "HistoryService",
    "Holdfast",
    "HoldfastError",
    "Instant",
    "InvalidRequest",
    "LeaseLost",
    "LeaseService",
    "LockExpired",
    "LockRequired",
    "LockedByOther",
    "News",
    "ProjectService",
    "Refused",
    "Renewed",
    "RpcError",
    "Snapshot",
    "StaleLock",
    "Stopped",
    "SystemClock",
    "TaskService",
    "Violation",
    "Watch",
    "Worker",
    "WriteRejected",
    "__version__",
]
