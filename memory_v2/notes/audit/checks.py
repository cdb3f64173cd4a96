"""All checks that look at a folder as a whole, in one list; `files.own` looks at each note by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memory_v2.notes.audit.ageing import stale, unfinished
from memory_v2.notes.audit.context import Material
from memory_v2.notes.audit.contradictions import differing, drift
from memory_v2.notes.audit.coverage import dark, missing
from memory_v2.notes.audit.duplicates import repeated
from memory_v2.notes.audit.files import budgets
from memory_v2.notes.audit.findings import Finding
from memory_v2.notes.audit.links import linking

CHECKS: tuple[Callable[[Material], Iterator[Finding]], ...] = (
    budgets,
    differing,
    repeated,
    drift,
    stale,
    unfinished,
    linking,
    missing,
    dark,
)
