"""Searching notes: the full-text index proposes places, and what the notes say of a place ranks them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any

from memory_v2.errors import PageNotFound, UsageError
from memory_v2.files.listing import without_suffix
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.ranking import raised
from memory_v2.index.spelling import corrected
from memory_v2.notes.cache import Kept
from memory_v2.notes.folder import NotePages, note_of, page_of
from memory_v2.notes.judged import NO_MARKS, Marks, marks_of
from memory_v2.notes.note import Item, Note, Section, is_within
from memory_v2.operations.confidence import is_answered, with_confidence
from memory_v2.operations.excerpts import statements
from memory_v2.operations.results import SearchResult
from memory_v2.operations.texts import check_question
from memory_v2.text.calendar import named_day
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.page import Page, read_page

POOL = 50
"""Among how many of the best places by words the other signs decide."""
MOST = 1_000
"""How many places are looked through if only a part of the notes is asked for."""


def found_in(folder: Folder, query: str, limit: int, part: Part, around: int) -> NoteHits:
    """The places that best answer a query, best first, each with so many lines `around` it."""
    check_question(query)
    names = folder.names(part)
    typed = folder.index.respelled(query)
    meant = corrected(query, typed)
    within = {page_of(name) for name in names} if part.file else None
    pool = min(max(POOL, 2 * limit), MOST)
    count = pool if part.is_of_whole_notes else MOST
    hits = folder.index.search(meant, count, within=within, child_links=True)
    ranked = _ranked(folder.places(hits, part, pool))
    visible = [place for place in ranked if part.over or not place.is_over]
    chosen = [_result(place.hit) for place in visible[:limit]]
    shown = with_confidence(statements(chosen, folder.page), meant, folder.index)
    results = _told(folder, shown, around)
    results.answered = bool(shown) and is_answered(shown, [place.hit for place in visible], meant, folder.index)
    results.respelled, results.files = typed, len(names)
    seen = ranked.index(visible[limit - 1]) + 1 if len(visible) >= limit else len(ranked)
    results.hidden = seen - min(len(visible), limit)
    return results


def matching_in(folder: Folder, pattern: str, limit: int, part: Part, around: int) -> NoteHits:
    """The first lines that match a regular expression, file by file. Raises `InvalidPattern` if it is none, or takes
    too long."""
    from memory_v2.operations.pattern import SPARE, matches  # start-up that no other search should pay

    names = folder.names(part)
    texts = [folder.lines(name) for name in names]
    found = matches(pattern, ["\n".join(lines) for lines in texts], limit * SPARE)
    hits = [_line(names[number], line + 1, texts[number][line]) for number, line in found]
    places = folder.places(hits, part, len(hits))
    visible = [place for place in places if part.over or not place.is_over][:limit]
    results = NoteHits(place.told(1.0, texts[names.index(place.note.name)], around) for place in visible)
    results.answered, results.files = bool(results), len(names)
    results.hidden = (places.index(visible[-1]) + 1 if len(visible) == limit else len(places)) - len(visible)
    return results


def _ranked(places: Sequence[Place]) -> list[Place]:
    """The places, best first, with what else they are ranked by."""
    newest = max((place.day for place in places if place.day), default=None)
    ranked = []
    for place in places:
        signs = weighed(place.note.name, place.day, newest, place.marks)
        score = raised(place.hit.score, sum(points for _, points in signs))
        hit = replace(place.hit, score=score, signs=(*place.hit.signs, *signs), date=place.day)
        ranked.append(replace(place, hit=hit))
    return sorted(ranked, key=lambda place: -place.hit.score)


def _result(hit: Hit) -> SearchResult:
    return SearchResult(
        path=hit.path,
        excerpt=hit.text,
        relevance_score=hit.score,
        context=hit.found_by,
        lines=(hit.first_line, hit.last_line),
        date=hit.date,
        breadcrumb=(),
        section=hit.section,
        signs=hit.signs,
    )


def _told(folder: Folder, shown: Sequence[SearchResult], around: int) -> NoteHits:
    hits = [
        Hit(
            one.path, 0, *one.lines, one.excerpt, one.relevance_score, one.date, one.section, one.context, "", one.signs
        )
        for one in shown
    ]
    places = folder.places(hits, Part(), len(hits))
    confidence = {hit: one.confidence for hit, one in zip(hits, shown, strict=True)}
    lines = {name: folder.lines(name) if around else [] for name in {place.note.name for place in places}}
    return NoteHits(place.told(confidence[place.hit], lines[place.note.name], around) for place in places)


def _line(name: str, number: int, text: str) -> Hit:
    return Hit(page_of(name), 0, number, number, text, 1.0, None, (), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the notes: sections with a tag, files of a name or in a folder, items from `since` to `until`. What is
    over is part of it only if `over`. With a first or a last day, what has no day is left out."""

    tag: str = ""
    file: str = ""
    since: date | None = None
    until: date | None = None
    over: bool = False

    def __post_init__(self) -> None:
        if self.since and self.until and self.since > self.until:
            raise UsageError(f"since must not be after until: {self.since} is after {self.until}")

    @property
    def is_of_whole_notes(self) -> bool:
        """Whether everything in its files belongs to it, but for what is over."""
        return not (self.tag or self.since or self.until)

    def has_file(self, name: str) -> bool:
        """Whether a note is in it, by its name."""
        inside = f"/{name}"
        part = f"/{self.file.strip('/')}"
        return not self.file or inside.endswith(part) or inside.startswith(f"{part}/")

    def has(self, tags: Collection[str], day: date | None) -> bool:
        """Whether it has what is tagged so, from that day."""
        is_tagged = not self.tag or _bare(self.tag) in map(_bare, tags)
        return is_tagged and is_within(day, self.since, self.until)


