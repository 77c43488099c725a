import datetime

from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from holdfast.v1 import guard_pb2 as _guard_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class TaskStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TASK_STATUS_UNSPECIFIED: _ClassVar[TaskStatus]
    TASK_STATUS_OPEN: _ClassVar[TaskStatus]
    TASK_STATUS_IN_PROGRESS: _ClassVar[TaskStatus]
    TASK_STATUS_DONE: _ClassVar[TaskStatus]
    TASK_STATUS_DROPPED: _ClassVar[TaskStatus]
    TASK_STATUS_QUARANTINED: _ClassVar[TaskStatus]

class ImportAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IMPORT_ACTION_UNSPECIFIED: _ClassVar[ImportAction]
    IMPORT_ACTION_CREATED: _ClassVar[ImportAction]
    IMPORT_ACTION_UPDATED: _ClassVar[ImportAction]
    IMPORT_ACTION_UNCHANGED: _ClassVar[ImportAction]
    IMPORT_ACTION_FAILED: _ClassVar[ImportAction]
    IMPORT_ACTION_SKIPPED: _ClassVar[ImportAction]
TASK_STATUS_UNSPECIFIED: TaskStatus
TASK_STATUS_OPEN: TaskStatus
TASK_STATUS_IN_PROGRESS: TaskStatus
TASK_STATUS_DONE: TaskStatus
TASK_STATUS_DROPPED: TaskStatus
TASK_STATUS_QUARANTINED: TaskStatus
IMPORT_ACTION_UNSPECIFIED: ImportAction
IMPORT_ACTION_CREATED: ImportAction
IMPORT_ACTION_UPDATED: ImportAction
IMPORT_ACTION_UNCHANGED: ImportAction
IMPORT_ACTION_FAILED: ImportAction
IMPORT_ACTION_SKIPPED: ImportAction

class Task(_message.Message):
    __slots__ = ("id", "project", "title", "body", "status", "priority", "labels", "plan_id", "plan_order", "blocked_by", "parent_id", "external_key", "assignee", "unmet_dependencies", "fencing_token", "holder", "lease_expires_at", "attempt", "expiries_in_a_row", "result", "etag", "created_at", "created_by", "updated_at", "closed_at", "closed_by")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_ORDER_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    LEASE_EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    EXPIRIES_IN_A_ROW_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    CLOSED_AT_FIELD_NUMBER: _ClassVar[int]
    CLOSED_BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    project: str
    title: str
    body: str
    status: TaskStatus
    priority: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    plan_id: str
    plan_order: int
    blocked_by: _containers.RepeatedScalarFieldContainer[str]
    parent_id: str
    external_key: str
    assignee: str
    unmet_dependencies: int
    fencing_token: int
    holder: _guard_pb2.Holder
    lease_expires_at: _timestamp_pb2.Timestamp
    attempt: int
    expiries_in_a_row: int
    result: str
    etag: str
    created_at: _timestamp_pb2.Timestamp
    created_by: str
    updated_at: _timestamp_pb2.Timestamp
    closed_at: _timestamp_pb2.Timestamp
    closed_by: str
    def __init__(self, id: _Optional[str] = ..., project: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., priority: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., plan_id: _Optional[str] = ..., plan_order: _Optional[int] = ..., blocked_by: _Optional[_Iterable[str]] = ..., parent_id: _Optional[str] = ..., external_key: _Optional[str] = ..., assignee: _Optional[str] = ..., unmet_dependencies: _Optional[int] = ..., fencing_token: _Optional[int] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., lease_expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., attempt: _Optional[int] = ..., expiries_in_a_row: _Optional[int] = ..., result: _Optional[str] = ..., etag: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., created_by: _Optional[str] = ..., updated_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., closed_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., closed_by: _Optional[str] = ...) -> None: ...

