import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from holdfast.v1 import guard_pb2 as _guard_pb2
from holdfast.v1 import task_pb2 as _task_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class PrincipalKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PRINCIPAL_KIND_UNSPECIFIED: _ClassVar[PrincipalKind]
    PRINCIPAL_KIND_AGENT: _ClassVar[PrincipalKind]
    PRINCIPAL_KIND_PERSON: _ClassVar[PrincipalKind]

class EventKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_KIND_UNSPECIFIED: _ClassVar[EventKind]
    EVENT_KIND_TASK_CREATED: _ClassVar[EventKind]
    EVENT_KIND_TASK_UPDATED: _ClassVar[EventKind]
    EVENT_KIND_TASK_READY: _ClassVar[EventKind]
    EVENT_KIND_TASK_COMPLETED: _ClassVar[EventKind]
    EVENT_KIND_TASK_DROPPED: _ClassVar[EventKind]
    EVENT_KIND_TASK_REOPENED: _ClassVar[EventKind]
    EVENT_KIND_TASK_QUARANTINED: _ClassVar[EventKind]
    EVENT_KIND_TASK_REQUEUED: _ClassVar[EventKind]
    EVENT_KIND_TASK_DELETED: _ClassVar[EventKind]
    EVENT_KIND_NOTE_ADDED: _ClassVar[EventKind]
    EVENT_KIND_DEPENDENCY_ADDED: _ClassVar[EventKind]
    EVENT_KIND_DEPENDENCY_REMOVED: _ClassVar[EventKind]
    EVENT_KIND_PLAN_CREATED: _ClassVar[EventKind]
    EVENT_KIND_PLAN_UPDATED: _ClassVar[EventKind]
    EVENT_KIND_LEASE_ACQUIRED: _ClassVar[EventKind]
    EVENT_KIND_LEASE_TAKEN_OVER: _ClassVar[EventKind]
    EVENT_KIND_LEASE_RELEASED: _ClassVar[EventKind]
    EVENT_KIND_LEASE_EXPIRED: _ClassVar[EventKind]
    EVENT_KIND_LEASE_REVOKED: _ClassVar[EventKind]
    EVENT_KIND_ACQUIRE_REFUSED: _ClassVar[EventKind]
    EVENT_KIND_WRITE_WARNED: _ClassVar[EventKind]
    EVENT_KIND_WRITE_REJECTED: _ClassVar[EventKind]
    EVENT_KIND_WRITE_OVERRIDDEN: _ClassVar[EventKind]
    EVENT_KIND_EXECUTION_ENDED: _ClassVar[EventKind]
    EVENT_KIND_PROJECT_CREATED: _ClassVar[EventKind]
    EVENT_KIND_SETTINGS_CHANGED: _ClassVar[EventKind]
    EVENT_KIND_WEBHOOK_CREATED: _ClassVar[EventKind]
    EVENT_KIND_WEBHOOK_DELETED: _ClassVar[EventKind]
    EVENT_KIND_WEBHOOK_FAILED: _ClassVar[EventKind]
    EVENT_KIND_TOKEN_CREATED: _ClassVar[EventKind]
    EVENT_KIND_TOKEN_REVOKED: _ClassVar[EventKind]

class ReadyCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    READY_CAUSE_UNSPECIFIED: _ClassVar[ReadyCause]
    READY_CAUSE_CREATED: _ClassVar[ReadyCause]
    READY_CAUSE_DEPENDENCY_MET: _ClassVar[ReadyCause]
    READY_CAUSE_DEPENDENCY_REMOVED: _ClassVar[ReadyCause]
    READY_CAUSE_RELEASED: _ClassVar[ReadyCause]
    READY_CAUSE_EXPIRED: _ClassVar[ReadyCause]
    READY_CAUSE_REVOKED: _ClassVar[ReadyCause]
    READY_CAUSE_REOPENED: _ClassVar[ReadyCause]
    READY_CAUSE_REQUEUED: _ClassVar[ReadyCause]

class LeaseEndCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEASE_END_CAUSE_UNSPECIFIED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_RELEASED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_COMPLETED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_DROPPED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_DELETED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_EXECUTION_ENDED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_EXPIRED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_FORCED: _ClassVar[LeaseEndCause]
    LEASE_END_CAUSE_CLOSED_BY_OTHER: _ClassVar[LeaseEndCause]

class HistoryOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    HISTORY_ORDER_UNSPECIFIED: _ClassVar[HistoryOrder]
    HISTORY_ORDER_OLDEST_FIRST: _ClassVar[HistoryOrder]
    HISTORY_ORDER_NEWEST_FIRST: _ClassVar[HistoryOrder]
PRINCIPAL_KIND_UNSPECIFIED: PrincipalKind
PRINCIPAL_KIND_AGENT: PrincipalKind
PRINCIPAL_KIND_PERSON: PrincipalKind
EVENT_KIND_UNSPECIFIED: EventKind
EVENT_KIND_TASK_CREATED: EventKind
EVENT_KIND_TASK_UPDATED: EventKind
EVENT_KIND_TASK_READY: EventKind
EVENT_KIND_TASK_COMPLETED: EventKind
EVENT_KIND_TASK_DROPPED: EventKind
EVENT_KIND_TASK_REOPENED: EventKind
EVENT_KIND_TASK_QUARANTINED: EventKind
EVENT_KIND_TASK_REQUEUED: EventKind
EVENT_KIND_TASK_DELETED: EventKind
EVENT_KIND_NOTE_ADDED: EventKind
EVENT_KIND_DEPENDENCY_ADDED: EventKind
EVENT_KIND_DEPENDENCY_REMOVED: EventKind
EVENT_KIND_PLAN_CREATED: EventKind
EVENT_KIND_PLAN_UPDATED: EventKind
EVENT_KIND_LEASE_ACQUIRED: EventKind
EVENT_KIND_LEASE_TAKEN_OVER: EventKind
EVENT_KIND_LEASE_RELEASED: EventKind
EVENT_KIND_LEASE_EXPIRED: EventKind
EVENT_KIND_LEASE_REVOKED: EventKind
EVENT_KIND_ACQUIRE_REFUSED: EventKind
EVENT_KIND_WRITE_WARNED: EventKind
EVENT_KIND_WRITE_REJECTED: EventKind
EVENT_KIND_WRITE_OVERRIDDEN: EventKind
EVENT_KIND_EXECUTION_ENDED: EventKind
EVENT_KIND_PROJECT_CREATED: EventKind
EVENT_KIND_SETTINGS_CHANGED: EventKind
EVENT_KIND_WEBHOOK_CREATED: EventKind
EVENT_KIND_WEBHOOK_DELETED: EventKind
EVENT_KIND_WEBHOOK_FAILED: EventKind
EVENT_KIND_TOKEN_CREATED: EventKind
EVENT_KIND_TOKEN_REVOKED: EventKind
READY_CAUSE_UNSPECIFIED: ReadyCause
READY_CAUSE_CREATED: ReadyCause
READY_CAUSE_DEPENDENCY_MET: ReadyCause
READY_CAUSE_DEPENDENCY_REMOVED: ReadyCause
READY_CAUSE_RELEASED: ReadyCause
READY_CAUSE_EXPIRED: ReadyCause
READY_CAUSE_REVOKED: ReadyCause
READY_CAUSE_REOPENED: ReadyCause
READY_CAUSE_REQUEUED: ReadyCause
LEASE_END_CAUSE_UNSPECIFIED: LeaseEndCause
LEASE_END_CAUSE_RELEASED: LeaseEndCause
LEASE_END_CAUSE_COMPLETED: LeaseEndCause
LEASE_END_CAUSE_DROPPED: LeaseEndCause
LEASE_END_CAUSE_DELETED: LeaseEndCause
LEASE_END_CAUSE_EXECUTION_ENDED: LeaseEndCause
LEASE_END_CAUSE_EXPIRED: LeaseEndCause
LEASE_END_CAUSE_FORCED: LeaseEndCause
LEASE_END_CAUSE_CLOSED_BY_OTHER: LeaseEndCause
HISTORY_ORDER_UNSPECIFIED: HistoryOrder
HISTORY_ORDER_OLDEST_FIRST: HistoryOrder
HISTORY_ORDER_NEWEST_FIRST: HistoryOrder

