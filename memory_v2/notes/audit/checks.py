"""All checks that look at a folder as a whole, in one list; `files.own` looks at each note by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memory_v2.notes.audit.ageing import stale, unfinished
from memory_v2.notes.audit.coverage import missing
from memory_v2.notes.audit.dark import dark
from memory_v2.notes.audit.differing import differing
from memory_v2.notes.audit.drift import drift
from memory_v2.notes.audit.files import budgets
from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.audit.linking import linking
from memory_v2.notes.audit.material import Material
from memory_v2.notes.audit.repeated import repeated

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