class Note(_message.Message):
    __slots__ = ("id", "author", "execution_id", "text", "created_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    author: str
    execution_id: str
    text: str
    created_at: _timestamp_pb2.Timestamp
    def __init__(self, id: _Optional[str] = ..., author: _Optional[str] = ..., execution_id: _Optional[str] = ..., text: _Optional[str] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ...) -> None: ...

class UnmetDependency(_message.Message):
    __slots__ = ("task_id", "title", "status", "holder")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    title: str
    status: TaskStatus
    holder: _guard_pb2.Holder
    def __init__(self, task_id: _Optional[str] = ..., title: _Optional[str] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ...) -> None: ...

class Blocked(_message.Message):
    __slots__ = ("unmet_dependencies",)
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    unmet_dependencies: _containers.RepeatedCompositeFieldContainer[UnmetDependency]
    def __init__(self, unmet_dependencies: _Optional[_Iterable[_Union[UnmetDependency, _Mapping[str, object]]]] = ...) -> None: ...

class CreateTaskRequest(_message.Message):
    __slots__ = ("project", "title", "body", "priority", "labels", "plan_id", "blocked_by", "parent_id", "external_key", "assignee", "execution_id", "request_id", "proof", "override_reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    title: str
    body: str
    priority: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    plan_id: str
    blocked_by: _containers.RepeatedScalarFieldContainer[str]
    parent_id: str
    external_key: str
    assignee: str
    execution_id: str
    request_id: str
    proof: _guard_pb2.Proof
    override_reason: str
    def __init__(self, project: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., priority: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., plan_id: _Optional[str] = ..., blocked_by: _Optional[_Iterable[str]] = ..., parent_id: _Optional[str] = ..., external_key: _Optional[str] = ..., assignee: _Optional[str] = ..., execution_id: _Optional[str] = ..., request_id: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., override_reason: _Optional[str] = ...) -> None: ...

class CreateTaskResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: Task
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ...) -> None: ...

class GetTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "external_key")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    external_key: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., external_key: _Optional[str] = ...) -> None: ...

class GetTaskResponse(_message.Message):
    __slots__ = ("task", "notes", "unmet_dependencies")
    TASK_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    task: Task
    notes: _containers.RepeatedCompositeFieldContainer[Note]
    unmet_dependencies: _containers.RepeatedCompositeFieldContainer[UnmetDependency]
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ..., notes: _Optional[_Iterable[_Union[Note, _Mapping[str, object]]]] = ..., unmet_dependencies: _Optional[_Iterable[_Union[UnmetDependency, _Mapping[str, object]]]] = ...) -> None: ...

