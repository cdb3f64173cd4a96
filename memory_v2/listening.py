"""Listening on an address of this machine."""

from __future__ import annotations

import socket

from memory_v2.errors import InvalidSetting


def listen(host: str, port: int, backlog: int | None = None) -> socket.socket:
    """A socket that listens; port 0 is any free one. Raises `InvalidSetting` if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=backlog)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidSetting(f"cannot listen on {host}, port {port}: {reason}; choose another --port") from error
