"""Which parts of a text are told again as their opposite: with a `not` more, or without one."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memory_v2.text.sentences import clauses, sentences
from memory_v2.text.words import content_words, words

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


class _Clause(NamedTuple):
    words: frozenset[str]
    is_negated: bool


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


def affirmed(text: str, told: str) -> list[str]:
    """The clauses of a text that say `not`, where what is told about the same does not."""
    found = (clause for sentence in _sentences(text) for clause in clauses(sentence))
    return [clause for clause in found if is_negated(clause) and not _is_told(clause, told, True)]


def denied(text: str, told: str) -> list[str]:
    """The clauses of a text where all that is told about the same says `not`, and their sentence does not."""
    found = (clause for sentence in _sentences(text) if not is_negated(sentence) for clause in clauses(sentence))
    return [clause for clause in found if not _is_told(clause, told, False)]


def _is_told(text: str, told: str, negated: bool) -> bool:
    """Whether a clause that is about the same is negated, or is not. If no clause is about the same, any will do."""
    own = _words(text)
    common = [(len(own & clause.words), clause.is_negated) for clause in _told(told)]
    closest = max((count for count, _ in common), default=0)
    about_the_same = [n for count, n in common if count > CLOSE * closest or not closest]
    return negated in about_the_same or (not negated and not closest)


@lru_cache(maxsize=4)
def _told(text: str) -> tuple[_Clause, ...]:
    found = (clause for sentence in _sentences(text) for clause in clauses(sentence))
    return tuple(_Clause(_words(clause), is_negated(clause)) for clause in found)


def _sentences(text: str) -> list[str]:
    """The sentences of a text, which end at semicolons too."""
    return [part for sentence in sentences(text) for part in _SEMICOLON.split(sentence)]


def _words(text: str) -> frozenset[str]:
    return frozenset(content_words(text)) or frozenset(words(text))