class ListTasksRequest(_message.Message):
    __slots__ = ("project", "statuses", "plan_id", "labels", "assignee", "holder", "parent_id", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    STATUSES_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    PARENT_ID_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    statuses: _containers.RepeatedScalarFieldContainer[TaskStatus]
    plan_id: str
    labels: _containers.RepeatedScalarFieldContainer[str]
    assignee: str
    holder: str
    parent_id: str
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., statuses: _Optional[_Iterable[_Union[TaskStatus, str]]] = ..., plan_id: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ..., assignee: _Optional[str] = ..., holder: _Optional[str] = ..., parent_id: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListTasksResponse(_message.Message):
    __slots__ = ("tasks", "next_page_token")
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[Task]
    next_page_token: str
    def __init__(self, tasks: _Optional[_Iterable[_Union[Task, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListReadyTasksRequest(_message.Message):
    __slots__ = ("project", "plan_id", "labels", "assignee", "explain", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    EXPLAIN_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    plan_id: str
    labels: _containers.RepeatedScalarFieldContainer[str]
    assignee: str
    explain: bool
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., plan_id: _Optional[str] = ..., labels: _Optional[_Iterable[str]] = ..., assignee: _Optional[str] = ..., explain: bool = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListReadyTasksResponse(_message.Message):
    __slots__ = ("tasks", "not_ready", "next_page_token")
    TASKS_FIELD_NUMBER: _ClassVar[int]
    NOT_READY_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    tasks: _containers.RepeatedCompositeFieldContainer[Task]
    not_ready: _containers.RepeatedCompositeFieldContainer[NotReady]
    next_page_token: str
    def __init__(self, tasks: _Optional[_Iterable[_Union[Task, _Mapping[str, object]]]] = ..., not_ready: _Optional[_Iterable[_Union[NotReady, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class NotReady(_message.Message):
    __slots__ = ("task_id", "title", "reason", "unmet_dependencies", "holder", "expires_at")
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    task_id: str
    title: str
    reason: str
    unmet_dependencies: _containers.RepeatedCompositeFieldContainer[UnmetDependency]
    holder: _guard_pb2.Holder
    expires_at: _timestamp_pb2.Timestamp
    def __init__(self, task_id: _Optional[str] = ..., title: _Optional[str] = ..., reason: _Optional[str] = ..., unmet_dependencies: _Optional[_Iterable[_Union[UnmetDependency, _Mapping[str, object]]]] = ..., holder: _Optional[_Union[_guard_pb2.Holder, _Mapping[str, object]]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ...) -> None: ...

class UpdateTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "title", "body", "priority", "labels", "assignee", "update_mask", "etag", "proof", "execution_id", "override_reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ETAG_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    title: str
    body: str
    priority: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    assignee: str
    update_mask: _field_mask_pb2.FieldMask
    etag: str
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., priority: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., assignee: _Optional[str] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping[str, object]]] = ..., etag: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ...) -> None: ...

class UpdateTaskResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: Task
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ...) -> None: ...

class AddNoteRequest(_message.Message):
    __slots__ = ("project", "task_id", "text", "proof", "execution_id", "override_reason", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    text: str
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    request_id: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., text: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class AddNoteResponse(_message.Message):
    __slots__ = ("note", "task")
    NOTE_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    note: Note
    task: Task
    def __init__(self, note: _Optional[_Union[Note, _Mapping[str, object]]] = ..., task: _Optional[_Union[Task, _Mapping[str, object]]] = ...) -> None: ...

class CompleteTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "result", "proof", "execution_id", "override_reason", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    result: str
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    request_id: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., result: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CompleteTaskResponse(_message.Message):
    __slots__ = ("task", "became_ready")
    TASK_FIELD_NUMBER: _ClassVar[int]
    BECAME_READY_FIELD_NUMBER: _ClassVar[int]
    task: Task
    became_ready: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ..., became_ready: _Optional[_Iterable[str]] = ...) -> None: ...

class DropTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "reason", "proof", "execution_id", "override_reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    reason: str
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., reason: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ...) -> None: ...

class DropTaskResponse(_message.Message):
    __slots__ = ("task", "still_blocked", "became_ready")
    TASK_FIELD_NUMBER: _ClassVar[int]
    STILL_BLOCKED_FIELD_NUMBER: _ClassVar[int]
    BECAME_READY_FIELD_NUMBER: _ClassVar[int]
    task: Task
    still_blocked: _containers.RepeatedScalarFieldContainer[str]
    became_ready: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ..., still_blocked: _Optional[_Iterable[str]] = ..., became_ready: _Optional[_Iterable[str]] = ...) -> None: ...

class ReopenTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "reason", "proof", "execution_id", "override_reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    reason: str
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., reason: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ...) -> None: ...

class ReopenTaskResponse(_message.Message):
    __slots__ = ("task", "blocked_again", "unmet_dependencies")
    TASK_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_AGAIN_FIELD_NUMBER: _ClassVar[int]
    UNMET_DEPENDENCIES_FIELD_NUMBER: _ClassVar[int]
    task: Task
    blocked_again: _containers.RepeatedScalarFieldContainer[str]
    unmet_dependencies: _containers.RepeatedCompositeFieldContainer[UnmetDependency]
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ..., blocked_again: _Optional[_Iterable[str]] = ..., unmet_dependencies: _Optional[_Iterable[_Union[UnmetDependency, _Mapping[str, object]]]] = ...) -> None: ...

class RequeueTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    reason: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RequeueTaskResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: Task
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ...) -> None: ...

class DeleteTaskRequest(_message.Message):
    __slots__ = ("project", "task_id", "detach", "proof", "execution_id", "override_reason")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    DETACH_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    detach: bool
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., detach: bool = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ...) -> None: ...

class DeleteTaskResponse(_message.Message):
    __slots__ = ("detached",)
    DETACHED_FIELD_NUMBER: _ClassVar[int]
    detached: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, detached: _Optional[_Iterable[str]] = ...) -> None: ...

