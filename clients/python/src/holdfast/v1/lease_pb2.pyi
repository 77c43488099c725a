import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from holdfast.v1 import guard_pb2 as _guard_pb2
from holdfast.v1 import history_pb2 as _history_pb2
from holdfast.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RefusalReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFUSAL_REASON_UNSPECIFIED: _ClassVar[RefusalReason]
    REFUSAL_REASON_HELD: _ClassVar[RefusalReason]
    REFUSAL_REASON_DEPENDENCIES_UNMET: _ClassVar[RefusalReason]
    REFUSAL_REASON_TASK_CLOSED: _ClassVar[RefusalReason]
    REFUSAL_REASON_NOTHING_READY: _ClassVar[RefusalReason]
    REFUSAL_REASON_EXECUTION_ENDED: _ClassVar[RefusalReason]
    REFUSAL_REASON_LEASE_ENDED: _ClassVar[RefusalReason]
    REFUSAL_REASON_MAX_AGE_REACHED: _ClassVar[RefusalReason]

class WatchGapReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WATCH_GAP_REASON_UNSPECIFIED: _ClassVar[WatchGapReason]
    WATCH_GAP_REASON_COMPACTED: _ClassVar[WatchGapReason]
    WATCH_GAP_REASON_RESET: _ClassVar[WatchGapReason]
REFUSAL_REASON_UNSPECIFIED: RefusalReason
REFUSAL_REASON_HELD: RefusalReason
REFUSAL_REASON_DEPENDENCIES_UNMET: RefusalReason
REFUSAL_REASON_TASK_CLOSED: RefusalReason
REFUSAL_REASON_NOTHING_READY: RefusalReason
REFUSAL_REASON_EXECUTION_ENDED: RefusalReason
REFUSAL_REASON_LEASE_ENDED: RefusalReason
REFUSAL_REASON_MAX_AGE_REACHED: RefusalReason
WATCH_GAP_REASON_UNSPECIFIED: WatchGapReason
WATCH_GAP_REASON_COMPACTED: WatchGapReason
WATCH_GAP_REASON_RESET: WatchGapReason

class Lease(_message.Message):
    __slots__ = ("id", "task_id", "fencing_token", "holder", "state", "granted_at", "expires_at", "remaining", "ttl", "attempt", "ended_at", "ended_by", "end_reason")
    ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    GRANTED_AT_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_BY_FIELD_NUMBER: _ClassVar[int]
    END_REASON_FIELD_NUMBER: _ClassVar[int]
    id: str
    task_id: str
    fencing_token: int
    holder: _guard_pb2.Holder
    state: _guard_pb2.LeaseState
    granted_at: _timestamp_pb2.Timestamp
    expires_at: _timestamp_pb2.Timestamp
    remaining: _duration_pb2.Duration
    ttl: _duration_pb2.Duration
    attempt: int
    ended_at: _timestamp_pb2.Timestamp
    ended_by: str
    end_reason: str
    def __init__(self, id: _Optional[str] = ..., task_id: _Optional[str] = ..., fencing_token: _Optional[int] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., state: _Optional[_Union[_guard_pb2.LeaseState, str]] = ..., granted_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., remaining: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., attempt: _Optional[int] = ..., ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., ended_by: _Optional[str] = ..., end_reason: _Optional[str] = ...) -> None: ...

class AcquireLeaseRequest(_message.Message):
    __slots__ = ("project", "task_id", "execution_id", "ttl", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    execution_id: str
    ttl: _duration_pb2.Duration
    request_id: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., execution_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class AcquireLeaseResponse(_message.Message):
    __slots__ = ("grant", "refusal")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    grant: Grant
    refusal: Refusal
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping[str, object]]] = ..., refusal: _Optional[_Union[Refusal, _Mapping[str, object]]] = ...) -> None: ...

class Grant(_message.Message):
    __slots__ = ("lease", "renewed", "task", "continuation")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    RENEWED_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    CONTINUATION_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    renewed: bool
    task: _task_pb2.Task
    continuation: Continuation
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping[str, object]]] = ..., renewed: bool = ..., task: _Optional[_Union[_task_pb2.Task, _Mapping[str, object]]] = ..., continuation: _Optional[_Union[Continuation, _Mapping[str, object]]] = ...) -> None: ...