def _bare(tag: str) -> str:
    """A tag as it is compared: `#Lesson` and `lessons` are the same."""
    return tag.lstrip("#").casefold().removesuffix("s")


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A place that answers: lines `first_line` to `last_line` of a note, verbatim, with as much around as makes them a
    statement; `…` stands for lines that are left out.

    `score` is from 0 to 1, and `signs` are what it is made of: each in words, with its points. `confidence` is how much
    of what the query asks for stands there, from 0 to 1. `marks` say what it is (`decisions: marker`), `tags` are those
    of its section, and `is_over` tells that it is done, struck out or superseded. `before` and `after` are the lines
    around it, if they were asked for.
    """

    file: str
    first_line: int
    last_line: int
    text: str
    score: float
    confidence: float = 1.0
    day: date | None = None
    headings: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_over: bool = False
    found_by: str = ""
    signs: tuple[tuple[str, float], ...] = ()
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where it stands: `memory/2026-02-09.md:12`."""
        return f"{self.file}:{self.first_line}" + (f"-{self.last_line}" if self.last_line > self.first_line else "")


class NoteHits(list[NoteHit]):
    """What was found, best first.

    `answered` is false if no place tells enough of what is asked for; what is in the list then are the nearest places.
    `respelled` are the words that no note has, each with the one that was looked for in its place. `hidden` is how many
    places were left out because they are over, and `files` how many notes were searched.
    """

    answered: bool = False
    respelled: dict[str, str] = {}  # noqa: RUF012 - replaced, never changed
    hidden: int = 0
    files: int = 0

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it."""
        names = ("answered", "respelled", "hidden", "files")
        return {**{name: getattr(self, name) for name in names}, "results": list(self)}


@dataclass(frozen=True, slots=True)
class Place:
    """A place that was found, with what its note tells of it: its items, its section, what labels and headings say that
    it is, and whether all that stands there is over."""

    hit: Hit
    note: Note
    items: Sequence[Item]
    section: Section | None
    marks: Sequence[tuple[str, str]] = ()
    is_over: bool = False

    @property
    def day(self) -> date | None:
        """The newest day of its items; that of its note, if it is a heading."""
        return max((item.day for item in self.items if item.day), default=None if self.items else self.note.day)

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of its note and its section."""
        return tuple(dict.fromkeys((*self.note.tags, *(self.section.tags if self.section else ()))))

    def told(self, confidence: float, lines: Sequence[str], around: int) -> NoteHit:
        """The place as it is told, with so many of the note's `lines` around it."""
        first, last = self.hit.first_line, self.hit.last_line
        return NoteHit(
            file=self.note.name,
            first_line=first,
            last_line=last,
            text=self.hit.text,
            score=round(self.hit.score, 4),
            confidence=confidence,
            day=self.day,
            headings=self.hit.section or (self.items[0].headings if self.items else ()),
            tags=self.tags,
            marks=tuple(f"{category}: {grade}" for category, grade in self.marks),
            is_over=self.is_over,
            found_by=self.hit.found_by,
            signs=self.hit.signs,
            before=tuple(lines[max(first - 1 - around, 0) : first - 1]),
            after=tuple(lines[last : last + around]),
        )


