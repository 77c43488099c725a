"""How a client reaches its server."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

VERSION = "0.1.0"

OPTIONS: list[tuple[str, int | str]] = [
    ("grpc.primary_user_agent", f"holdfast-python/{VERSION}"),
    # A half-open connection is noticed by unanswered pings; without them a call would hang until its timeout.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.max_pings_without_data", 0),
    # A server that was restarted is found again soon.
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 5_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    # What is sent again is decided in _retry.py alone.
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    # Each client has a connection of its own, so that closing it ends it.
    ("grpc.use_local_subchannel_pool", 1),
    # A page of tasks with long bodies is larger than gRPC's default of 4 MiB.
    ("grpc.max_receive_message_length", -1),
]


@dataclass(frozen=True)
class Address:
    """Where a server is."""

    target: str
    """As gRPC names it."""
    encrypted: bool


def address_of(url: str) -> Address:
    """Reads a server's URL.

    Raises:
        ValueError: it is none.
    """
    parts = urlsplit(url)
    try:
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (KeyError, ValueError):
        port = None
    if port is None or not parts.hostname or parts.path.strip("/") or parts.query or parts.username:
        raise ValueError(f"{url!r} is not a server's address; it looks like http://localhost:7420")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Address(f"dns:///{host}:{port}", parts.scheme == "https")


def metadata_of(token: str) -> tuple[tuple[str, str], ...]:
    """What is sent with each call.

    Raises:
        ValueError: the token has characters that none has. The message does not show it.
    """
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError("the token is not one of Holdfast's; it looks like hf_…")
    return (("authorization", f"Bearer {token}"),)
