"""Silica kept one memory for each persona; a migration brings along one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memory_v2.errors import UsageError


def one_persona(folder: Path, names: Sequence[str]) -> str:
    """The only one of these folders within `folder`, each ending in `/`; empty if there is none. Raises `UsageError`
    if there are several."""
    if len(names) > 1:
        raise UsageError(f"{folder} holds the memories of several personas: choose one of {', '.join(sorted(names))}")
    return names[0] if names else ""