class Continuation(_message.Message):
    __slots__ = ("attempt", "previous_holder", "previous_end", "previous_ended_at", "notes", "dependency_results")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HOLDER_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_END_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCY_RESULTS_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    previous_holder: _guard_pb2.Holder
    previous_end: _guard_pb2.LeaseState
    previous_ended_at: _timestamp_pb2.Timestamp
    notes: _containers.RepeatedCompositeFieldContainer[_task_pb2.Note]
    dependency_results: _containers.RepeatedCompositeFieldContainer[DependencyResult]
    def __init__(self, attempt: _Optional[int] = ..., previous_holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., previous_end: _Optional[_Union[_guard_pb2.LeaseState, str]] = ..., previous_ended_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., notes: _Optional[_Iterable[_Union[_task_pb2.Note, _Mapping[str, object]]]] = ..., dependency_results: _Optional[_Iterable[_Union[DependencyResult, _Mapping[str, object]]]] = ...) -> None: ...

class DependencyResult(_message.Message):
    __slots__ = ("task_id", "title", "result", "truncated")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    title: str
    result: str
    truncated: bool
    def __init__(self, task_id: _Optional[str] = ..., title: _Optional[str] = ..., result: _Optional[str] = ..., truncated: bool = ...) -> None: ...

class Refusal(_message.Message):
    __slots__ = ("reason", "holder", "expires_at", "retry_after", "unmet_dependencies", "alternatives", "advice", "task_status", "ended_lease")
    REASON_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    TASK_STATUS_FIELD_NUMBER: _ClassVar[int]
    ENDED_LEASE_FIELD_NUMBER: _ClassVar[int]
    reason: RefusalReason
    holder: _guard_pb2.Holder
    expires_at: _timestamp_pb2.Timestamp
    retry_after: _duration_pb2.Duration
    unmet_dependencies: _containers.RepeatedCompositeFieldContainer[_task_pb2.UnmetDependency]
    alternatives: _containers.RepeatedCompositeFieldContainer[_task_pb2.Task]
    advice: str
    task_status: _task_pb2.TaskStatus
    ended_lease: Lease
    def __init__(self, reason: _Optional[_Union[RefusalReason, str]] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., unmet_dependencies: _Optional[_Iterable[_Union[_task_pb2.UnmetDependency, _Mapping[str, object]]]] = ..., alternatives: _Optional[_Iterable[_Union[_task_pb2.Task, _Mapping[str, object]]]] = ..., advice: _Optional[str] = ..., task_status: _Optional[_Union[_task_pb2.TaskStatus, str]] = ..., ended_lease: _Optional[_Union[Lease, _Mapping[str, object]]] = ...) -> None: ...

class AcquireNextTaskRequest(_message.Message):
    __slots__ = ("project", "execution_id", "ttl", "plan_id", "labels", "assignee", "wait", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    execution_id: str
    ttl: _duration_pb2.Duration
    plan_id: str
    labels: _containers.RepeatedScalarFieldContainer[str]
    assignee: str
    wait: _duration_pb2.Duration
    request_id: str
    def __init__(self, project: _Optional[str] = ..., execution_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., plan_id: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ..., assignee: _Optional[str] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., request_id: _Optional[str] = ...) -> None: ...

class AcquireNextTaskResponse(_message.Message):
    __slots__ = ("grant", "refusal")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    grant: Grant
    refusal: Refusal
    def __init__(self, grant: _Optional[_Union[Grant, _Mapping[str, object]]] = ..., refusal: _Optional[_Union[Refusal, _Mapping[str, object]]] = ...) -> None: ...

class RenewLeaseRequest(_message.Message):
    __slots__ = ("project", "lease_id", "fencing_token", "ttl", "progress")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_FIELD_NUMBER: _ClassVar[int]
    project: str
    lease_id: str
    fencing_token: int
    ttl: _duration_pb2.Duration
    progress: str
    def __init__(self, project: _Optional[str] = ..., lease_id: _Optional[str] = ..., fencing_token: _Optional[int] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., progress: _Optional[str] = ...) -> None: ...

class RenewLeaseResponse(_message.Message):
    __slots__ = ("lease", "dependencies_unmet")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCIES_UNMET_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    dependencies_unmet: _containers.RepeatedCompositeFieldContainer[_task_pb2.UnmetDependency]
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping[str, object]]] = ..., dependencies_unmet: _Optional[_Iterable[_Union[_task_pb2.UnmetDependency, _Mapping[str, object]]]] = ...) -> None: ...