class Event(_message.Message):
    __slots__ = ("position", "kind", "at", "project", "task_id", "actor", "actor_kind", "execution_id", "fencing_token", "repeats", "task_created", "task_updated", "task_ready", "task_completed", "task_dropped", "task_reopened", "task_quarantined", "task_requeued", "task_deleted", "note_added", "dependency", "plan", "lease_granted", "lease_ended", "acquire_refused", "guarded_write", "execution_ended", "project_changed", "webhook", "token")
    POSITION_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    ACTOR_KIND_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    TASK_CREATED_FIELD_NUMBER: _ClassVar[int]
    TASK_UPDATED_FIELD_NUMBER: _ClassVar[int]
    TASK_READY_FIELD_NUMBER: _ClassVar[int]
    TASK_COMPLETED_FIELD_NUMBER: _ClassVar[int]
    TASK_DROPPED_FIELD_NUMBER: _ClassVar[int]
    TASK_REOPENED_FIELD_NUMBER: _ClassVar[int]
    TASK_QUARANTINED_FIELD_NUMBER: _ClassVar[int]
    TASK_REQUEUED_FIELD_NUMBER: _ClassVar[int]
    TASK_DELETED_FIELD_NUMBER: _ClassVar[int]
    NOTE_ADDED_FIELD_NUMBER: _ClassVar[int]
    DEPENDENCY_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    LEASE_GRANTED_FIELD_NUMBER: _ClassVar[int]
    LEASE_ENDED_FIELD_NUMBER: _ClassVar[int]
    ACQUIRE_REFUSED_FIELD_NUMBER: _ClassVar[int]
    GUARDED_WRITE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ENDED_FIELD_NUMBER: _ClassVar[int]
    PROJECT_CHANGED_FIELD_NUMBER: _ClassVar[int]
    WEBHOOK_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    position: int
    kind: EventKind
    at: _timestamp_pb2.Timestamp
    project: str
    task_id: str
    actor: str
    actor_kind: PrincipalKind
    execution_id: str
    fencing_token: int
    repeats: int
    task_created: TaskCreated
    task_updated: TaskUpdated
    task_ready: TaskReady
    task_completed: TaskCompleted
    task_dropped: TaskDropped
    task_reopened: TaskReopened
    task_quarantined: TaskQuarantined
    task_requeued: TaskRequeued
    task_deleted: TaskDeleted
    note_added: NoteAdded
    dependency: DependencyChanged
    plan: PlanChanged
    lease_granted: LeaseGranted
    lease_ended: LeaseEnded
    acquire_refused: AcquireRefused
    guarded_write: GuardedWrite
    execution_ended: ExecutionEnded
    project_changed: ProjectChanged
    webhook: WebhookChanged
    token: TokenChanged
    def __init__(self, position: _Optional[int] = ..., kind: _Optional[_Union[EventKind, str]] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., project: _Optional[str] = ..., task_id: _Optional[str] = ..., actor: _Optional[str] = ..., actor_kind: _Optional[_Union[PrincipalKind, str]] = ..., execution_id: _Optional[str] = ..., fencing_token: _Optional[int] = ..., repeats: _Optional[int] = ..., task_created: _Optional[_Union[TaskCreated, _Mapping[str, object]]] = ..., task_updated: _Optional[_Union[TaskUpdated, _Mapping[str, object]]] = ..., task_ready: _Optional[_Union[TaskReady, _Mapping[str, object]]] = ..., task_completed: _Optional[_Union[TaskCompleted, _Mapping[str, object]]] = ..., task_dropped: _Optional[_Union[TaskDropped, _Mapping[str, object]]] = ..., task_reopened: _Optional[_Union[TaskReopened, _Mapping[str, object]]] = ..., task_quarantined: _Optional[_Union[TaskQuarantined, _Mapping[str, object]]] = ..., task_requeued: _Optional[_Union[TaskRequeued, _Mapping[str, object]]] = ..., task_deleted: _Optional[_Union[TaskDeleted, _Mapping[str, object]]] = ..., note_added: _Optional[_Union[NoteAdded, _Mapping[str, object]]] = ..., dependency: _Optional[_Union[DependencyChanged, _Mapping[str, object]]] = ..., plan: _Optional[_Union[PlanChanged, _Mapping[str, object]]] = ..., lease_granted: _Optional[_Union[LeaseGranted, _Mapping[str, object]]] = ..., lease_ended: _Optional[_Union[LeaseEnded, _Mapping[str, object]]] = ..., acquire_refused: _Optional[_Union[AcquireRefused, _Mapping[str, object]]] = ..., guarded_write: _Optional[_Union[GuardedWrite, _Mapping[str, object]]] = ..., execution_ended: _Optional[_Union[ExecutionEnded, _Mapping[str, object]]] = ..., project_changed: _Optional[_Union[ProjectChanged, _Mapping[str, object]]] = ..., webhook: _Optional[_Union[WebhookChanged, _Mapping[str, object]]] = ..., token: _Optional[_Union[TokenChanged, _Mapping[str, object]]] = ...) -> None: ...

