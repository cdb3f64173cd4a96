"""Searching notes: the index of the core proposes places, and what the notes say of them decides among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from typing import Any, TypeAlias

from memory_v2.errors import PageNotFound, UsageError
from memory_v2.files.listing import without_suffix
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.ranking import raised
from memory_v2.index.spelling import corrected
from memory_v2.notes.classify import LASTING, is_struck, is_superseded
from memory_v2.notes.extract import Extracted, extracted_in
from memory_v2.notes.folder import NotesFolder, note_of, page_of
from memory_v2.notes.note import Item, Note, is_within
from memory_v2.operations.excerpts import statements
from memory_v2.operations.results import SearchResult
from memory_v2.operations.search_request import verdict, with_confidence
from memory_v2.text.days import named_day
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.page import Page, read_page
from memory_v2.validate import check_question

POOL = 50
"""Among how many of the best places by words the other signs decide."""
MOST = 1_000
"""How many places are looked through if only a part of the notes is asked for."""
CURATED, KEPT = 0.5, 0.25
"""Points of a place in `MEMORY.md`; in another file that is no daily log. All points are small beside those for words,
where a place that has all words of a question gets about eight: they put no place first that does not answer."""
MARKED = {"marker": 0.5, "heading": 0.25}
"""Points of a place that a label on its line, or a heading, says to be a decision, a lesson or the like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFilter:
    """A part of the notes: sections with all these tags, files of a name or in a folder, items from `since` to
    `until`; with a first or a last day, what has no day is no part of it. Neither is what is over, unless `over`."""

    tags: tuple[str, ...] = ()
    file: str = ""
    since: date | None = None
    until: date | None = None
    over: bool = False

    def __post_init__(self) -> None:
        if self.since and self.until and self.since > self.until:
            raise UsageError(f"since must not be after until: {self.since} is after {self.until}")

    def has_file(self, name: str) -> bool:
        """Whether a note is in it, by its name."""
        inside, part = f"/{name}", f"/{self.file.strip('/')}"
        return not self.file or inside.endswith(part) or inside.startswith(f"{part}/")

    def has(self, tags: Iterable[str], day: date | None) -> bool:
        """Whether it has what is tagged so, from that day."""
        is_tagged = not self.tags or {*map(_bare_tag, self.tags)} <= {*map(_bare_tag, tags)}
        return is_tagged and is_within(day, self.since, self.until)


def _bare_tag(tag: str) -> str:
    """A tag as it is compared: `#Lesson` and `lessons` are the same."""
    return tag.lstrip("#").casefold().removesuffix("s")


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A place that answers: lines `first_line` to `last_line` of a note, verbatim, with as much around as makes them a
    statement; `…` stands for lines that are left out.

    `score` is from 0 to 1, and `signs` are what it is made of: each in words, with its points. `confidence` is how much
    of what the query asks for is there, from 0 to 1. `marks` say what it is (`decisions: marker`), `tags` are those
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
        """Where it is: `memory/2026-02-09.md:12`."""
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


Ranked: TypeAlias = list[tuple[SearchResult, NoteHit]]
"""Places as results of a search of a memory, which decides what else to show of them, and as those of notes."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a folder of notes, with what their notes say of them."""

    folder: NotesFolder
    index: FullTextIndex

    def search(self, query: str, limit: int, part: NoteFilter, around: int) -> NoteHits:
        """The places that best answer a query, best first, each with so many lines `around` it."""
        check_question(query)
        names = self._names(part)
        typed = self.index.respelled(query)
        meant = corrected(query, typed)
        pool = min(max(POOL, 2 * limit), MOST)
        is_whole = not (part.tags or part.since or part.until)
        within = {page_of(name) for name in names} if part.file else None
        hits = self.index.search(meant, pool if is_whole else MOST, within=within, child_links=True)
        ranked = _ranked(self._places([_result(hit) for hit in hits], part, pool))
        visible, hidden = _visible(ranked, part, limit)
        chosen = with_confidence(statements((result for result, _ in visible), self._page, limit), meant, self.index)
        answered = bool(chosen) and verdict(chosen, [_hit(one) for one, _ in visible], meant, self.index) != "no"
        shown = (place for _, place in self._places(chosen, NoteFilter(), limit))
        found = NoteHits(self._with_lines(shown, around))
        found.answered, found.respelled, found.hidden, found.files = answered, typed, hidden, len(names)
        return found

    def match(self, pattern: str, limit: int, part: NoteFilter, around: int) -> NoteHits:
        """The first lines that match a regular expression, file by file. Raises `InvalidPattern` if it is none, or
        takes too long."""
        from memory_v2.operations.pattern import SPARE, matches  # start-up that no other search should pay

        names = self._names(part)
        texts = [self._lines(name) for name in names]
        matching = matches(pattern, ["\n".join(lines) for lines in texts], limit * SPARE)
        lines = ((page_of(names[number]), line + 1, texts[number][line]) for number, line in matching)
        found = [SearchResult(page, text, 1.0, "", (at, at), None, ()) for page, at, text in lines]
        visible, hidden = _visible(self._places(found, part, len(found)), part, limit)
        hits = NoteHits(self._with_lines((place for _, place in visible[:limit]), around))
        hits.answered, hits.hidden, hits.files = bool(hits), hidden, len(names)
        return hits

    def _names(self, part: NoteFilter) -> list[str]:
        names = sorted(filter(part.has_file, self.folder.cache.hashes()))
        if part.file and not names:
            raise UsageError(f"there is no note {part.file!r} in the folder")
        return names

    def _places(self, results: Sequence[SearchResult], part: NoteFilter, most: int) -> Ranked:
        """The first results in a part of the notes, with what their notes say. What is gone meanwhile is left out."""
        names = {note_of(result.path) for result in results}
        notes = {note.name: note for note in self.folder.cache.notes(names)}
        by_item: dict[str, list[Extracted]] = {}
        for one in extracted_in(self.folder.cache, names):
            by_item.setdefault(one.item, []).append(one)
        places = (
            (result, _place(result, notes[name], by_item))
            for result in results
            if (name := note_of(result.path)) in notes
        )
        return list(islice((place for place in places if part.has(place[1].tags, place[1].day)), most))

    def _with_lines(self, hits: Iterable[NoteHit], around: int) -> list[NoteHit]:
        if not around:
            return list(hits)
        shown = []
        for hit in hits:
            lines = self._lines(hit.file)
            before = tuple(lines[max(hit.first_line - 1 - around, 0) : hit.first_line - 1])
            shown.append(replace(hit, before=before, after=tuple(lines[hit.last_line : hit.last_line + around])))
        return shown

    def _page(self, path: str) -> Page | None:
        """A note as a page; `None` if it is gone."""
        try:
            return read_page(path, self.folder.read(path).data)
        except PageNotFound:
            return None

    def _lines(self, name: str) -> list[str]:
        page = self._page(page_of(name))
        return [line.rstrip("\r\n") for line in split_lines(readable(page.text))] if page else []


