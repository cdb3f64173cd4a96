"""What notes hold of contacts, decisions, lessons, metrics, issues and pending matters: found, and not rewritten.

An item is quoted to the letter, so `no` and `not` stay where they are. Of items that say the same, the newest one of
the surest grade is told, with the places of the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from memory_v2.notes.cache import NotesCache
from memory_v2.notes.classify import GRADES, Grade, classified, is_closed, is_foreign, is_template, named_in
from memory_v2.notes.languages import CATEGORIES, LONGEST, Category
from memory_v2.notes.measures import Reading, is_goal_or_rate, readings
from memory_v2.notes.note import Item, Note, is_within
from memory_v2.notes.people import NO_ALIASES, Aliases
from memory_v2.text.words import words
from memory_v2.tree.alike import alike


@dataclass(frozen=True, slots=True)
class Extracted:
    """An item with what it is, how sure that is, and the words that say so. `people` are those that it names and
    `readings` its numbers; `is_closed`: it was pending or a problem, and is done. `also` are other places that say the
    same."""

    id: str
    category: Category
    grade: Grade
    text: str
    file: str
    first_line: int
    last_line: int
    headings: tuple[str, ...]
    day: date | None
    by: str
    people: tuple[str, ...] = ()
    readings: tuple[Reading, ...] = ()
    is_closed: bool = False
    also: tuple[str, ...] = field(default=())

    @property
    def item(self) -> str:
        """The id of the item."""
        return self.id.rpartition("-")[0]

    @property
    def place(self) -> str:
        """Where it is: `memory/2026-02-09.md:12`."""
        return f"{self.file}:{self.first_line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which of what was extracted is wanted: days from `since` to `until`, a grade at least, what is closed too. With a
    first or a last day, what has no day is left out."""

    categories: Sequence[Category] = CATEGORIES
    since: date | None = None
    until: date | None = None
    min_grade: Grade = "heading"
    closed: bool = False

    def holds(self, one: Extracted) -> bool:
        """Whether this is wanted."""
        if one.category not in self.categories or GRADES.index(one.grade) > GRADES.index(self.min_grade):
            return False
        return (self.closed or not one.is_closed) and is_within(one.day, self.since, self.until)


def by_day(extracted: Extracted) -> tuple[date, str, int]:
    """What puts those that were extracted in the order of their days."""
    return extracted.day or date.min, extracted.file, extracted.first_line


SHORT = 8
"""How many words a line has at most that states a number without a label or heading that says so."""


def states_amount(one: Extracted) -> bool:
    """Whether a metric states how much there is: a label or a heading says so, or the line says nothing else."""
    if any(map(is_goal_or_rate, (one.text, *one.headings[-1:]))):
        return False
    return one.grade != "keyword" or (len(words(one.text)) <= SHORT and not one.text.rstrip().endswith(("?", "？")))


EVERYTHING = Wanted(min_grade="keyword", closed=True)


def extracted(note: Note, aliases: Aliases = NO_ALIASES) -> Iterator[Extracted]:
    """Everything that the items of a note are, whatever its grade, closed or not; one item may be several things."""
    if is_template(note.name):
        return
    for item in note.own_items:
        if not item.is_prose or len(item.text) > LONGEST or is_foreign(item.text):
            continue
        people = named_in(item, aliases)
        for category, (grade, by) in classified(item, note.name, people).items():
            yield extraction(item, note.name, category, grade, by, people)


def extracted_in(
    cache: NotesCache, names: Collection[str] | None = None, aliases: Aliases = NO_ALIASES
) -> Iterator[Extracted]:
    """Everything in all notes, or in the named ones, by name. Without aliases, it is kept with each note."""
    if aliases is not NO_ALIASES:
        return (one for note in cache.notes(names) for one in extracted(note, aliases))
    return cache.results("extracted", Extracted, lambda note: list(extracted(note)), names)


def extraction(item: Item, name: str, category: Category, grade: Grade, by: str, people: Sequence[str]) -> Extracted:
    """An item of a note as what it is."""
    place = (name, item.first_line, item.last_line, item.headings, item.day)
    named = tuple(people) if category == "contacts" else ()
    numbers = tuple(readings(item.text, grade != "keyword")) if category == "metrics" else ()
    closed = category in ("pending", "issues") and is_closed(item)
    return Extracted(f"{item.id}-{category[0]}", category, grade, item.text, *place, by, named, numbers, closed)


def collected(extracted: Iterable[Extracted], wanted: Wanted) -> list[Extracted]:
    """What is wanted: by category, the newest first. What says the same is there once."""
    matching = sorted(filter(wanted.holds, extracted), key=_order)
    by_category = ([one for one in matching if one.category == category] for category in CATEGORIES)
    return [one for same in by_category for one in _once(same)]


def _order(one: Extracted) -> tuple[object, ...]:
    newest_first = -one.day.toordinal() if one.day else 0
    return (CATEGORIES.index(one.category), newest_first, GRADES.index(one.grade), one.file, one.first_line)


def _once(same: Sequence[Extracted]) -> list[Extracted]:
    """These without those that say what one before them says; it tells their places."""
    again: dict[int, list[int]] = {}
    for group in alike([one.text for one in same], least_share=ALIKE):
        again[group.members[0]] = list(group.members[1:])
    left_out = {number for members in again.values() for number in members}
    return [
        replace(one, also=tuple(same[other].place for other in again.get(number, ())))
        for number, one in enumerate(same)
        if number not in left_out
    ]


ALIKE = 0.7
"""How much of their words two items share at least that are told as one."""
CHANNEL = "notes"
"""How they came into the memory."""
CONFIDENCE: Mapping[Grade, float] = {"marker": 0.9, "heading": 0.7, "keyword": 0.5}
"""How sure it is that an item is what it was extracted as."""


def observations(found: Iterable[Extracted], stored: Collection[str]) -> Iterator[dict[str, Any]]:
    """The arguments with which each item is captured, unless its location is among those `stored`. The location has the
    item's id, so it stays the same when lines above it change."""
    items: dict[str, list[Extracted]] = {}
    for one in found:
        items.setdefault(one.item, []).append(one)
    for same in items.values():
        best = min(same, key=lambda one: GRADES.index(one.grade))
        location = f"{best.file}#{best.item}"
        if location not in stored:
            yield {
                "text": best.text,
                "kind": best.category,
                "tags": sorted({one.category for one in same}),
                "confidence": CONFIDENCE[best.grade],
                "channel": CHANNEL,
                "location": location,
                **({"date": best.day.isoformat()} if best.day else {}),
            }
