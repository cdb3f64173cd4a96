"""Entries: short, dated, append-only observations beside the pages. A module is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_v2.lazy import submodules

if TYPE_CHECKING:
    from memory_v2.entries import (
        capture,
        checking,
        checkpoints,
        consolidation,
        curation,
        daryl,
        domains,
        files,
        importing,
        reading,
        route_task,
        routing,
        searching,
        store,
        upkeep,
    )
else:
    __getattr__ = submodules(__name__)