class AddDependencyRequest(_message.Message):
    __slots__ = ("project", "task_id", "blocked_by", "accept_dropped", "proof", "execution_id", "override_reason", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    ACCEPT_DROPPED_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    blocked_by: str
    accept_dropped: bool
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    request_id: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., blocked_by: _Optional[str] = ..., accept_dropped: bool = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class AddDependencyResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: Task
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ...) -> None: ...

class RemoveDependencyRequest(_message.Message):
    __slots__ = ("project", "task_id", "blocked_by", "proof", "execution_id", "override_reason", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    PROOF_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    OVERRIDE_REASON_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    task_id: str
    blocked_by: str
    proof: _guard_pb2.Proof
    execution_id: str
    override_reason: str
    request_id: str
    def __init__(self, project: _Optional[str] = ..., task_id: _Optional[str] = ..., blocked_by: _Optional[str] = ..., proof: _Optional[_Union[_guard_pb2.Proof, _Mapping[str, object]]] = ..., execution_id: _Optional[str] = ..., override_reason: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class RemoveDependencyResponse(_message.Message):
    __slots__ = ("task",)
    TASK_FIELD_NUMBER: _ClassVar[int]
    task: Task
    def __init__(self, task: _Optional[_Union[Task, _Mapping[str, object]]] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ("id", "project", "title", "body", "external_key", "steps_done", "steps_total", "created_at", "created_by")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    STEPS_DONE_FIELD_NUMBER: _ClassVar[int]
    STEPS_TOTAL_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_BY_FIELD_NUMBER: _ClassVar[int]
    id: str
    project: str
    title: str
    body: str
    external_key: str
    steps_done: int
    steps_total: int
    created_at: _timestamp_pb2.Timestamp
    created_by: str
    def __init__(self, id: _Optional[str] = ..., project: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., external_key: _Optional[str] = ..., steps_done: _Optional[int] = ..., steps_total: _Optional[int] = ..., created_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., created_by: _Optional[str] = ...) -> None: ...

class CreatePlanRequest(_message.Message):
    __slots__ = ("project", "title", "body", "external_key", "execution_id", "request_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    title: str
    body: str
    external_key: str
    execution_id: str
    request_id: str
    def __init__(self, project: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., external_key: _Optional[str] = ..., execution_id: _Optional[str] = ..., request_id: _Optional[str] = ...) -> None: ...

class CreatePlanResponse(_message.Message):
    __slots__ = ("plan",)
    PLAN_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping[str, object]]] = ...) -> None: ...

class UpdatePlanRequest(_message.Message):
    __slots__ = ("project", "plan_id", "title", "body", "step_ids", "execution_id")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    STEP_IDS_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    project: str
    plan_id: str
    title: str
    body: str
    step_ids: _containers.RepeatedScalarFieldContainer[str]
    execution_id: str
    def __init__(self, project: _Optional[str] = ..., plan_id: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., step_ids: _Optional[_Iterable[str]] = ..., execution_id: _Optional[str] = ...) -> None: ...

class UpdatePlanResponse(_message.Message):
    __slots__ = ("plan",)
    PLAN_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping[str, object]]] = ...) -> None: ...

