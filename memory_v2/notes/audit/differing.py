"""Values that differ: under the same label of the same subject a lasting note says one thing, and another note another.

What changes from log to log is history: only what a lasting note says is held against the rest. Numbers of what is
counted are series, see `drift`.
"""

from __future__ import annotations

from collections.abc import Iterator

from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.audit.material import Material, is_index, is_log, stem_of
from memory_v2.notes.closing import is_closed
from memory_v2.notes.measures import readings
from memory_v2.notes.note import Item, Note
from memory_v2.text.contradictions import Said, Statement, contradictions, stated, subject_of
from memory_v2.text.words import normal


def differing(material: Material) -> Iterator[Finding]:
    """The values of lasting notes that another note contradicts."""
    lasting = {note.name for note in material.lasting}
    for found in contradictions(_said(material)):
        told = next((one for one in reversed(found.statements) if one.name in lasting), None)
        if told is None:
            continue
        other = next(one for one in found.statements if normal(one.value) != normal(told.value))
        if told.day and other.day and told.day > other.day:
            continue
        place = f"{other.name}:{other.line}"
        message = f"{found.label} of {found.subject} is {told.value} here, and {other.value} in {place}"
        about = normal(f"{found.subject} {found.label}")
        yield Finding("contradiction", told.name, told.line, message, about, (place,), other.day or told.day)


def _said(material: Material) -> Iterator[Said]:
    notes = (*material.lasting, *material.logs)
    names = {normal(stem_of(note.name)) for note in notes}
    names |= {normal(note.sections[0].heading) for note in notes if note.sections and note.sections[0].heading}
    subjects: dict[tuple[str, ...], str] = {}
    for note, item in material.said:
        for number, line in enumerate(item.text.split("\n"), item.first_line):
            if not (found := stated(line)) or is_closed(item) or readings(line, is_stated=False):
                continue
            above = _above(note, item)
            if above not in subjects:
                subjects[above] = subject_of(above, names)
            if subject := subjects[above]:
                yield Said(subject, found[0], Statement(note.name, number, found[1], item.day))


def _above(note: Note, item: Item) -> tuple[str, ...]:
    """The headings that name what an item is about. The title of an index names nothing; a lasting note without a title
    is about what its file is called."""
    titles = {section.heading for section in note.sections if section.level == 1}
    if is_index(note):
        headings = item.headings[1:] if item.headings[:1] and item.headings[0] in titles else item.headings
        return headings or (stem_of(note.name),)
    return item.headings if item.headings and (titles or is_log(note)) else (stem_of(note.name), *item.headings)
