"""A text that is told again: which words are lost in other words, and whether another one tells it anew."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Set
from functools import lru_cache
from typing import TypeAlias, TypeVar

from memory_v2.text.lists import opposites
from memory_v2.text.words import composed, content_words, general, matcher, words

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
