"""What the client says, as the scenarios have it."""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from holdfast import (
    Checkpoint,
    Gap,
    Happened,
    InvalidRequest,
    LeaseLost,
    News,
    Refused,
    Renewed,
    RpcError,
    Snapshot,
    WriteRejected,
    v1,
)


class WorkFailed(Exception):
    """The error that a scenario's work raises."""


def json_of(message: Message) -> Any:
    """A message in protobuf's JSON."""
    return MessageToDict(message)


def error_json(error: BaseException) -> Any:
    """An error; one that the scenarios do not know is raised."""
    match error:
        case WriteRejected():
            return {
                "type": type(error).__name__,
                "status": error.code.name,
                "code": v1.WriteCode.Name(error.rejection.code).removeprefix("WRITE_CODE_"),
                "taskId": error.task_id,
                "holder": json_of(error.holder) if error.holder else None,
                "expiresAt": error.expires_at and error.expires_at.isoformat(),
                "retryAfterMs": None if error.retry_after is None else error.retry_after * 1000,
                "fencingToken": str(error.fencing_token),
                "advice": error.advice,
            }
        case InvalidRequest():
            violations = [{"field": one.field, "description": one.description} for one in error.violations]
            return {"type": "InvalidRequest", "status": error.code.name, "violations": violations}
        case RpcError():
            return {"type": "RpcError", "status": error.code.name}
        case Refused():
            return {"type": "Refused", "reason": error.reason, "refusal": json_of(error.refusal)}
        case LeaseLost():
            return {"type": "LeaseLost", "kind": error.kind, "taskId": error.task_id}
        case WorkFailed():
            return {"type": "WorkFailed", "message": str(error)}
        case _:
            raise error


def news_json(news: News) -> dict[str, Any]:
    """What a watch told."""
    match news:
        case Snapshot():
            leases = [json_of(lease) for lease in news.leases]
            return {"kind": news.kind, "leases": leases, "resumeToken": news.resume_token}
        case Happened():
            return {"kind": news.kind, "event": json_of(news.event)}
        case Checkpoint():
            return {"kind": news.kind, "resumeToken": news.resume_token}
        case Renewed():
            return {"kind": news.kind, "leases": [json_of(lease) for lease in news.leases]}
        case Gap():
            return {"kind": news.kind, "reason": news.reason}