class GetPlanRequest(_message.Message):
    __slots__ = ("project", "plan_id", "external_key", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PLAN_ID_FIELD_NUMBER: _ClassVar[int]
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    plan_id: str
    external_key: str
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., plan_id: _Optional[str] = ..., external_key: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class GetPlanResponse(_message.Message):
    __slots__ = ("plan", "steps", "next_page_token")
    PLAN_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    plan: Plan
    steps: _containers.RepeatedCompositeFieldContainer[Task]
    next_page_token: str
    def __init__(self, plan: _Optional[_Union[Plan, _Mapping[str, object]]] = ..., steps: _Optional[_Iterable[_Union[Task, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ListPlansRequest(_message.Message):
    __slots__ = ("project", "page_size", "page_token")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    project: str
    page_size: int
    page_token: str
    def __init__(self, project: _Optional[str] = ..., page_size: _Optional[int] = ..., page_token: _Optional[str] = ...) -> None: ...

class ListPlansResponse(_message.Message):
    __slots__ = ("plans", "next_page_token")
    PLANS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    plans: _containers.RepeatedCompositeFieldContainer[Plan]
    next_page_token: str
    def __init__(self, plans: _Optional[_Iterable[_Union[Plan, _Mapping[str, object]]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class ImportedTask(_message.Message):
    __slots__ = ("external_key", "title", "body", "status", "priority", "labels", "blocked_by", "parent", "plan", "plan_title", "line", "result", "assignee")
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    PARENT_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PLAN_TITLE_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    ASSIGNEE_FIELD_NUMBER: _ClassVar[int]
    external_key: str
    title: str
    body: str
    status: TaskStatus
    priority: int
    labels: _containers.RepeatedScalarFieldContainer[str]
    blocked_by: _containers.RepeatedScalarFieldContainer[str]
    parent: str
    plan: str
    plan_title: str
    line: int
    result: str
    assignee: str
    def __init__(self, external_key: _Optional[str] = ..., title: _Optional[str] = ..., body: _Optional[str] = ..., status: _Optional[_Union[TaskStatus, str]] = ..., priority: _Optional[int] = ..., labels: _Optional[_Iterable[str]] = ..., blocked_by: _Optional[_Iterable[str]] = ..., parent: _Optional[str] = ..., plan: _Optional[str] = ..., plan_title: _Optional[str] = ..., line: _Optional[int] = ..., result: _Optional[str] = ..., assignee: _Optional[str] = ...) -> None: ...

class ImportTasksRequest(_message.Message):
    __slots__ = ("project", "tasks", "dry_run", "execution_id", "request_id", "allow_partial", "update_mask", "assumed_keys")
    PROJECT_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    ALLOW_PARTIAL_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    ASSUMED_KEYS_FIELD_NUMBER: _ClassVar[int]
    project: str
    tasks: _containers.RepeatedCompositeFieldContainer[ImportedTask]
    dry_run: bool
    execution_id: str
    request_id: str
    allow_partial: bool
    update_mask: _field_mask_pb2.FieldMask
    assumed_keys: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project: _Optional[str] = ..., tasks: _Optional[_Iterable[_Union[ImportedTask, _Mapping[str, object]]]] = ..., dry_run: bool = ..., execution_id: _Optional[str] = ..., request_id: _Optional[str] = ..., allow_partial: bool = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping[str, object]]] = ..., assumed_keys: _Optional[_Iterable[str]] = ...) -> None: ...

class ImportResult(_message.Message):
    __slots__ = ("external_key", "task_id", "action", "error", "line")
    EXTERNAL_KEY_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    external_key: str
    task_id: str
    action: ImportAction
    error: str
    line: int
    def __init__(self, external_key: _Optional[str] = ..., task_id: _Optional[str] = ..., action: _Optional[_Union[ImportAction, str]] = ..., error: _Optional[str] = ..., line: _Optional[int] = ...) -> None: ...

class ImportTasksResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ImportResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ImportResult, _Mapping[str, object]]]] = ...) -> None: ...