class RenewExecutionRequest(_message.Message):
    __slots__ = ("project", "execution_id", "ttl")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    project: str
    execution_id: str
    ttl: _duration_pb2.Duration
    def __init__(self, project: _Optional[str] = ..., execution_id: _Optional[str] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...

class RenewExecutionResponse(_message.Message):
    __slots__ = ("renewed", "lost")
    RENEWED_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    renewed: _containers.RepeatedCompositeFieldContainer[Lease]
    lost: _containers.RepeatedCompositeFieldContainer[Lease]
    def __init__(self, renewed: _Optional[_Iterable[_Union[Lease, _Mapping[str, object]]]] = ..., lost: _Optional[_Iterable[_Union[Lease, _Mapping[str, object]]]] = ...) -> None: ...

class ReleaseLeaseRequest(_message.Message):
    __slots__ = ("project", "lease_id", "fencing_token", "note")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    NOTE_FIELD_NUMBER: _ClassVar[int]
    project: str
    lease_id: str
    fencing_token: int
    note: str
    def __init__(self, project: _Optional[str] = ..., lease_id: _Optional[str] = ..., fencing_token: _Optional[int] = ..., note: _Optional[str] = ...) -> None: ...

class ReleaseLeaseResponse(_message.Message):
    __slots__ = ("lease", "already_ended")
    LEASE_FIELD_NUMBER: _ClassVar[int]
    ALREADY_ENDED_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    already_ended: bool
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping[str, object]]] = ..., already_ended: bool = ...) -> None: ...

