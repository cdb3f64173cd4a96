"""What was extracted of each note, kept with it, so that only what has changed is judged again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

from memory_v2.notes.cache import Judged, Kept
from memory_v2.progress import tell_progress

if TYPE_CHECKING:
    from memory_v2.notes.extract import Extracted
    from memory_v2.notes.note import Note

BATCH = 500
"""How many notes are judged before what was found is kept, so that a run that is stopped need not judge them again."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What the items of a note are by a label or a heading, by id, such as `("decisions", "marker")`; those that are
    over."""

    of_item: Mapping[str, Sequence[tuple[str, str]]]
    over: Collection[str]


NO_MARKS = Marks({}, ())


def judged_notes(kept: Kept, names: Collection[str] | None = None) -> Iterator[Extracted]:
    """Everything that is extracted of all notes, or of the named ones. Who is who is not known."""
    _judge(kept, names)
    for data in kept.judged(names):
        for row in json.loads(data):
            yield _read(row)


def marks_of(kept: Kept, names: Collection[str]) -> dict[str, Marks]:
    """The marks of some notes, by name."""
    _judge(kept, names)
    return {name: Marks(*json.loads(data)) for name, data in kept.marks(names)}


def _judge(kept: Kept, names: Collection[str] | None) -> None:
    new = kept.unjudged(names)
    for start in range(0, len(new), BATCH):
        kept.keep_judged(map(_judged, kept.notes(new[start : start + BATCH])))
        tell_progress("notes judged", min(start + BATCH, len(new)), len(new))


def _judged(note: Note) -> Judged:
    from memory_v2.notes.classify import is_struck, is_superseded
    from memory_v2.notes.extract import Extracted, extracted  # start-up that no run pays to whom nothing is new

    names = [one.name for one in fields(Extracted)]
    found = list(extracted(note))
    marks: dict[str, list[tuple[str, str]]] = {}
    for one in found:
        if one.grade != "keyword":
            marks.setdefault(one.item, []).append((one.category, one.grade))
    over = {one.item for one in found if one.is_closed and one.item in marks}
    over |= {item.id for item in note.items if item.is_prose and (is_struck(item) or is_superseded(item))}
    rows = [[getattr(one, name) for name in names] for one in found]
    return Judged(note.name, note.sha256, _json(rows), _json([marks, sorted(over)]))


def _json(value: Any) -> str:
    return json.dumps(value, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    """A day, or a reading, as `_read` takes it."""
    return value.isoformat() if isinstance(value, date) else astuple(value)


def _read(row: Sequence[Any]) -> Extracted:
    from memory_v2.notes.extract import Extracted
    from memory_v2.notes.measures import Reading

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