class FieldChange(_message.Message):
    __slots__ = ("field", "before", "after")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    field: str
    before: str
    after: str
    def __init__(self, field: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class TaskCreated(_message.Message):
    __slots__ = ("title", "status", "priority", "labels", "plan_id", "parent_id", "external_key", "blocked_by")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    title: str
    status: _task_pb2.TaskStatus
    priority: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    plan_id: str
    parent_id: str
    external_key: str
    blocked_by: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, title: _Optional[str] = ..., status: _Optional[_Union[_task_pb2.TaskStatus, str]] = ..., priority: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., plan_id: _Optional[str] = ..., parent_id: _Optional[str] = ..., external_key: _Optional[str] = ..., blocked_by: _Optional[_Iterable[str]] = ...) -> None: ...

class TaskUpdated(_message.Message):
    __slots__ = ("changes",)
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    changes: _containers.RepeatedCompositeFieldContainer[FieldChange]
    def __init__(self, changes: _Optional[_Iterable[_Union[FieldChange, _Mapping[str, object]]]] = ...) -> None: ...

class TaskReady(_message.Message):
    __slots__ = ("cause",)
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    cause: ReadyCause
    def __init__(self, cause: _Optional[_Union[ReadyCause, str]] = ...) -> None: ...

class TaskCompleted(_message.Message):
    __slots__ = ("result",)
    RESULT_FIELD_NUMBER: _ClassVar[int]
    result: str
    def __init__(self, result: _Optional[str] = ...) -> None: ...

class TaskDropped(_message.Message):
    __slots__ = ("reason", "still_blocked")
    REASON_FIELD_NUMBER: _ClassVar[int]
    STILL_BLOCKED_FIELD_NUMBER: _ClassVar[int]
    reason: str
    still_blocked: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., still_blocked: _Optional[_Iterable[str]] = ...) -> None: ...

class TaskReopened(_message.Message):
    __slots__ = ("reason", "previous_status", "blocked_again")
    REASON_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_STATUS_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_AGAIN_FIELD_NUMBER: _ClassVar[int]
    reason: str
    previous_status: _task_pb2.TaskStatus
    blocked_again: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, reason: _Optional[str] = ..., previous_status: _Optional[_Union[_task_pb2.TaskStatus, str]] = ..., blocked_again: _Optional[_Iterable[str]] = ...) -> None: ...

class TaskQuarantined(_message.Message):
    __slots__ = ("expiries",)
    EXPIRIES_FIELD_NUMBER: _ClassVar[int]
    expiries: int
    def __init__(self, expiries: _Optional[int] = ...) -> None: ...

class TaskRequeued(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class TaskDeleted(_message.Message):
    __slots__ = ("title", "external_key", "detached", "plan_id")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    DETACHED_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    title: str
    external_key: str
    detached: _containers.RepeatedScalarFieldContainer[str]
    plan_id: str
    def __init__(self, title: _Optional[str] = ..., external_key: _Optional[str] = ..., detached: _Optional[_Iterable[str]] = ..., plan_id: _Optional[str] = ...) -> None: ...

class NoteAdded(_message.Message):
    __slots__ = ("note_id", "text")
    NOTE_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    note_id: str
    text: str
    def __init__(self, note_id: _Optional[str] = ..., text: _Optional[str] = ...) -> None: ...

class DependencyChanged(_message.Message):
    __slots__ = ("blocked_by", "accept_dropped")
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_DROPPED_FIELD_NUMBER: _ClassVar[int]
    blocked_by: str
    accept_dropped: bool
    def __init__(self, blocked_by: _Optional[str] = ..., accept_dropped: bool = ...) -> None: ...

class PlanChanged(_message.Message):
    __slots__ = ("plan_id", "title", "changes")
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    plan_id: str
    title: str
    changes: _containers.RepeatedCompositeFieldContainer[FieldChange]
    def __init__(self, plan_id: _Optional[str] = ..., title: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[FieldChange, _Mapping[str, object]]]] = ...) -> None: ...

