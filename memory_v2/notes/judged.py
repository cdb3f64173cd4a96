"""What was extracted of each note, kept with it, so that only what has changed is judged again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import astuple
from datetime import date
from typing import Any

from memory_v2.notes.extracting import Extracted, extracted
from memory_v2.notes.kept import Kept
from memory_v2.notes.measures import Reading
from memory_v2.progress import tell_progress

BATCH = 500
"""How many notes are judged before what was found is kept, so that a run that is stopped need not judge them again."""


def judged_notes(kept: Kept, names: Collection[str] | None = None) -> Iterator[tuple[str, list[Extracted]]]:
    """Everything that is extracted of all notes, or of the named ones, by name. Who is who is not known."""
    new = kept.unjudged(names)
    for start in range(0, len(new), BATCH):
        kept.keep_judged(_judged(kept, new[start : start + BATCH]))
        tell_progress("notes judged", min(start + BATCH, len(new)), len(new))
    for name, data in kept.judged(names):
        yield name, [_read(one) for one in json.loads(data)]


def _judged(kept: Kept, names: Collection[str]) -> list[tuple[str, str, str]]:
    return [(note.name, note.sha256, _written(extracted(note))) for note in kept.notes(names)]


def _written(found: Iterator[Extracted]) -> str:
    rows = [(*astuple(one)[:8], one.day and one.day.isoformat(), *astuple(one)[9:]) for one in found]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def _read(row: list[Any]) -> Extracted:
    id_, category, grade, text, file, first, last, headings, day, by, people, numbers, is_closed, also = row
    return Extracted(
        id_,
        category,
        grade,
        text,
        file,
        first,
        last,
        tuple(headings),
        date.fromisoformat(day) if day else None,
        by,
        tuple(people),
        tuple(Reading(*number) for number in numbers),
        is_closed,
        tuple(also),
    )
