"""Calls over one gRPC channel, for threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from random import random
from typing import TYPE_CHECKING, Any, cast

import grpc

from holdfast._channel import OPTIONS, address_of, metadata_of
from holdfast._method import Method, Request, Response
from holdfast._retry import Attempts, add_request_id
from holdfast.errors import HoldfastError, RpcError, rpc_error

if TYPE_CHECKING:
    from google.protobuf.message import Message

# How often a call that may be stopped from another thread looks whether it was.
_LOOK_EVERY = 0.2


class Stopped(HoldfastError):
    """A wait was ended because the caller was told to stop."""


class Connection:
    """Carries calls. Connects at the first one, and again when the connection broke."""

    def __init__(
        self,
        url: str,
        token: str,
        execution_id: str,
        *,
        attempts: int,
        root_certificates: bytes | None,
    ) -> None:
        address = address_of(url)
        self.execution_id = execution_id
        self._metadata = metadata_of(token)
        self._attempts = attempts
        self._closed = threading.Event()
        if address.encrypted:
            credentials = grpc.ssl_channel_credentials(root_certificates)
            self._channel = grpc.secure_channel(address.target, credentials, OPTIONS)
        else:
            self._channel = grpc.insecure_channel(address.target, OPTIONS)
        self._callables: dict[str, Any] = {}

    def unary(
        self,
        method: Method[Request, Response],
        request: Request,
        timeout: float | None = None,
        stop: threading.Event | None = None,
        most_attempts: float | None = None,
    ) -> Response:
        """Calls, again where that is safe.

        Args:
            timeout: Seconds for all attempts together.
            most_attempts: Instead of the connection's.
            stop: Ends the call when it is set, with `Stopped`.

        Raises:
            RpcError: the call failed.
        """
        add_request_id(method, request)
        attempts = Attempts(
            method,
            request,
            most=most_attempts or self._attempts,
            timeout=timeout,
            now=time.monotonic(),
        )
        while True:
            limit = attempts.timeout(time.monotonic())
            try:
                if stop is None:
                    return self.once(method, request, limit)
                return self._until_stopped(method, request, limit, stop)
            except RpcError as error:
                pause = attempts.pause(error, random(), time.monotonic())
                if pause is None or self._closed.is_set():
                    raise
            (stop or self._closed).wait(pause)

    def once(
        self,
        method: Method[Request, Response],
        request: Request,
        timeout: float,
        *,
        wait_for_ready: bool = False,
    ) -> Response:
        """Calls one time.

        Args:
            timeout: Seconds.
            wait_for_ready: Wait for a connection that is being made instead of failing at once.

        Raises:
            RpcError: the call failed.
        """
        call = self._unary(method)
        try:
            return call(request, timeout=timeout, metadata=self._metadata, wait_for_ready=wait_for_ready)
        except grpc.RpcError as failure:
            raise rpc_error(failure) from None
        except ValueError as error:
            raise self._when_closed(error) from None

    def start(
        self,
        method: Method[Request, Response],
        request: Request,
        timeout: float,
        done: Callable[[Response | RpcError], None],
    ) -> Callable[[], object]:
        """Calls one time in the background.

        Args:
            timeout: Seconds.
            done: Told what came of it, on some thread, unless it was cancelled.

        Returns:
            cancels the call
        """
        try:
            future = self._unary(method).future(request, timeout=timeout, metadata=self._metadata)
        except ValueError as error:
            done(self._when_closed(error))
            return lambda: None

        def finished(future: grpc.Future[Response]) -> None:
            if future.cancelled():
                return
            try:
                answer: Response | RpcError = future.result()
            except grpc.RpcError as failure:
                answer = rpc_error(failure)
            done(answer)

        future.add_done_callback(finished)
        return cast("Callable[[], object]", future.cancel)

    def stream(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> ResponseStream[Response]:
        """Opens a stream. Iterating raises `RpcError` when it fails."""
        if method.path not in self._callables:
            self._callables[method.path] = self._channel.unary_stream(
                method.path,
                request_serializer=_serialize,
                response_deserializer=method.response.FromString,
            )
        try:
            call = self._callables[method.path](request, timeout=timeout, metadata=self._metadata)
        except ValueError as error:
            raise self._when_closed(error) from None
        return ResponseStream(call)

    def close(self) -> None:
        """Ends the connection, and with it every call that is under way."""
        self._closed.set()
        self._channel.close()

    def _until_stopped(
        self,
        method: Method[Request, Response],
        request: Request,
        timeout: float,
        stop: threading.Event,
    ) -> Response:
        if stop.is_set():
            raise Stopped("told to stop")
        answers: list[Response | RpcError] = []
        answered = threading.Event()

        def done(answer: Response | RpcError) -> None:
            answers.append(answer)
            answered.set()

        cancel = self.start(method, request, timeout, done)
        try:
            while not answered.wait(_LOOK_EVERY):
                if stop.is_set():
                    raise Stopped("told to stop")
        except BaseException:
            cancel()
            raise
        answer = answers[0]
        if isinstance(answer, RpcError):
            raise answer
        return answer

    def _unary(self, method: Method[Request, Response]) -> grpc.UnaryUnaryMultiCallable[Request, Response]:
        if method.path not in self._callables:
            self._callables[method.path] = self._channel.unary_unary(
                method.path,
                request_serializer=_serialize,
                response_deserializer=method.response.FromString,
            )
        return self._callables[method.path]

    def _when_closed(self, error: ValueError) -> RpcError:
        if not self._closed.is_set():
            raise error
        return RpcError(grpc.StatusCode.CANCELLED, "the client is closed")


class ResponseStream(Iterator[Response]):
    """The messages of one stream."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __next__(self) -> Response:
        """The next message.

        Raises:
            RpcError: the stream failed.
        """
        try:
            return next(self._call)
        except grpc.RpcError as failure:
            raise rpc_error(failure) from None

    def cancel(self) -> None:
        """Ends the stream, from any thread: iterating it raises then."""
        self._call.cancel()


def _serialize(request: Message) -> bytes:
    return request.SerializeToString()
