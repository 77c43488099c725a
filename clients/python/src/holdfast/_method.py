"""What the generated services are made of."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)


class Method(Generic[Request, Response]):
    """One RPC."""

    def __init__(self, path: str, request: type[Request], response: type[Response], *, only_reads: bool) -> None:
        self.path = path
        self.request = request
        self.response = response
        self.has_request_id = "request_id" in request.DESCRIPTOR.fields_by_name
        self.repeatable = only_reads or self.has_request_id
        """Whether sending it twice cannot do it twice."""


class Caller(Protocol):
    """Carries the calls of the services."""

    execution_id: str

    def unary(self, method: Method[Request, Response], request: Request, timeout: float | None = None) -> Response:
        """Calls, again where that is safe."""
        ...

    def stream(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> Iterator[Response]:
        """Opens a stream."""
        ...


class AsyncCaller(Protocol):
    """Carries the calls of the asynchronous services."""

    execution_id: str

    async def unary(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> Response:
        """Calls, again where that is safe."""
        ...

    def stream(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> AsyncIterator[Response]:
        """Opens a stream."""
        ...


def field_mask(paths: Iterable[str] | None) -> FieldMask | None:
    """The message that names these fields."""
    return None if paths is None else FieldMask(paths=paths)