def _place(result: SearchResult, note: Note, extracted: Mapping[str, Sequence[Extracted]]) -> NoteHit:
    """A result with what its note says of it: the tags of its section, its day, which is the newest of its items or
    that of its note if it is a heading, what labels and headings say that it is, and whether all of it is over."""
    first, last = result.lines
    items = [item for item in note.items if item.first_line <= last and item.last_line >= first]
    section = next((one for one in note.sections if one.first_line <= first <= one.last_line), None)
    own = [one for item in items for one in extracted.get(item.id, ())]
    marked = [one for one in own if one.grade != "keyword"]
    closed = {one.item for one in own if one.is_closed}.intersection(one.item for one in marked)
    return NoteHit(
        file=note.name,
        first_line=first,
        last_line=last,
        text=result.excerpt,
        score=round(result.relevance_score, 4),
        confidence=result.confidence,
        day=max((item.day for item in items if item.day), default=None if items else note.day),
        headings=result.section or (items[0].headings if items else ()),
        tags=tuple(dict.fromkeys((*note.tags, *(section.tags if section else ())))),
        marks=tuple(dict.fromkeys(f"{one.category}: {one.grade}" for one in marked)),
        is_over=bool(items) and all(item.id in closed or _is_over(item) for item in items),
        found_by=result.context,
        signs=result.signs,
    )


def _is_over(item: Item) -> bool:
    return item.is_prose and (is_struck(item) or is_superseded(item))


def _ranked(places: Ranked) -> Ranked:
    """The places, best first: where they stand and what marks them counts too."""
    ranked = []
    for result, place in places:
        signs = _signs(place)
        score = raised(result.relevance_score, sum(points for _, points in signs))
        result = replace(result, relevance_score=score, signs=(*result.signs, *signs), date=place.day)
        ranked.append((result, place))
    return sorted(ranked, key=lambda one: -one[0].relevance_score)


def _signs(place: NoteHit) -> list[tuple[str, float]]:
    signs = []
    if without_suffix(place.file.rpartition("/")[2]).casefold() == LASTING:
        signs.append(("kept in MEMORY.md", CURATED))
    elif named_day(place.file) is None:
        signs.append(("no daily log", KEPT))
    if marks := [mark.split(": ") for mark in place.marks]:
        category, grade = max(marks, key=lambda mark: MARKED[mark[1]])
        signs.append((f"{category} by {grade}", MARKED[grade]))
    return [sign for sign in signs if sign[1]]


def _visible(places: Ranked, part: NoteFilter, limit: int) -> tuple[Ranked, int]:
    """The places that are shown, with more than so many; and how many before the last of these are hidden."""
    visible = [place for place in places if part.over or not place[1].is_over]
    seen = places.index(visible[limit - 1]) + 1 if len(visible) >= limit else len(places)
    return visible, seen - min(len(visible), limit)


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


def _hit(result: SearchResult) -> Hit:
    return Hit(
        result.path,
        0,
        *result.lines,
        result.excerpt,
        result.relevance_score,
        result.date,
        result.section,
        result.context,
    )
