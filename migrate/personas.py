"""Silica kept one memory for each persona; a migration brings along one of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memory_v2.errors import UsageError


def one_persona(folder: Path, found: Iterable[Path]) -> str:
    """The name within `folder` of the only folder that was found, ending in `/`; empty if there is none. Raises
    `UsageError` if there are several."""
    names = sorted(f"{path.relative_to(folder).as_posix()}/" for path in found)
    if len(names) > 1:
        raise UsageError(f"{folder} holds the memories of several personas: choose one of {', '.join(names)}")
    return names[0] if names else ""
