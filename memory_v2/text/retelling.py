"""A text that is told again: which words are lost in other words, whether another one tells it anew, and which parts
are told as their opposite, with a `not` more or without one."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Set
from functools import lru_cache
from typing import TypeAlias, TypeVar

from memory_v2.text.lists import opposites
from memory_v2.text.words import clauses, composed, content_words, general, matcher, sentences, words

T = TypeVar("T")
Said: TypeAlias = tuple[frozenset[str], Mapping[str, tuple[str, ...]]]
"""The words of a text and their stems, all together and by how they begin."""

BEGINNING = 4
"""How many characters two forms of a word have in common at least, at their beginning."""
LEAST_COMMON = 0.6
"""The least share of the longer form that they have in common."""

_PARTS = re.compile(r"[_.'’]+")
_ENDING = re.compile(
    r"(?:|e?s|e[dnrmt]?|ing|n|t|te[nst]?|ers?|ly|ment|(?:at)?ions?|[aoé]s?|es|[aei]ndo|[ai]d[oa]s?|ó|ar|[ei]r|ées?|ent|ant|ait)"
)
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff々]"
_EMPTY_HAN = frozenset("的了是在和与也就都而及着过地得个这那有为于以之其所把被让给跟从到会能要说")
_KATAKANA = re.compile("[ァ-ヺー]{2,}")
_TWO_MEANINGS = (
    (
        frozenset(["der", "das", "und", "ist", "ein", "eine", "im", "am", "den", "dem", "nicht", "auf", "werden"]),
        frozenset(["die", "war", "hat", "man"]),
    ),
    (
        frozenset(["le", "les", "des", "du", "une", "est", "et", "dans", "au", "aux"]),
        frozenset(["car", "son", "comment", "pour"]),
    ),
)
"""Words of one language, and its function words that mean something in another: they are none beside the former."""


def lost_words(text: str, told: str) -> list[str]:
    """The words of `text` that carry its meaning and that `told` has in no form, in order. In Chinese and Japanese, the
    characters and the names in katakana."""
    own, said = words(text), _said(told)
    free = general() | {word for few, others in _TWO_MEANINGS if few.intersection(own) for word in others}
    lost = [word for word in content_words(text) if word not in free and not _is_told(word, said)]
    lost += [word for word in own if word in opposites() and word not in said[0]]
    plain = composed(told, "NFKC")
    lost += [name for name in _KATAKANA.findall(composed(text, "NFKC")) if name not in plain]
    if not text.isascii():
        lost += [one for one in matcher(_HAN).findall(text) if one not in _EMPTY_HAN and one not in told]
    return list(dict.fromkeys(lost))


def are_versions(one: Set[T], other: Set[T]) -> bool:
    """Whether two notes, by their words, are versions of one: they share half of them, and each has a word of its
    own."""
    return 2 * len(one & other) >= max(len(one), len(other)) and not (one <= other or other <= one)


def _is_told(word: str, said: Said) -> bool:
    """Whether a word, or another form of it, is among those said. Numbers are compared elsewhere, as a whole; scripts
    without spaces by their characters."""
    known, by_beginning = said
    if word in known or not any(map(str.isalpha, word)) or not _is_spaced(word):
        return True
    parts = [part for part in _PARTS.split(word) if part]
    if len(parts) > 1 and all(_is_told(part, said) for part in parts):
        return True
    return any(_are_forms(word, other) for other in by_beginning.get(word[:BEGINNING], ()))


def _is_spaced(word: str) -> bool:
    """Whether a word is one of a script that has spaces, and not a pair of characters."""
    return len(word) > 2 or unicodedata.category(word[0]) != "Lo"


def _are_forms(word: str, other: str) -> bool:
    """Whether two words differ in their endings only: `planted` and `planting`."""
    common = next((n for n, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), None)
    length = min(len(word), len(other)) if common is None else common
    if length < BEGINNING or length < LEAST_COMMON * max(len(word), len(other)):
        return False
    return all(_ENDING.fullmatch(rest) for rest in (word[length:], other[length:]))


@lru_cache(maxsize=4)
def _said(text: str) -> Said:
    known = frozenset(words(text)) | frozenset(content_words(text))
    known |= {part for word in known for part in _PARTS.split(word) if part}
    by_beginning: dict[str, list[str]] = {}
    for word in sorted(known):
        by_beginning.setdefault(word[:BEGINNING], []).append(word)
    return known, {beginning: tuple(found) for beginning, found in by_beginning.items()}


CLOSE = 0.5
"""Which clauses are about the same as a text: those that have more than this share of the words in common with it that
the closest clause has."""

_NEGATION = re.compile(
    r"\b(?:no\s+longer|(?:nicht|kein\w*)\s+mehr|ya\s+no|not|no|never|none|nobody|nothing|without|cannot|\w+n['’]t"
    r"|nicht|kein\w*|nie|niemals|ohne|pas|jamais|sans|nunca|jamás|sin|não|sem|nem)\b|[不没沒無无非]|ない|ません",
    re.IGNORECASE,
)
_WITHOUT = frozenset(["without", "ohne", "sans", "sin", "sem"])
_SEMICOLON = re.compile(r";\s|；")


def is_negated(text: str) -> bool:
    """Whether a text says `not`, in one of the languages known here."""
    return _NEGATION.search(text) is not None


def polarity(text: str) -> tuple[bool, bool]:
    """Whether a text says `not`, and whether it says `without`: `no sin recibo` says both, `sin recibo` the one."""
    found = {match[0].casefold() in _WITHOUT for match in _NEGATION.finditer(text)}
    return False in found, True in found


def without_negation(text: str) -> str:
    """The text without the words that say `not`."""
    return _NEGATION.sub("", text)


def affirmed(text: str, other: str) -> list[str]:
    """The clauses of a text that say `not`, where what the other text says about the same does not."""
    said = _clauses_of(other)
    return [
        each for part in _sentences(text) for each in clauses(part) if is_negated(each) and not said.say(each, True)
    ]


def denied(text: str, other: str) -> list[str]:
    """The clauses of a text where all that the other text says about the same says `not`, and their sentence does
    not."""
    said = _clauses_of(other)
    plain = (sentence for sentence in _sentences(text) if not is_negated(sentence))
    return [clause for sentence in plain for clause in clauses(sentence) if not said.say(clause, False)]


class _Clauses:
    """Which clauses of a text are negated, and which of them have each word."""

    def __init__(self, text: str) -> None:
        found = (clause for sentence in _sentences(text) for clause in clauses(sentence))
        different = dict.fromkeys((_words(clause), is_negated(clause)) for clause in found)
        self._negated = [is_negated for _, is_negated in different]
        self._having: dict[str, list[int]] = {}
        for number, (own, _) in enumerate(different):
            for word in own:
                self._having.setdefault(word, []).append(number)

    def say(self, clause: str, negated: bool) -> bool:
        """Whether a clause that is about the same is negated, or is not. If no clause is about the same, any will
        do."""
        shared = Counter(number for word in _words(clause) for number in self._having.get(word, ()))
        if not shared:
            return not negated or any(self._negated)
        least = CLOSE * max(shared.values())
        return any(self._negated[number] == negated for number, count in shared.items() if count > least)


_clauses_of = lru_cache(maxsize=4)(_Clauses)


def _sentences(text: str) -> list[str]:
    """The sentences of a text, which end at semicolons too."""
    return [part for sentence in sentences(text) for part in _SEMICOLON.split(sentence)]


def _words(text: str) -> frozenset[str]:
    return frozenset(content_words(text)) or frozenset(words(text))
