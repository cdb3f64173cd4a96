"""How much of a question a text tells by its words: whether it is an answer.

The share of a question's words that a text has is by weight. A long question has many words that nothing answers, so a
text is also taken for an answer if it has more of them than texts have by chance. `docs/measured.md` says what the
weights and the floor were set on, and how many questions each set refuses.
"""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Final, NamedTuple

from memory_v2.index.candidates import RELATED
from memory_v2.index.lookup import Facts, known_days
from memory_v2.index.postings import Term, rarity
from memory_v2.index.terms import Question, terms_of
from memory_v2.text.words import has_cjk

FLOOR = 0.21
"""What the best text tells at least, if the memory answers. At .18 a quarter of the absences is no longer told; at .24
two in 40 of the questions that are answered would be refused."""
ALL = 0.7
"""What a text tells at least that is surely an answer. By words, .43 to .84 of the questions with an answer have such a
text in four sets, and at most .15 of those without one; at .6 a quarter."""
BEST = 8
"""How many of the best texts are looked at for an answer. With five, one more question in 40 would be refused; with
twelve, one absence less in 20 is told."""
UNKNOWN = 1.5
"""The weight of a word that the memory does not have, relative to the rarest that it has: what is asked for is missing,
but it may stand there in another word."""
NAME = 0.5
"""The weight of a name that the memory has, relative to another word as rare: it says about whom, and not what."""
SMALL, LARGE = 25, 100
"""The numbers of places between which these two weights go from 1 to their values: a memory of a few lines lacks most
words, and a name tells its lines apart."""
CHANCE = 1.4
"""How many times as much as one of the places must say by chance a text must say to be an answer whatever its share;
at 1.3 a fifth of the long messages are taken to be answered by the conversations of others, at 1.4 an eighth."""
NO_WORDS = 0.5
"""What any text tells if the question has no word that tells something, and names no day."""


class EntryTerms(NamedTuple):
    """The terms of a question that entries have, and how many places of entries there are."""

    known: Sequence[Term] = ()
    places: int = 0


NO_TERMS: Final = EntryTerms()
"""Entries do not count."""


class _Telling(NamedTuple):
    terms: frozenset[str]
    related: Sequence[str]
    weight: float
    known: float
    """How rare the word is in the memory; 0 if it does not have it."""

    def share(self, found: Collection[str]) -> float:
        """How much of the word a text with these terms has."""
        if not self.terms.isdisjoint(found):
            return 1.0
        return 0.0 if set(self.related).isdisjoint(found) else RELATED


def told(
    tables: sqlite3.Connection,
    facts: Facts,
    question: Question,
    texts: Sequence[tuple[str, date | None]],
    entries: EntryTerms = NO_TERMS,
) -> list[float]:
    """How much each of these texts, with the day on which it was said, tells of what is asked for, from 0 to 1: the
    share of the question's words that it has, by weight, and `FLOOR` at least if it has too many of them for chance. A
    day asked for counts as one more word, as rare as can be. The `entries` count for how rare a word is."""
    known = list(facts.vocabulary.known_terms(tables, question)) + list(entries.known)
    facts = replace(facts, count=facts.count + entries.places)
    telling = list(_telling(known, facts, question))
    dates = [one for one in question.dates if one not in question.ends]
    days, most = known_days(tables, dates), math.fsum(word.weight for word in telling)
    of_day = rarity(0.5, facts.count) if days.spans else 0.0
    shares = []
    for (_, day), found in zip(texts, terms_of(text for text, _ in texts), strict=True):
        here = [(word, share) for word in telling if (share := word.share(found))]
        on_day = day is not None and days.include(day.toordinal(), day.toordinal())
        weight = math.fsum(share * word.weight for word, share in here) + of_day * on_day
        of_all = weight / (most + of_day) if most + of_day else NO_WORDS
        whole = [word for word, share in here if share == 1]
        shares.append(max(of_all, FLOOR) if _is_no_chance(whole, telling, facts) else of_all)
    return shares


def _is_no_chance(here: Sequence[_Telling], telling: Sequence[_Telling], facts: Facts) -> bool:
    """Whether these words of the question do not stand together by chance: the probability that they do, over all
    places and all choices of as many of its known words, is small."""
    known, have = sum(word.known > 0 for word in telling), sum(word.known > 0 for word in here)
    if have < 2:
        return False
    choices = math.log(math.comb(known, have))
    return math.fsum(word.known for word in here) - choices >= CHANCE * math.log(facts.count)


def _telling(known: Sequence[Term], facts: Facts, question: Question) -> Iterator[_Telling]:
    counts: Counter[str] = Counter()
    for one in known:
        counts[one.term] += one.frequency
    large = math.log(min(max(facts.count, SMALL), LARGE)) / math.log(LARGE)
    unknown = rarity(0.5, facts.count) * UNKNOWN * large
    for word, (whole, *_) in question.terms.items():
        if word in question.times:
            continue
        # A pair of characters is another word than each of the two.
        forms = [one for one in known if one.word == word and (one.term == whole or not has_cjk(word))]
        here = frozenset({whole, *question.forms.get(whole, ()), *(form.term for form in forms)})
        related = question.related.get(whole, ())
        if not forms:
            yield _Telling(here, related, unknown, 0.0)
            continue
        if (
            all(form.term != whole for form in forms)
            and len(parts := question.terms[word][1:]) > 1
            and not has_cjk(word)
        ):
            # An identifier that no place has: each of its parts is a word.
            for part in dict.fromkeys(parts):
                known_by = rarity(counts[part], facts.count) if counts[part] else 0.0
                yield _Telling(frozenset({part}), (), known_by or unknown, known_by)
            continue
        weight = rarity(max(counts[form.term] for form in forms), facts.count)
        is_name = whole in question.proper and not any(map(str.isdigit, whole))
        yield _Telling(here, related, weight * (1 - (1 - NAME) * large if is_name else 1), weight)