@dataclass(frozen=True, slots=True)
class Folder:
    """What is searched: the notes that are kept, their pages, and the index of these."""

    kept: Kept
    pages: NotePages
    index: FullTextIndex

    def names(self, part: Part) -> list[str]:
        """The notes in a part. Raises `UsageError` if none has the name that is asked for."""
        names = [name for name, row in self.kept.rows().items() if row.left_out is None and part.has_file(name)]
        if part.file and not names:
            raise UsageError(f"there is no note {part.file!r} in the folder")
        return sorted(names)

    def page(self, path: str) -> Page | None:
        """A note as a page; `None` if it is gone."""
        try:
            return read_page(path, self.pages.read(path).data)
        except PageNotFound:
            return None

    def lines(self, name: str) -> list[str]:
        """The lines of a note, without their ends; none if it is gone."""
        page = self.page(page_of(name))
        return [line.rstrip("\r\n") for line in split_lines(readable(page.text))] if page else []

    def places(self, hits: Sequence[Hit], part: Part, most: int) -> list[Place]:
        """The first hits in a part of the notes, with what their notes tell of them. What is gone meanwhile is left
        out."""
        notes = {note.name: note for note in self.kept.notes({note_of(hit.path) for hit in hits})}
        known = (_place(hit, notes[name], NO_MARKS) for hit in hits if (name := note_of(hit.path)) in notes)
        chosen = list(islice((one for one in known if part.has(one.tags, one.day)), most))
        marks = marks_of(self.kept, {place.note.name for place in chosen})
        return [_place(one.hit, one.note, marks.get(one.note.name, NO_MARKS)) for one in chosen]


def _place(hit: Hit, note: Note, marks: Marks) -> Place:
    items = [one for one in note.items if one.first_line <= hit.last_line and one.last_line >= hit.first_line]
    section = next((one for one in note.sections if one.first_line <= hit.first_line <= one.last_line), None)
    found = [(category, grade) for item in items for category, grade in marks.of_item.get(item.id, ())]
    is_over = bool(items) and all(item.id in marks.over for item in items)
    return Place(hit, note, items, section, tuple(dict.fromkeys(found)), is_over)


LASTING = "memory"
"""The name of the file in which agents keep what lasts, as `notes.judging` has it."""
CURATED, KEPT = 0.5, 0.25
"""It stands in `MEMORY.md`; in another file that is no daily log."""
NEW = 0.5
"""It is from the newest day among the places that were found; half of it `HALF_LIFE` days before that."""
HALF_LIFE = 30
MARKED = {"marker": 0.5, "heading": 0.25}
"""A label on the line says that it is a decision, a lesson or the like; a heading does."""


def weighed(
    name: str, day: date | None, newest: date | None, marks: Sequence[tuple[str, str]]
) -> list[tuple[str, float]]:
    """What adds to the score of a place: each sign in words, with its points."""
    signs = []
    if without_suffix(name.rpartition("/")[2]).casefold() == LASTING:
        signs.append(("kept in MEMORY.md", CURATED))
    elif named_day(name) is None:
        signs.append(("no daily log", KEPT))
    if day and newest:
        signs.append((f"from {day}", round(NEW * 0.5 ** ((newest - day).days / HALF_LIFE), 2)))
    if marks:
        category, grade = max(marks, key=lambda mark: MARKED[mark[1]])
        signs.append((f"{category} by {grade}", MARKED[grade]))
    return [sign for sign in signs if sign[1]]
