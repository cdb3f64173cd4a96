"""What a folder lacks: decisions and lessons of logs that no lasting note has, and notes that no search finds.

A lasting note has one if a section of it holds most of its telling words, whatever their endings: rare ones count more.
Only what a label marks as a decision or lesson counts, and only where an agent keeps an index of what lasts.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from math import log
from typing import TypeAlias

from memory_v2.notes.audit.context import AuditContext, is_index
from memory_v2.notes.audit.findings import NoteFinding
from memory_v2.notes.classify import labels
from memory_v2.notes.note import Note
from memory_v2.text.words import content_words, has_cjk, shorten

HELD = 0.5
"""Which share of its telling words a section holds that has it."""
LEAST_WORDS = 4
"""How many telling words it has at least: of fewer nobody can tell."""
ENDING = 6
"""After how many letters a word may end in another way: `desativar`, `desativado`."""
MOST_COMPARED = 100
"""How many sections with a rare word are compared. Only where thousands have the same words are there more."""
SHOWN = 90
"""How much of it is shown, in characters."""

Place: TypeAlias = tuple[str, tuple[str, ...]]
"""A section: its note and its headings."""
Having: TypeAlias = dict[str, dict[Place, None]]
"""The sections that have each word, in order."""
_SINGULAR = {"decisions": "decision", "lessons": "lesson"}


def missing(context: AuditContext) -> Iterator[NoteFinding]:
    """What no lasting note has."""
    if not any(map(is_index, context.lasting)):
        return
    having: Having = defaultdict(dict)
    headed: set[Place] = set()
    for note in context.lasting:
        for item in note.items:
            place = (note.name, item.headings)
            if place not in headed:
                headed.add(place)
                _hold(having, place, content_words(" ".join(item.headings)))
            _hold(having, place, context.words(item))
    logs = {note.name for note in context.logs}
    for one in context.extracted:
        if one.file in logs and one.category in _SINGULAR and one.grade == "marker" and not one.is_closed:
            words = _telling(content_words(_without_label(one.text)))
            if len(words) >= LEAST_WORDS and not _is_held(words, having, len(headed)):
                message = f"this {_SINGULAR[one.category]} is in no lasting note: {shorten(one.text, SHOWN)}"
                yield NoteFinding("not-curated", one.file, one.first_line, message, one.id, day=one.day)


def _hold(having: Having, place: Place, words: Iterable[str]) -> None:
    for word in _telling(words):
        having[word][place] = None


def _telling(words: Iterable[str]) -> frozenset[str]:
    """Words without their endings, and without numbers."""
    return frozenset(word if has_cjk(word) else word[:ENDING] for word in words if not word.isdigit())


def _without_label(text: str) -> str:
    """What is behind the words that say what it is."""
    label = next(labels(text), "")
    return text.partition(label)[2] if label else text


def _is_held(words: frozenset[str], having: Having, count: int) -> bool:
    """Whether a section holds enough of these words, by their weight. One that does has one of the rarest, of which the
    rest would not be enough; so only those sections are looked at."""
    weights = {word: log(1 + (count + 1) / (len(having.get(word, ())) + 0.5)) for word in sorted(words)}
    enough = HELD * sum(weights.values())
    rest = sum(weights.values())
    for rarest in sorted(words, key=lambda word: (-weights[word], word)):
        for place in islice(having.get(rarest, ()), MOST_COMPARED):
            if sum(weight for word, weight in weights.items() if place in having.get(word, ())) >= enough:
                return True
        rest -= weights[rarest]
        if rest < enough:
            break
    return False


LONGEST_WORD = 60
"""How long a word may be that somebody searches for, in characters."""
RARE = 5
"""In how many notes a word is at most that is rare."""
ASKED = 5
"""How many of the rarest words of a note are searched for."""


def dark(context: AuditContext) -> Iterator[NoteFinding]:
    """Notes that a search for their own words does not find. One without a rare word is like others, and not dark."""
    if context.search is None:
        return
    words = {note.name: _words(context, note) for note in context.notes}
    notes_with = Counter(word for own in words.values() for word in own)
    for note in context.notes:
        rare = (word for word in words[note.name] if notes_with[word] <= RARE)
        rarest = sorted(rare, key=lambda word: (notes_with[word], -len(word), word))[:ASKED]
        if rarest and note.name not in context.search(" ".join(rarest)):
            message = f"a search for {' '.join(rarest)!r} does not find this note"
            yield NoteFinding("dark", note.name, 1, message, "", day=note.day)


def _words(context: AuditContext, note: Note) -> frozenset[str]:
    """The words of a note that somebody may search for. The list of children of a page is none of its text."""
    found = (word for item in note.own_items for word in context.words(item))
    return frozenset(word for word in found if len(word) <= LONGEST_WORD and not word.isdigit())
