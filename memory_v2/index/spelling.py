"""Typing errors: for a word that no place has, the most like it that some place has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from memory_v2.index.lookup import Facts
from memory_v2.index.question import Question
from memory_v2.index.terms import terms
from memory_v2.text.words import has_cjk, words

SHORTEST = 5
"""The shortest word, in letters, that is taken for another: any four are like some word."""
LONG = 8
"""From how many letters on a word may have two errors, or another first letter; a shorter one is then another word."""
LONGEST = 40
"""The longest word that is taken for another. A longer one is a key or a hash."""
MOST = 5
"""How many words of a question are looked up like this: a text that has more is in another language."""
_LOOKED_THROUGH = 20
"""In how many places the word is looked for that a term stands for."""


def respelled(tables: sqlite3.Connection, facts: Facts, question: Question) -> dict[str, str]:
    """The words of a question that no place has, in any form, each with the word most like it: `moltbok` → `moltbook`.
    Words without one are not in it."""
    known = {term.word for term in facts.vocabulary.known_terms(tables, question)}
    unknown = [word for word in question.words if word not in known and _may_be_wrong(word)]
    found = {word: _nearest(tables, word) for word in unknown[:MOST]}
    return {word: meant for word, meant in found.items() if meant}


def distance(one: str, other: str, most: int) -> int:
    """How many letters have to be added, left out, changed, or swapped with the next one, to make one of the other;
    more than `most` if it is more than that."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        two_before, before, row = before, row, [place]
        for at, against in enumerate(other, 1):
            cost = min(before[at] + 1, row[at - 1] + 1, before[at - 1] + (letter != against))
            if place > 1 and at > 1 and letter == other[at - 2] and one[place - 2] == against:
                cost = min(cost, two_before[at - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def _may_be_wrong(word: str) -> bool:
    return SHORTEST <= len(word) <= LONGEST and word.isalpha() and not has_cjk(word)


def _nearest(tables: sqlite3.Connection, word: str) -> str:
    """The word most like this one; of several, one with the same first letter, then the most frequent one."""
    most = 2 if len(word) >= LONG else 1
    stem = terms(word)[0]
    like = ((term, count) for term, count in _like(tables, stem, most) if most > 1 or term[0] == stem[0])
    near = [(far, term, count) for term, count in like if (far := distance(stem, term, most)) <= most]
    near.sort(key=lambda one: (one[0], one[1][0] != stem[0], -one[2], one[1]))
    return _spelled(tables, near[0][1], word) if near else ""


def _like(tables: sqlite3.Connection, stem: str, most: int) -> Iterable[tuple[str, int]]:
    """The terms of about that length, and most of its letters, each with how many places have it."""
    sql = "SELECT term, sum(doc) FROM vocabulary WHERE length(term) BETWEEN ? AND ? GROUP BY term"
    letters = set(stem)
    for term, count in tables.execute(sql, (len(stem) - most, len(stem) + most)):
        if len(letters.symmetric_difference(term)) <= 2 * most and term.isalpha():
            yield term, count


def _spelled(tables: sqlite3.Connection, term: str, typed: str) -> str:
    """The word in the pages that a term stands for, most like the one that was typed."""
    having = "FROM words JOIN passages ON passages.id = words.rowid WHERE words MATCH ? ORDER BY words.rowid"
    sql = f"SELECT text {having} LIMIT ?"
    places = tables.execute(sql, (f'"{term}"', _LOOKED_THROUGH))
    said = {word for (text,) in places for word in words(text) if terms(word)[:1] == [term]}
    return min(said, key=lambda word: (distance(word, typed, LONGEST), word), default=term)
