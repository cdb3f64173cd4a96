"""Archiving daily logs: the plan of what is moved, and moving it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

from memory_v2.errors import StorageError, UsageError
from memory_v2.notes.archiving import ArchivePlan, Old, planned
from memory_v2.notes.audit.auditing import Audit
from memory_v2.notes.judged import judged_notes
from memory_v2.notes.kept import Kept
from memory_v2.notes.links import places_in
from memory_v2.notes.moving import move
from memory_v2.text.calendar import days_before

CAPTURED = "captured"
"""The key under which is noted what was captured as entries of a memory: the ids of what was extracted."""
LOCK_SECONDS = 10
"""Seconds to wait for another run that moves files: to move thousands takes less."""


def archive_plan(
    folder: Path, kept: Kept, audit: Audit, today: date, older_than: int, force: bool = False
) -> ArchivePlan:
    """The logs that are more than so many days old. Raises `UsageError`."""
    if older_than < 0:
        raise UsageError(f"a log is at least 0 days old, not {older_than}")
    if (folder / ".metadata").is_dir():
        raise UsageError(f"{folder} is a memory, whose pages have their places; its entries are archived by 'age'")
    notes, captured = list(kept.notes()), set(json.loads(kept.told(CAPTURED) or "[]"))
    findings = [one for one in audit.findings if one.about not in captured]
    extracted = [one for one in judged_notes(kept) if one.id not in captured or one.category != "pending"]
    old = Old(folder, notes, extracted, findings, places_in(folder, notes))
    return planned(old, days_before(today, older_than), force)


def apply_plan(folder: Path, plan: ArchivePlan) -> ArchivePlan:
    """Moves the logs of a plan. Raises `StorageConflict`, `StorageError`."""
    if plan.moves:
        move(folder, [(one.file, one.to) for one in plan.moves])
    return replace(plan, applied=True)


@contextmanager
def alone(cache: Path | None) -> Iterator[None]:
    """Keeps other runs from moving files of the same folder. Raises `StorageError` if one does for long."""
    if cache is None:
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(cache / "archive.lock", timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout as error:
        raise StorageError("another run is moving files of these notes; try again") from error
    try:
        yield
    finally:
        lock.release()
