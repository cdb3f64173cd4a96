"""Of a statement that was made again later, the newest comes first.

A later place is a version of the best one if it is about as much of the question, has as much of its content, and says
that something has changed: the three are added up. By meaning it is one if it is near to it. Nobody can know that for
sure without understanding them. What `python -m bench.fit` finds with it is in docs/measured.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set

from memory_v2.index.candidates import Candidate
from memory_v2.index.line_dates import PassageDate
from memory_v2.index.lookup import LookupResult, SemanticScores
from memory_v2.index.places import StoredPassage
from memory_v2.index.postings import rarity
from memory_v2.index.terms import Question, is_empty, says_as_written, says_one_of
from memory_v2.text.lists import present, replacing

COMPARED = 10
"""Among how many of the best places a newer version of the first one is looked for."""
ENOUGH, ENOUGH_BELOW = 1.5, 1.75
"""The sum of signs from which on a later place is a version of the first one; and one that is as old, further down."""
LEAST = 0.25
"""The share of its content, or of that of the first place, that both have at least."""
SAYS_CHANGE = 0.92
"""It says that something takes the place of something else, or that it speaks of the present."""
AS_MUCH = 0.2
"""It has all that the first place has of the question."""
AS_LONG = 3
"""How many times as long as the first place a version is at most: a table or a letter has many words."""

ALIKE, FURTHER, UNLIKE = 0.55, 0.1, 0.2
"""As cosines: how near a later place is at least to the first one if it is a version of it by its meaning, and how much
further from the question it may be; and below what it is none, whatever its words."""

_NUMBER = re.compile(r"[ \t]{0,3}(\d{1,9})[.)][ \t]")


def versions_of_first(
    question: Question,
    found: LookupResult,
    best: Sequence[Candidate],
    said: Mapping[int, PassageDate],
    semantic: SemanticScores | None = None,
) -> list[int]:
    """The ranks, from 0, of the newest version of the first of the `best` places and then of the earlier ones; that of
    the first alone if there is no newer one. Who asks for what was so before, for a day or for a title wants none, and
    in a conversation what is alike replaces nothing."""
    if not best or not asks_for_now(question, best[0]):
        return [0]
    first, versions = best[0], [0]
    for rank, other in enumerate(best[1:COMPARED], 1):
        if other.is_talk or other.linked != first.linked:
            continue
        newest = best[versions[0]].place
        is_below = _is_below(other.place, newest, said)
        alike = semantic.alike(other.place, first.place) if semantic else None
        if alike is not None and alike < UNLIKE:
            continue
        if is_below:
            is_version = _speaks_for_it(question, found, other, first, is_later=False) >= ENOUGH_BELOW
        else:
            is_version = _is_later(other.place, first.place, said) and (
                _speaks_for_it(question, found, other, first, is_later=True) >= ENOUGH
                or (alike is not None and alike >= ALIKE and _is_as_near(question, other, first))
            )
        if is_version:
            is_newest = is_below or _is_later(other.place, newest, said)
            versions.insert(0 if is_newest else len(versions), rank)
    return versions


def asks_for_now(question: Question, first: Candidate) -> bool:
    """Whether what was said lately counts more: not if what was so before is asked for, a day or a title,
    nor in a conversation."""
    return not (question.past or question.dates or first.is_talk or first.titled)


def _is_later(place: StoredPassage, than: StoredPassage, said: Mapping[int, PassageDate]) -> bool:
    """Whether a place was said on a later day, written later, or has a higher number in a list."""
    return _age(place, said) > _age(than, said)


def _is_below(place: StoredPassage, than: StoredPassage, said: Mapping[int, PassageDate]) -> bool:
    """Whether a place that is as old stands further down the same page, as many lines do that are no versions."""
    return place.page == than.page and place.id > than.id and _age(place, said) == _age(than, said)


def _speaks_for_it(
    question: Question, found: LookupResult, later: Candidate, first: Candidate, *, is_later: bool
) -> float:
    """How much speaks for it that the later place is a version of the first. It must not lack a name or a number that
    the first one shares with the question, unless all that they share begins with a capital, as German nouns do; and
    one that says all of the first and more takes no place."""
    asked, both = {*first.words.matched}, {*first.words.matched} & {*later.words.matched}
    names = asked & question.proper if asked - question.proper else set()
    if not both or not both >= names:
        return 0.0
    if later.place.length > AS_LONG * first.place.length:
        return 0.0
    changes = is_later and (says_one_of(replacing(), later.place.own) or says_as_written(present(), later.place.text))
    content, other = _content(first.place), _content(later.place)
    if not changes and content <= other:
        return 0.0
    alike = len(content & other) / max(min(len(content), len(other)), 1)
    if alike < LEAST:
        return 0.0
    share = _weigh(found, both) / _weigh(found, asked)
    return share + alike + SAYS_CHANGE * changes + AS_MUCH * (both == asked)


def _is_as_near(question: Question, later: Candidate, first: Candidate) -> bool:
    """Whether a later place is about as near to the question as the first one, and has its names."""
    names = {*first.words.matched} & question.proper
    return names.issubset(later.words.matched) and (later.cosine or 0.0) >= (first.cosine or 0.0) - FURTHER


def _weigh(found: LookupResult, terms: Set[str]) -> float:
    return sum(rarity(found.frequency[term], found.facts.count) for term in terms)


def _content(place: StoredPassage) -> frozenset[tuple[str, int]]:
    """The content terms of a place, each with its count so far, so that a repeated word counts twice."""
    times = Counter[str]()
    counted = []
    for term in place.own.split()[1 if _NUMBER.match(place.text) else 0 :]:
        if not is_empty(term):
            counted.append((term, times[term]))
            times[term] += 1
    return frozenset(counted)


def _age(place: StoredPassage, said: Mapping[int, PassageDate]) -> tuple[int, int, int]:
    """A sort key that is larger for newer places: the day on which it was said, the turn in which it was written, its
    number in a list."""
    number = _NUMBER.match(place.text)
    return said[place.id].day, said[place.id].turn, int(number[1]) if number else 0
