"""What a query asks for: the words to look up, whose words, which days, and whether it wants to know when."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property

from memory_v2.index.terms import terms
from memory_v2.text.dates import PartialDate, Span, asks_when, question_dates
from memory_v2.text.lists import stopwords
from memory_v2.text.words import words

_LONGEST = 100_000
_MOST_WORDS = 300
_QUOTED = re.compile(r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|«([^»\n]{2,200})»|「([^」\n]{2,200})」|`([^`\n]{2,200})`")


@dataclass(frozen=True)
class Question:
    """A query, read: `words` and what is `quoted` are looked up, the rest moves what was found up or down."""

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    quoted: tuple[str, ...] = ()
    whole: str = ""
    dates: tuple[Span | PartialDate, ...] = ()
    when: bool = False

    @property
    def phrases(self) -> tuple[str, ...]:
        """What lifts a place that has it to the letter: each quotation, and the query as a whole."""
        return (*self.quoted, self.whole) if self.whole else self.quoted

    @cached_property
    def name_terms(self) -> tuple[str, ...]:
        """The terms of the names that are not looked up."""
        said = (word for name in sorted(self.names) for word in words(name) if word not in stopwords())
        spelled = (term for word in said for term in terms(word))
        return tuple(dict.fromkeys(term for term in spelled if all(term not in found for found in self.terms.values())))

    @cached_property
    def terms(self) -> dict[str, list[str]]:
        """The terms of each word: the word whole, then what is in it."""
        return {word: terms(word) for word in self.words}


def parse_question(query: str, speakers: Collection[str]) -> Question:
    """What a query asks, in a memory where these people speak. Their names are not looked up, unless there is nothing
    else: whoever speaks is named on every line."""
    query = query[:_LONGEST].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    found = list(dict.fromkeys(words(query)))
    names = _named(query, found, speakers)
    spoken = {word for name in names for word in words(name)}
    telling = [word for word in found if word not in stopwords()]
    looked_up = [word for word in telling if word not in spoken] or telling or found
    return Question(
        tuple(looked_up[:_MOST_WORDS]),
        frozenset(names),
        tuple(flat for groups in _QUOTED.findall(query) if (flat := flattened("".join(groups)))),
        flattened(query.strip(" \t\r\n\"'?!.？。！")) if len(looked_up) > 1 else "",
        tuple(dict.fromkeys(question_dates(query))),
        asks_when(query),
    )


def _named(query: str, found: Collection[str], speakers: Iterable[str]) -> list[str]:
    """The speakers that are named. A name is written with a capital where the query writes any, so that the word
    `hope` is not Hope; that a query begins with one does not make `Will` a name."""
    capital = [{word for word in words(token) if token != token.casefold()} for token in query.split()]
    anywhere, later = set[str]().union(*capital), set[str]().union(*capital[1:])
    written = {
        word
        for word in found
        if word in later or (word not in stopwords() and (not anywhere or word in anywhere or not word.isascii()))
    }
    return [name for name in speakers if not written.isdisjoint(words(name))]


def flattened(text: str) -> str:
    """The text in one case and with single blanks: the form in which phrases are compared."""
    return " ".join(text.casefold().split())
