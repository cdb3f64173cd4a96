"""What the servers share: an address of this machine to listen on, and a collector of cycles that makes nobody wait."""

from __future__ import annotations

import gc
import socket

from memory_v2.errors import InvalidSetting

SERVING_THRESHOLD = 2_000
"""How many new objects there are before a server looks for garbage. A request leaves some thirty; to free those of
3,000 at once takes .1 s, in which all others wait."""


def listen(host: str, port: int, backlog: int | None = None) -> socket.socket:
    """A socket that listens; port 0 is any free one. Raises `InvalidSetting` if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host.strip("[]"), port), family=family, backlog=backlog)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidSetting(f"cannot listen on {host}, port {port}: {reason}; choose another --port") from error


def collect_often() -> None:
    """For a program that has started and serves from now on: what is there stays, and is not looked through again."""
    gc.freeze()
    gc.set_threshold(SERVING_THRESHOLD)
