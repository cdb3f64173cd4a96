"""Searching notes: the index of the core proposes places, and what notes tell besides decides among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memory_v2.index.base import Hit
from memory_v2.index.ranking import raised
from memory_v2.index.spelling import corrected
from memory_v2.notes.found import NoteHits, Part
from memory_v2.notes.pages import page_of
from memory_v2.notes.places import Folder, Place
from memory_v2.notes.weighing import weighed
from memory_v2.operations.confidence import is_answered, with_confidence
from memory_v2.operations.excerpts import statements
from memory_v2.operations.results import SearchResult
from memory_v2.operations.texts import check_question

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
