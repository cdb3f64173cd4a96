"""Words and phrases of the lists, in texts that are stored as terms."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from memory_v2.index.terms import terms_of
from memory_v2.text.lists import new, particles, stopwords
from memory_v2.text.words import has_cjk, is_latin


def says_one_of(phrases: frozenset[str], own: str) -> bool:
    """Whether one of these phrases is in a text, given as its terms as they are stored."""
    return any(phrase in own for phrase in _in_terms(phrases, is_latin(own)))


def is_empty(term: str) -> bool:
    """Whether a term is a function word, or a single Chinese character or a pair with one of the grammar."""
    if has_cjk(term):
        return len(term) == 1 or not particles().isdisjoint(term)
    return term in _function_words()


def says_new(asked: Iterable[str], own: str) -> bool:
    """Whether a text has the word `new` before one of the terms asked for: `the new port`."""
    return any(stored([word, term]) in own for word in _new_terms() for term in asked)


def stored(found: Iterable[str]) -> str:
    """Terms as they are stored: each has a blank of its own on both sides, to be counted by."""
    return f" {'  '.join(found)} "


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(*terms_of(stopwords()))


@cache
def _new_terms() -> frozenset[str]:
    return frozenset().union(*terms_of(new()))


@cache
def _in_terms(phrases: frozenset[str], in_latin: bool) -> tuple[str, ...]:
    """The phrases as they stand in a text, or only those that a text `in_latin` letters can have; a pair of Chinese
    characters is one term there."""
    listed = sorted(phrase for phrase in phrases if is_latin(phrase) or not in_latin)
    spelled = zip(listed, terms_of(listed), strict=True)
    return tuple(stored([phrase] if has_cjk(phrase) else found) for phrase, found in spelled)
