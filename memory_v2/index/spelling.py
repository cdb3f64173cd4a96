"""Typing errors: for a word that no place has, the most like it that some place has."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping

from memory_v2.index.lookup import Facts
from memory_v2.index.places import read_places
from memory_v2.index.postings import ROW_BITS, VOCABULARIES, Term, any_of, places_above, rows_of_words
from memory_v2.index.terms import Question, terms
from memory_v2.text.words import has_cjk, words
from memory_v2.text.words import stem as singular

SHORTEST = 5
"""The shortest word, in letters, that is taken for another: any four are like some word."""
LONG, VERY_LONG = 8, 10
"""From how many letters on a word may have another letter in place of one, or another first letter; or two errors. A
shorter one is then another word: `march` is not `match`."""
LONGEST = 40
"""The longest word that is taken for another. A longer one is a key or a hash."""
MOST = 5
"""How many words of a question are looked up like this: a text that has more is in another language."""
SCANNED = 20_000
"""In a memory of up to how many places a word may begin with any letter. In a larger one it begins with one of the
first two that were typed, as a look at all words takes 5 µs for each place."""
_LOOKED_THROUGH = 20
"""In how many places the words are looked for that a term stands for."""
_COMPARED = 10
"""How many terms are compared with a word, letter by letter."""


def respelled(
    tables: sqlite3.Connection, facts: Facts, question: Question, in_entries: Iterable[Term] = ()
) -> dict[str, str]:
    """The words of a question that no place has, in any form, nor any entry, each with the one that was
    meant: `moltbok` → `moltbook`. Words that may be meant as they are, are not in it."""
    known = {term.word for term in (*facts.vocabulary.known_terms(tables, question), *in_entries)}
    unknown = [word for word in question.words if word not in known and _may_be_wrong(word)]
    found = {word: _nearest(tables, word, facts.count <= SCANNED) for word in unknown[:MOST]}
    return {word: meant for word, meant in found.items() if meant}


def corrected(query: str, typed: Mapping[str, str]) -> str:
    """The query with the words that are meant in place of those that were typed."""
    for wrong, meant in typed.items():
        found = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.I)
        query = found.sub(meant, query) if found.search(query) else f"{query} {meant}"
    return query


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
    return SHORTEST <= len(word) <= LONGEST and _is_of_letters(word) and not has_cjk(word)


def _is_of_letters(word: str) -> bool:
    return _joined(word).isalpha()


def _joined(word: str) -> str:
    """An identifier without its underscores: `parse_invoice` may be asked for as `parseInvoice`."""
    return word.replace("_", "")


def _nearest(tables: sqlite3.Connection, word: str, anywhere: bool) -> str:
    """The word that was meant; of several, one that begins as it does, the most like it, then the most frequent one."""
    stem = terms(word)[0]
    begins = (*dict.fromkeys(stem[:2]), *([""] if anywhere else []))
    return next(filter(None, (_nearest_of(tables, word, stem, begin) for begin in begins)), "")


def _nearest_of(tables: sqlite3.Connection, word: str, stem: str, begin: str) -> str:
    most = 2 if len(word) >= VERY_LONG else 1
    near = [
        (far, -count, term)
        for term, count in _like(tables, stem, most, begin)
        if (far := min(distance(stem, term, most), distance(word, _ended(term), most))) <= most
    ]
    for _, _, term in sorted(near)[:_COMPARED]:
        if meant := [one for one in _spelled(tables, term) if is_slip(word, one) or is_slip(word, singular(one))]:
            return min(meant, key=lambda spelled: (distance(word, spelled, most), spelled))
    return ""


def is_slip(typed: str, word: str) -> bool:
    """Whether a word may have been meant by what was typed: a letter left out, added or swapped with the next one,
    but not only another ending; in a long word, another letter too. An identifier is meant by its own letters only."""
    if "_" in typed or "_" in word:
        return _joined(typed) == _joined(word)
    most = 2 if len(typed) >= VERY_LONG else 1
    if distance(typed, word, most) > most:
        return False
    if len(typed) >= LONG:
        return True
    is_form = typed.startswith(word) or word.startswith(typed)
    return typed[0] == word[0] and not is_form and (len(typed) != len(word) or sorted(typed) == sorted(word))


def _like(tables: sqlite3.Connection, stem: str, most: int, begin: str) -> Iterable[tuple[str, int]]:
    """The terms that begin so, of about that length and most of its letters, each with how many places have it."""
    within = "term >= :begin AND term < :end AND" if begin else ""  # the vocabularies are in order
    either = " UNION ALL ".join(
        f"SELECT term, doc FROM {table} WHERE {within} length(term) BETWEEN :least AND :most" for table in VOCABULARIES
    )
    sql = f"SELECT term, sum(doc) FROM ({either}) GROUP BY term"
    given = {"begin": begin, "end": begin and chr(ord(begin) + 1), "least": len(stem) - most, "most": len(stem) + most}
    letters = set(stem)
    for term, count in tables.execute(sql, given):
        if len(letters.symmetric_difference(term)) <= 2 * most and _is_of_letters(term):
            yield term, count


def _ended(term: str) -> str:
    """The stem as the word is spelled, mostly: `deploi` is that of `deploy`."""
    return f"{term[:-1]}y" if term.endswith("i") else term


def _spelled(tables: sqlite3.Connection, term: str) -> set[str]:
    """The words that a term stands for, in the pages and their headings; the term itself, if it is in their names."""
    match = any_of([term])
    found = [row >> ROW_BITS for row in rows_of_words(tables, match, most=_LOOKED_THROUGH)]
    found += places_above(tables, match, most=_LOOKED_THROUGH)
    said = (word for place in read_places(tables, found).values() for word in words(f"{place.text} {place.section}"))
    return {word for word in said if terms(word)[:1] == [term]} or {term}
