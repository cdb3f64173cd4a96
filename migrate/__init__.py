"""Bringing along what people have: readers of older memories and of notes, the plan, the run, the report; and taking a
memory out. A module is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_v2.lazy import submodules

if TYPE_CHECKING:
    from memory_v2.migrate import (
        edited,
        export,
        ledger,
        older,
        planning,
        readers,
        render_report,
        report,
        run,
        verify,
    )
else:
    __getattr__ = submodules(__name__)
