"""How much of what a question asks for a text tells, by its words alone.

The weights and the floor under which a memory does not answer were set on `bench.notes`, LoCoMo and
FactConsolidation. Of the questions that are answered, none in 40, 7 in 383 and none in 200 stay below the floor; of
those without an answer in somebody's notes, 16 in 20, and 44 in 96 of those about another conversation. Set on all
folders of notes but one at a time, the floor tells as many on the one left out, and refuses none there.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import date
from typing import NamedTuple

from memory_v2.index.days import known_days
from memory_v2.index.lookup import Facts
from memory_v2.index.question import Question
from memory_v2.index.terms import terms_of
from memory_v2.index.windows import rarity
from memory_v2.text.words import has_cjk

FLOOR = 0.21
"""What the best text tells at least, if the memory answers. At .18 a quarter of the absences is no longer told; at .24
two in 40 of the questions that are answered would be refused."""
BEST = 8
"""Among how many of the best texts the one is that answers. With five, one more question in 40 would be refused; with
twelve, one absence less in 20 is told."""
UNKNOWN = 1.5
"""The weight of a word that the memory does not have, relative to the rarest that it has: what is asked for is missing,
but it may stand there in another word."""
NAME = 0.5
"""The weight of a name, relative to another word as rare: it says about whom, and not what."""
NO_WORDS = 0.5
"""What any text tells if the question has no word that tells something, and names no day."""


class _Telling(NamedTuple):
    terms: frozenset[str]
    weight: float


def told(
    tables: sqlite3.Connection, facts: Facts, question: Question, texts: Sequence[tuple[str, date | None]]
) -> list[float]:
    """How much each of these texts, with the day on which it was said, tells of what is asked for, from 0 to 1: the
    share of the question's words that it has, by weight. A day asked for counts as one more word, as rare as can be."""
    telling = list(_telling(tables, facts, question))
    days, most = known_days(tables, question.dates), math.fsum(word.weight for word in telling)
    of_day = rarity(0.5, facts.count) if days.spans else 0.0
    shares = []
    for (_, day), found in zip(texts, terms_of(text for text, _ in texts), strict=True):
        here = math.fsum(word.weight for word in telling if not word.terms.isdisjoint(found))
        on_day = day is not None and days.include(day.toordinal(), day.toordinal())
        shares.append((here + of_day * on_day) / (most + of_day) if most + of_day else NO_WORDS)
    return shares


def _telling(tables: sqlite3.Connection, facts: Facts, question: Question) -> Iterator[_Telling]:
    known = list(facts.vocabulary.known_terms(tables, question))
    for word, (whole, *_) in question.terms.items():
        # A pair of characters is another word than each of the two.
        forms = [one for one in known if one.word == word and (one.term == whole or not has_cjk(word))]
        weight = rarity(max((one.frequency for one in forms), default=0.5), facts.count) * (1 if forms else UNKNOWN)
        is_name = whole in question.proper and not any(map(str.isdigit, whole))
        yield _Telling(frozenset({whole, *(one.term for one in forms)}), weight * (NAME if is_name else 1))
