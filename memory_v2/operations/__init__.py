"""What is done: the operations on pages and their history. A module is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_v2.lazy import submodules

if TYPE_CHECKING:
    from memory_v2.operations import (
        arrange,
        commit,
        context,
        dry_run,
        exact,
        forget,
        history,
        imports,
        overgrown,
        read,
        recovery,
        replay,
        search_request,
        session_start,
        similar,
        survey,
        write,
    )
else:
    __getattr__ = submodules(__name__)
