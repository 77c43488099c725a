"""What the writes of a held lease carry."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from holdfast import v1
from holdfast._method import Method
from holdfast._services import COMPLETE_TASK, DELETE_TASK, DROP_TASK
from holdfast.errors import LockRequired, WriteRejected

# All attempts of one write together, in seconds.
WRITE = 300.0

# Giving back may not keep a program from ending: one attempt in seconds, and how many there are.
RELEASE = 5.0
RELEASE_ATTEMPTS = 3

# A worker's note of an error, in characters.
_LONGEST_NOTE = 1_000

_CLOSING = (COMPLETE_TASK.path, DROP_TASK.path, DELETE_TASK.path)


def is_closing(method: Method[Any, Any]) -> bool:
    """Whether the call ends the task's lease when it succeeds."""
    return method.path in _CLOSING


def prove(request: Message, task_id: str, project: str | None, proof: v1.Proof) -> bool:
    """Adds the project, and to a write of the held task its proof, where they are missing.

    Returns:
        whether the request writes the held task
    """
    fields = type(request).DESCRIPTOR.fields_by_name
    values: Any = request
    if "project" in fields and not values.project and project:
        values.project = project
    written = values.parent_id if "parent_id" in fields else getattr(values, "task_id", "")
    if "proof" not in fields or written != task_id:
        return False
    if not request.HasField("proof"):
        values.proof.CopyFrom(proof)
    return True


def tells_of_loss(error: BaseException) -> bool:
    """Whether a write's refusal shows that the lease is gone. One that lacked its proof shows nothing."""
    return isinstance(error, WriteRejected) and not isinstance(error, LockRequired)


def note_of(error: BaseException) -> str:
    """An error, as a note for the next holder."""
    return (str(error) or type(error).__name__)[:_LONGEST_NOTE]


def given(**changes: object) -> list[str]:
    """The names of what is not None."""
    return [name for name, value in changes.items() if value is not None]
