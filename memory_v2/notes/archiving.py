"""Which daily logs are old enough for the archive, and which stay because something in the folder still needs them."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.extracting import Extracted
from memory_v2.notes.links import Link, Places, links
from memory_v2.notes.note import Note
from memory_v2.text.amounts import counted
from memory_v2.text.calendar import named_day
from memory_v2.tree.path import fold

ARCHIVE = "archive"
"""The folder beside a log into which it is moved."""
UNKEPT = "not-curated"
"""The code of the audit for a decision or lesson of a log that no lasting note has."""


@dataclass(frozen=True, slots=True)
class Move:
    """A log with its day, where it is moved to, and how many of its items are extracted."""

    file: str
    to: str
    day: date
    items: int


@dataclass(frozen=True, slots=True)
class Stay:
    """A log that is old enough and stays, with the reasons."""

    file: str
    day: date
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """The logs from before a day: those that are moved, and those that stay. `broken` are the links that a move breaks
    all the same, as it was forced. `applied` tells whether the files are moved."""

    before: date
    moves: tuple[Move, ...] = ()
    stays: tuple[Stay, ...] = ()
    broken: tuple[str, ...] = ()
    applied: bool = False


@dataclass(frozen=True, slots=True)
class Old:
    """What a plan is made of: the notes, what was extracted of them and not captured elsewhere, what the audit finds,
    and what their links lead to."""

    folder: Path
    notes: Sequence[Note]
    extracted: Sequence[Extracted]
    findings: Sequence[Finding]
    places: Places


def planned(old: Old, before: date, force: bool) -> ArchivePlan:
    """What is to be moved. If it is forced, only what is in the way of a log keeps it."""
    days = {note.name: day for note in old.notes if (day := _day(note.name)) and day < before}
    needed = {} if force else _needed(old)
    reasons = {name: [*_in_the_way(old.folder, name), *needed.get(name, ())] for name in days}
    moves = {name: archived(name) for name in days if not reasons[name]}
    broken = list(_broken(old, moves))
    while broken and not force:
        staying = [(name, link) for link in broken for name in _moving(old, link, moves)]
        for name, link in staying:
            reasons[name].append(f"the link to {link.target} in {link.note.name}:{link.line} would lead nowhere")
            moves.pop(name, None)
        broken = list(_broken(old, moves))
    items = Counter(one.file for one in old.extracted if one.grade != "keyword")
    return ArchivePlan(
        before,
        tuple(Move(name, moves[name], days[name], items[name]) for name in sorted(moves)),
        tuple(Stay(name, days[name], tuple(reasons[name])) for name in sorted(days.keys() - moves.keys())),
        tuple(f"{link.note.name}:{link.line} links to {link.target}" for link in broken),
    )


def archived(name: str) -> str:
    """The name of a log in the archive."""
    above, slash, last = name.rpartition("/")
    return f"{above}{slash}{ARCHIVE}/{last}"


def _day(name: str) -> date | None:
    """The day in the name of a log that is not in an archive."""
    *above, last = name.split("/")
    return None if ARCHIVE in map(str.casefold, above[-1:]) else named_day(last)


def _in_the_way(folder: Path, name: str) -> Iterator[str]:
    target, place = folder / archived(name), folder / name
    if not place.is_file():
        yield "its name cannot be printed"
    elif target.parent.is_symlink() or (target.parent.exists() and not target.parent.is_dir()):
        yield f"{ARCHIVE} beside it is no folder"
    elif target.exists() and not target.samefile(place):
        yield f"{archived(name)} is there already"


def _needed(old: Old) -> dict[str, list[str]]:
    """What notes have that stands nowhere else, or is not done yet, by their names."""
    unkept = Counter(one.path for one in old.findings if one.code == UNKEPT)
    pending = Counter(
        one.file for one in old.extracted if one.category == "pending" and one.grade != "keyword" and not one.is_closed
    )
    found: dict[str, list[str]] = defaultdict(list)
    for name, count in unkept.items():
        found[name].append(f"{counted(count, 'item')} marked as decision or lesson that no lasting note has")
    for name, count in pending.items():
        found[name].append(f"{counted(count, 'item')} still pending")
    return found


def _broken(old: Old, moves: Mapping[str, str]) -> Iterator[Link]:
    """The links that lead to a file now, and would not lead there any more."""
    if not moves:
        return
    moved = [replace(note, name=moves.get(note.name, note.name)) for note in old.notes]
    texts = {moves.get(name, name): text for name, text in old.places.texts.items()}
    after = Places({moves.get(name, name) for name in old.places.files}, moved, texts, old.places.exists)
    for was, now in zip(links(old.notes), links(moved), strict=True):
        led = [fold(moves.get(name, name)) for name in old.places.of(was)]
        is_lost = [fold(name) for name in after.of(now)] != led
        if led and (is_lost or (_is_beside(was, old.places.of(was)) and not _is_beside(now, led))):
            yield was


def _is_beside(link: Link, led: Sequence[str]) -> bool:
    """Whether a link is a path from its note, as those of Markdown are, and not from the folder."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(link.note.name), link.target.strip()))
    return not link.is_wiki and fold(path) in map(fold, led)


def _moving(old: Old, link: Link, moves: Collection[str]) -> Iterator[str]:
    """The logs that must stay for a link: what it leads to, else the one that it stands in."""
    led = [name for name in old.places.of(link) if name in moves]
    yield from led or ([link.note.name] if link.note.name in moves else [])