class EndExecutionRequest(_message.Message):
    __slots__ = ("project", "execution_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    execution_id: str
    def __init__(self, project: _Optional[str] = ..., execution_id: _Optional[str] = ...) -> None: ...

class EndExecutionResponse(_message.Message):
    __slots__ = ("released", "already_ended")
    RELEASED_FIELD_NUMBER: _ClassVar[int]
    ALREADY_ENDED_FIELD_NUMBER: _ClassVar[int]
    released: _containers.RepeatedCompositeFieldContainer[Lease]
    already_ended: bool
    def __init__(self, released: _Optional[_Iterable[_Union[Lease, _Mapping[str, object]]]] = ..., already_ended: bool = ...) -> None: ...

class ForceReleaseLeaseRequest(_message.Message):
    __slots__ = ("project", "task_id", "reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    reason: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class ForceReleaseLeaseResponse(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping[str, object]]] = ...) -> None: ...

class CheckLeaseRequest(_message.Message):
    __slots__ = ("project", "task_id", "proof", "execution_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    proof: _guard_pb2.Proof
    execution_id: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ...) -> None: ...

class CheckLeaseResponse(_message.Message):
    __slots__ = ("allowed", "rejection", "live", "remaining", "enforcement")
    ALLOWED_FIELD_NUMBER: _ClassVar[int]
    REJECTION_FIELD_NUMBER: _ClassVar[int]
    LIVE_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    ENFORCEMENT_FIELD_NUMBER: _ClassVar[int]
    allowed: bool
    rejection: _guard_pb2.WriteRejection
    live: bool
    remaining: _duration_pb2.Duration
    enforcement: _guard_pb2.Enforcement
    def __init__(self, allowed: bool = ..., rejection: _Optional[_Union[_guard_pb2.WriteRejection, _Mapping[str, object]]] = ..., live: bool = ..., remaining: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., enforcement: _Optional[_Union[_guard_pb2.Enforcement, str]] = ...) -> None: ...

class GetLeaseRequest(_message.Message):
    __slots__ = ("project", "lease_id", "task_id", "execution_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    lease_id: str
    task_id: str
    execution_id: str
    def __init__(self, project: _Optional[str] = ..., lease_id: _Optional[str] = ..., task_id: _Optional[str] = ..., execution_id: _Optional[str] = ...) -> None: ...

class GetLeaseResponse(_message.Message):
    __slots__ = ("lease",)
    LEASE_FIELD_NUMBER: _ClassVar[int]
    lease: Lease
    def __init__(self, lease: _Optional[_Union[Lease, _Mapping[str, object]]] = ...) -> None: ...

class ListLeasesRequest(_message.Message):
    __slots__ = ("project", "principal", "execution_id", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    principal: str
    execution_id: str
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., principal: _Optional[str] = ..., execution_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListLeasesResponse(_message.Message):
    __slots__ = ("leases", "next_page_token")
    LEASES_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[Lease]
    next_page_token: str
    def __init__(self, leases: _Optional[_Iterable[_Union[Lease, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class WatchLeasesRequest(_message.Message):
    __slots__ = ("project", "task_ids", "plan_id", "kinds", "principal", "execution_id", "resume_after")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_IDS_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    RESUME_AFTER_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_ids: _containers.RepeatedScalarFieldContainer[str]
    plan_id: str
    kinds: _containers.RepeatedScalarFieldContainer[_history_pb2.EventKind]
    principal: str
    execution_id: str
    resume_after: str
    def __init__(self, project: _Optional[str] = ..., task_ids: _Optional[_Iterable[str]] = ..., plan_id: _Optional[str] = ..., kinds: _Optional[_Iterable[_Union[_history_pb2.EventKind, str]]] = ..., principal: _Optional[str] = ..., execution_id: _Optional[str] = ..., resume_after: _Optional[str] = ...) -> None: ...

class WatchLeasesResponse(_message.Message):
    __slots__ = ("snapshot", "synced", "events", "checkpoint", "lease_state")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    SYNCED_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    LEASE_STATE_FIELD_NUMBER: _ClassVar[int]
    snapshot: WatchSnapshot
    synced: WatchSynced
    events: WatchEvents
    checkpoint: WatchCheckpoint
    lease_state: WatchLeaseState
    def __init__(self, snapshot: _Optional[_Union[WatchSnapshot, _Mapping[str, object]]] = ..., synced: _Optional[_Union[WatchSynced, _Mapping[str, object]]] = ..., events: _Optional[_Union[WatchEvents, _Mapping[str, object]]] = ..., checkpoint: _Optional[_Union[WatchCheckpoint, _Mapping[str, object]]] = ..., lease_state: _Optional[_Union[WatchLeaseState, _Mapping[str, object]]] = ...) -> None: ...

class WatchSnapshot(_message.Message):
    __slots__ = ("leases",)
    LEASES_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[Lease]
    def __init__(self, leases: _Optional[_Iterable[_Union[Lease, _Mapping[str, object]]]] = ...) -> None: ...

class WatchSynced(_message.Message):
    __slots__ = ("resume_token",)
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    def __init__(self, resume_token: _Optional[str] = ...) -> None: ...

class WatchEvents(_message.Message):
    __slots__ = ("events", "resume_token")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_history_pb2.Event]
    resume_token: str
    def __init__(self, events: _Optional[_Iterable[_Union[_history_pb2.Event, _Mapping[str, object]]]] = ..., resume_token: _Optional[str] = ...) -> None: ...

class WatchCheckpoint(_message.Message):
    __slots__ = ("resume_token",)
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    def __init__(self, resume_token: _Optional[str] = ...) -> None: ...

class WatchLeaseState(_message.Message):
    __slots__ = ("leases",)
    LEASES_FIELD_NUMBER: _ClassVar[int]
    leases: _containers.RepeatedCompositeFieldContainer[Lease]
    def __init__(self, leases: _Optional[_Iterable[_Union[Lease, _Mapping[str, object]]]] = ...) -> None: ...

class WatchGap(_message.Message):
    __slots__ = ("reason", "floor", "resume_token")
    REASON_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    reason: WatchGapReason
    floor: int
    resume_token: str
    def __init__(self, reason: _Optional[_Union[WatchGapReason, str]] = ..., floor: _Optional[int] = ..., resume_token: _Optional[str] = ...) -> None: ...

class WatchEnd(_message.Message):
    __slots__ = ("resume_token",)
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    def __init__(self, resume_token: _Optional[str] = ...) -> None: ...
