"""Which parts of a text are told again as their opposite: with a `not` more, or without one."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from memory_v2.text.words import clauses, content_words, sentences, words

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
