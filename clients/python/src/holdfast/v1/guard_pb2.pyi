import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Enforcement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENFORCEMENT_UNSPECIFIED: _ClassVar[Enforcement]
    ENFORCEMENT_OFF: _ClassVar[Enforcement]
    ENFORCEMENT_WARN: _ClassVar[Enforcement]
    ENFORCEMENT_ENFORCE: _ClassVar[Enforcement]

class LeaseState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LEASE_STATE_UNSPECIFIED: _ClassVar[LeaseState]
    LEASE_STATE_ACTIVE: _ClassVar[LeaseState]
    LEASE_STATE_RELEASED: _ClassVar[LeaseState]
    LEASE_STATE_COMPLETED: _ClassVar[LeaseState]
    LEASE_STATE_EXPIRED: _ClassVar[LeaseState]
    LEASE_STATE_REVOKED: _ClassVar[LeaseState]

class WriteCode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WRITE_CODE_UNSPECIFIED: _ClassVar[WriteCode]
    WRITE_CODE_LOCK_REQUIRED: _ClassVar[WriteCode]
    WRITE_CODE_LOCK_EXPIRED: _ClassVar[WriteCode]
    WRITE_CODE_LOCKED_BY_OTHER: _ClassVar[WriteCode]
    WRITE_CODE_STALE_LOCK: _ClassVar[WriteCode]
ENFORCEMENT_UNSPECIFIED: Enforcement
ENFORCEMENT_OFF: Enforcement
ENFORCEMENT_WARN: Enforcement
ENFORCEMENT_ENFORCE: Enforcement
LEASE_STATE_UNSPECIFIED: LeaseState
LEASE_STATE_ACTIVE: LeaseState
LEASE_STATE_RELEASED: LeaseState
LEASE_STATE_COMPLETED: LeaseState
LEASE_STATE_EXPIRED: LeaseState
LEASE_STATE_REVOKED: LeaseState
WRITE_CODE_UNSPECIFIED: WriteCode
WRITE_CODE_LOCK_REQUIRED: WriteCode
WRITE_CODE_LOCK_EXPIRED: WriteCode
WRITE_CODE_LOCKED_BY_OTHER: WriteCode
WRITE_CODE_STALE_LOCK: WriteCode

class Holder(_message.Message):
    __slots__ = ("principal", "execution_id")
    PRINCIPAL_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_ID_FIELD_NUMBER: _ClassVar[int]
    principal: str
    execution_id: str
    def __init__(self, principal: _Optional[str] = ..., execution_id: _Optional[str] = ...) -> None: ...

class Proof(_message.Message):
    __slots__ = ("lease_id", "fencing_token")
    LEASE_ID_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    lease_id: str
    fencing_token: int
    def __init__(self, lease_id: _Optional[str] = ..., fencing_token: _Optional[int] = ...) -> None: ...

class WriteRejection(_message.Message):
    __slots__ = ("code", "task_id", "holder", "expires_at", "retry_after", "fencing_token", "advice")
    CODE_FIELD_NUMBER: _ClassVar[int]
    TASK_ID_FIELD_NUMBER: _ClassVar[int]
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ADVICE_FIELD_NUMBER: _ClassVar[int]
    code: WriteCode
    task_id: str
    holder: Holder
    expires_at: _timestamp_pb2.Timestamp
    retry_after: _duration_pb2.Duration
    fencing_token: int
    advice: str
    def __init__(self, code: _Optional[_Union[WriteCode, str]] = ..., task_id: _Optional[str] = ..., holder: _Optional[_Union[Holder, _Mapping[str, object]]] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping[str, object]]] = ..., retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ..., fencing_token: _Optional[int] = ..., advice: _Optional[str] = ...) -> None: ...

class FieldViolation(_message.Message):
    __slots__ = ("field", "description")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    field: str
    description: str
    def __init__(self, field: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class RetryAdvice(_message.Message):
    __slots__ = ("retry_after",)
    RETRY_AFTER_FIELD_NUMBER: _ClassVar[int]
    retry_after: _duration_pb2.Duration
    def __init__(self, retry_after: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping[str, object]]] = ...) -> None: ...
