"""Typing errors: for a word that no place has, the most like it that some place has."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from memory_v2.index.lookup import Facts
from memory_v2.index.question import Question
from memory_v2.index.tables import HEADINGS_OF
from memory_v2.index.terms import terms
from memory_v2.index.texts import read_texts
from memory_v2.text.words import has_cjk, words

SHORTEST = 5
"""The shortest word, in letters, that is taken for another: any four are like some word."""
LONG, VERY_LONG = 8, 10
"""From how many letters on a word may have another letter in place of one, or another first letter; or two errors. A
shorter one is then another word: `march` is not `match`."""
LONGEST = 40
"""The longest word that is taken for another. A longer one is a key or a hash."""
MOST = 5
"""How many words of a question are looked up like this: a text that has more is in another language."""
_LOOKED_THROUGH = 20
"""In how many places the words are looked for that a term stands for."""
_COMPARED = 10
"""How many terms are compared with a word, letter by letter."""


def respelled(tables: sqlite3.Connection, facts: Facts, question: Question) -> dict[str, str]:
    """The words of a question that no place has, in any form, each with the one that was meant: `moltbok` →
    `moltbook`. Words that may be meant as they are, are not in it."""
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
    """The word that was meant; of several, the most like it, then the most frequent one."""
    most = 2 if len(word) >= VERY_LONG else 1
    stem = terms(word)[0]
    near = [
        (far, -count, term) for term, count in _like(tables, stem, most) if (far := distance(stem, term, most)) <= most
    ]
    for _, _, term in sorted(near)[:_COMPARED]:
        if meant := [spelled for spelled in _spelled(tables, term) if is_slip(word, spelled)]:
            return min(meant, key=lambda spelled: (distance(word, spelled, most), spelled))
    return ""


def is_slip(typed: str, word: str) -> bool:
    """Whether a word may have been meant by what was typed: a letter left out, added or swapped with the next one,
    but not only another ending; in a long word, another letter too."""
    most = 2 if len(typed) >= VERY_LONG else 1
    if distance(typed, word, most) > most:
        return False
    if len(typed) >= LONG:
        return True
    is_form = typed.startswith(word) or word.startswith(typed)
    return typed[0] == word[0] and not is_form and (len(typed) != len(word) or sorted(typed) == sorted(word))


def _like(tables: sqlite3.Connection, stem: str, most: int) -> Iterable[tuple[str, int]]:
    """The terms of about that length, and most of its letters, each with how many places have it."""
    sql = "SELECT term, sum(doc) FROM vocabulary WHERE length(term) BETWEEN ? AND ? GROUP BY term"
    letters = set(stem)
    for term, count in tables.execute(sql, (len(stem) - most, len(stem) + most)):
        if len(letters.symmetric_difference(term)) <= 2 * most and term.isalpha():
            yield term, count


def _spelled(tables: sqlite3.Connection, term: str) -> set[str]:
    """The words that a term stands for, in the pages and their headings; the term itself, if it is in their names."""
    having = (
        "FROM words JOIN passages ON passages.id = words.rowid "
        f"JOIN headings ON {HEADINGS_OF} WHERE words MATCH ? ORDER BY words.rowid"
    )
    asked = f"SELECT passages.id, section {having} LIMIT ?"
    sections = dict(tables.execute(asked, (f'"{term}"', _LOOKED_THROUGH)))
    stored = read_texts(tables, sections)
    said = (word for place, section in sections.items() for word in words(f"{stored[place].text} {section}"))
    return {word for word in said if terms(word)[:1] == [term]} or {term}