class LeaseGranted(_message.Message):
    __slots__ = ("holder", "expires_at", "ttl", "attempt", "previous_holder", "previous_end", "previous_fencing_token")
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    TTL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_HOLDER_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_END_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    holder: _guard_pb2.Holder
    expires_at: _timestamp_pb2.Timestamp
    ttl: _duration_pb2.Duration
    attempt: int
    previous_holder: _guard_pb2.Holder
    previous_end: _guard_pb2.LeaseState
    previous_fencing_token: int
    def __init__(self, holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., ttl: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., attempt: _Optional[int] = ..., previous_holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., previous_end: _Optional[_Union[_guard_pb2.LeaseState, str]] = ..., previous_fencing_token: _Optional[int] = ...) -> None: ...

class LeaseEnded(_message.Message):
    __slots__ = ("holder", "cause", "expires_at", "reason", "expiries_in_a_row", "last_note")
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EXPIRIES_IN_A_ROW_FIELD_NUMBER: _ClassVar[int]
    LAST_NOTE_FIELD_NUMBER: _ClassVar[int]
    holder: _guard_pb2.Holder
    cause: LeaseEndCause
    expires_at: _timestamp_pb2.Timestamp
    reason: str
    expiries_in_a_row: int
    last_note: str
    def __init__(self, holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., cause: _Optional[_Union[LeaseEndCause, str]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., reason: _Optional[str] = ..., expiries_in_a_row: _Optional[int] = ..., last_note: _Optional[str] = ...) -> None: ...

class AcquireRefused(_message.Message):
    __slots__ = ("reason", "holder")
    REASON_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    reason: str
    holder: _guard_pb2.Holder
    def __init__(self, reason: _Optional[str] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ...) -> None: ...

class GuardedWrite(_message.Message):
    __slots__ = ("rpc", "code", "holder", "proof_token", "override_reason", "kept_result")
    RPC_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    PROOF_TOKEN_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    KEPT_RESULT_FIELD_NUMBER: _ClassVar[int]
    rpc: str
    code: _guard_pb2.WriteCode
    holder: _guard_pb2.Holder
    proof_token: int
    override_reason: str
    kept_result: str
    def __init__(self, rpc: _Optional[str] = ..., code: _Optional[_Union[_guard_pb2.WriteCode, str]] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., proof_token: _Optional[int] = ..., override_reason: _Optional[str] = ..., kept_result: _Optional[str] = ...) -> None: ...

class ExecutionEnded(_message.Message):
    __slots__ = ("leases_released",)
    LEASES_RELEASED_FIELD_NUMBER: _ClassVar[int]
    leases_released: int
    def __init__(self, leases_released: _Optional[int] = ...) -> None: ...

class ProjectChanged(_message.Message):
    __slots__ = ("title", "changes")
    TITLE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    title: str
    changes: _containers.RepeatedCompositeFieldContainer[FieldChange]
    def __init__(self, title: _Optional[str] = ..., changes: _Optional[_Iterable[_Union[FieldChange, _Mapping[str, object]]]] = ...) -> None: ...

class WebhookChanged(_message.Message):
    __slots__ = ("webhook_id", "url", "error")
    WEBHOOK_ID_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    webhook_id: str
    url: str
    error: str
    def __init__(self, webhook_id: _Optional[str] = ..., url: _Optional[str] = ..., error: _Optional[str] = ...) -> None: ...

class TokenChanged(_message.Message):
    __slots__ = ("token_id", "principal", "kind", "role")
    TOKEN_ID_FIELD_NUMBER: _ClassVar[int]
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    token_id: str
    principal: str
    kind: PrincipalKind
    role: str
    def __init__(self, token_id: _Optional[str] = ..., principal: _Optional[str] = ..., kind: _Optional[_Union[PrincipalKind, str]] = ..., role: _Optional[str] = ...) -> None: ...

class ListHistoryRequest(_message.Message):
    __slots__ = ("project", "task_id", "actor", "execution_id", "kinds", "since", "until", "order", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    actor: str
    execution_id: str
    kinds: _containers.RepeatedScalarFieldContainer[EventKind]
    since: _timestamp_pb2.Timestamp
    until: _timestamp_pb2.Timestamp
    order: HistoryOrder
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., actor: _Optional[str] = ..., execution_id: _Optional[str] = ..., kinds: _Optional[_Iterable[_Union[EventKind, str]]] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., order: _Optional[_Union[HistoryOrder, str]] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListHistoryResponse(_message.Message):
    __slots__ = ("events", "next_page_token", "floor")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    FLOOR_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[Event]
    next_page_token: str
    floor: int
    def __init__(self, events: _Optional[_Iterable[_Union[Event, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ..., floor: _Optional[int] = ...) -> None: ...

class GetEnforcementReportRequest(_message.Message):
    __slots__ = ("project", "since")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    project: str
    since: _timestamp_pb2.Timestamp
    def __init__(self, project: _Optional[str] = ..., since: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ...) -> None: ...

class EnforcementCount(_message.Message):
    __slots__ = ("principal", "code", "rpc", "day", "writes")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    RPC_FIELD_NUMBER: _ClassVar[int]
    DAY_FIELD_NUMBER: _ClassVar[int]
    WRITES_FIELD_NUMBER: _ClassVar[int]
    principal: str
    code: _guard_pb2.WriteCode
    rpc: str
    day: str
    writes: int
    def __init__(self, principal: _Optional[str] = ..., code: _Optional[_Union[_guard_pb2.WriteCode, str]] = ..., rpc: _Optional[str] = ..., day: _Optional[str] = ..., writes: _Optional[int] = ...) -> None: ...

class GetEnforcementReportResponse(_message.Message):
    __slots__ = ("counts", "ready_to_enforce", "summary")
    COUNTS_FIELD_NUMBER: _ClassVar[int]
    READY_TO_ENFORCE_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    counts: _containers.RepeatedCompositeFieldContainer[EnforcementCount]
    ready_to_enforce: bool
    summary: str
    def __init__(self, counts: _Optional[_Iterable[_Union[EnforcementCount, _Mapping[str, object]]]] = ..., ready_to_enforce: bool = ..., summary: _Optional[str] = ...) -> None: ...

class Notification(_message.Message):
    __slots__ = ("id", "event", "acknowledged")
    ID_FIELD_NUMBER: _ClassVar[int]
    EVENT_FIELD_NUMBER: _ClassVar[int]
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    id: str
    event: Event
    acknowledged: bool
    def __init__(self, id: _Optional[str] = ..., event: _Optional[_Union[Event, _Mapping[str, object]]] = ..., acknowledged: bool = ...) -> None: ...

class ListNotificationsRequest(_message.Message):
    __slots__ = ("project", "include_acknowledged", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    INCLUDE_ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    include_acknowledged: bool
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., include_acknowledged: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListNotificationsResponse(_message.Message):
    __slots__ = ("notifications", "next_page_token")
    NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    notifications: _containers.RepeatedCompositeFieldContainer[Notification]
    next_page_token: str
    def __init__(self, notifications: _Optional[_Iterable[_Union[Notification, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class AcknowledgeNotificationsRequest(_message.Message):
    __slots__ = ("project", "ids")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    IDS_FIELD_NUMBER: _ClassVar[int]
    project: str
    ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project: _Optional[str] = ..., ids: _Optional[_Iterable[str]] = ...) -> None: ...

class AcknowledgeNotificationsResponse(_message.Message):
    __slots__ = ("acknowledged",)
    ACKNOWLEDGED_FIELD_NUMBER: _ClassVar[int]
    acknowledged: int
    def __init__(self, acknowledged: _Optional[int] = ...) -> None: ...
