"""Calls over one gRPC channel, for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from random import random
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio

from holdfast._channel import OPTIONS, address_of, metadata_of
from holdfast._method import Method, Request, Response
from holdfast._retry import Attempts, add_request_id
from holdfast.errors import RpcError, rpc_error

if TYPE_CHECKING:
    from google.protobuf.message import Message


class AsyncConnection:
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
        self._address = address_of(url)
        self.execution_id = execution_id
        self._metadata = metadata_of(token)
        self._attempts = attempts
        self._root_certificates = root_certificates
        self._channel: grpc.aio.Channel | None = None
        self._closed = False
        self._callables: dict[str, Any] = {}

    async def unary(
        self,
        method: Method[Request, Response],
        request: Request,
        timeout: float | None = None,
        most_attempts: float | None = None,
    ) -> Response:
        """Calls, again where that is safe.

        Args:
            timeout: Seconds for all attempts together.
            most_attempts: Instead of the connection's.

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
            try:
                return await self.once(method, request, attempts.timeout(time.monotonic()))
            except RpcError as error:
                pause = attempts.pause(error, random(), time.monotonic())
                if pause is None or self._closed:
                    raise
            await asyncio.sleep(pause)

    async def once(
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
        channel = self._open()
        if method.path not in self._callables:
            self._callables[method.path] = channel.unary_unary(
                method.path,
                request_serializer=_serialize,
                response_deserializer=method.response.FromString,
            )
        try:
            return await self._callables[method.path](
                request, timeout=timeout, metadata=self._metadata, wait_for_ready=wait_for_ready
            )
        except grpc.RpcError as failure:
            raise rpc_error(failure) from None

    async def stream(
        self, method: Method[Request, Response], request: Request, timeout: float | None = None
    ) -> AsyncIterator[Response]:
        """Opens a stream. Iterating raises `RpcError` when it fails; `aclose` ends it."""
        channel = self._open()
        if method.path not in self._callables:
            self._callables[method.path] = channel.unary_stream(
                method.path,
                request_serializer=_serialize,
                response_deserializer=method.response.FromString,
            )
        call = self._callables[method.path](request, timeout=timeout, metadata=self._metadata)
        try:
            async for message in call:
                yield message
        except grpc.RpcError as failure:
            raise rpc_error(failure) from None
        finally:
            call.cancel()

    async def close(self) -> None:
        """Ends the connection, and with it every call that is under way."""
        self._closed = True
        if self._channel:
            await self._channel.close()

    # Only once there is a loop: a channel belongs to the one that runs when it is made.
    def _open(self) -> grpc.aio.Channel:
        if self._closed:
            raise RpcError(grpc.StatusCode.CANCELLED, "the client is closed")
        if self._channel is None:
            target = self._address.target
            if self._address.encrypted:
                credentials = grpc.ssl_channel_credentials(self._root_certificates)
                self._channel = grpc.aio.secure_channel(target, credentials, OPTIONS)
            else:
                self._channel = grpc.aio.insecure_channel(target, OPTIONS)
        return self._channel


def _serialize(request: Message) -> bytes:
    return request.SerializeToString()
