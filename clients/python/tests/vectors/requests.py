"""How a scenario's request becomes the arguments of a method."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from google.protobuf.json_format import ParseDict

from holdfast import AsyncHoldfast, Holdfast, _services

_SERVICES = {
    "LeaseService": "leases",
    "TaskService": "tasks",
    "HistoryService": "history",
    "ProjectService": "projects",
}


def method_of(client: Holdfast | AsyncHoldfast, rpc: str) -> Callable[..., Any]:
    """The client's method for an RPC."""
    service, name = rpc.split("/")
    return getattr(getattr(client, _SERVICES[service]), _snake(name))


def arguments_of(rpc: str, request: dict[str, Any]) -> dict[str, Any]:
    """The request, with nothing added: where it names no execution, none is sent."""
    method = next(one for one in _services.METHODS if one.path == f"/holdfast.v1.{rpc}")
    message = ParseDict(request, method.request())
    arguments: dict[str, Any] = {field.name: value for field, value in message.ListFields()}
    if "update_mask" in arguments:
        arguments["update_mask"] = list(arguments["update_mask"].paths)
    if "execution_id" in method.request.DESCRIPTOR.fields_by_name:
        arguments.setdefault("execution_id", "")
    return arguments


def options_of(request: dict[str, Any]) -> dict[str, Any]:
    """A scenario's options of a watch."""
    arguments = arguments_of("LeaseService/WatchLeases", request)
    return {name: value for name, value in arguments.items() if value != ""}


def filter_of(request: dict[str, Any]) -> dict[str, Any]:
    """A scenario's filter of ready tasks."""
    return {_snake(name): value for name, value in request.items()}


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
