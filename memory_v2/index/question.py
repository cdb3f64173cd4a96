"""Parsing a query: the words to look up, the speakers and days it names, and whether it asks for a time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, islice

from memory_v2.index.marks import says_one_of, stored
from memory_v2.index.terms import camel_words, related, terms, verb_forms, verbs
from memory_v2.text.dates import PartialDate, Span, asks_when, question_dates
from memory_v2.text.lists import asking, interrogatives, past, stopwords
from memory_v2.text.words import has_cjk, proper_words, words

_LONGEST = 100_000
_MOST_WORDS = 300
_MOST_QUOTED = 32
_CAPITALS = re.compile(r"(?<![\w'])[A-Z]{2,4}(?![\w'])")
"""A short word in capitals says something, even if it would not without them: `CI`, `US`."""
_QUOTED = re.compile(r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|«([^»\n]{2,200})»|「([^」\n]{2,200})」|`([^`\n]{2,200})`")


@dataclass(frozen=True)
class Question:
    """A parsed query: `words` and `quoted` phrases are looked up; the rest affects the ranking."""

    words: tuple[str, ...]
    names: frozenset[str] = frozenset()
    quoted: tuple[str, ...] = ()
    whole: str = ""
    dates: tuple[Span | PartialDate, ...] = ()
    when: bool = False
    past: bool = False
    """Whether it asks for what was so before."""
    proper: frozenset[str] = frozenset()
    """The terms of names and numbers, as far as their spelling tells."""
    every: tuple[str, ...] = ()
    """All its words, each once, in order."""
    camel: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The words in camel case, each with the words that it is made of."""
    inflected: bool = True
    """Whether the irregular forms of a verb count as the verb."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that lift a place that contains them verbatim: each quotation, and the whole query."""
        return (*self.quoted, self.whole) if self.whole else self.quoted

    @cached_property
    def name_terms(self) -> tuple[str, ...]:
        """The terms of the names that are not looked up."""
        said = (word for name in sorted(self.names) for word in words(name) if word not in stopwords())
        spelled = (term for word in said for term in terms(word))
        return tuple(dict.fromkeys(term for term in spelled if all(term not in found for found in self.terms.values())))

    @cached_property
    def terms(self) -> dict[str, list[str]]:
        """The terms of each word: the whole word first, then its parts. A form of a verb is looked up as the verb."""
        spelled = {word: [*terms(word), *terms(" ".join(self.camel.get(word, ())))] for word in self.words}
        known = verbs() if self.inflected else {}
        return {word: [known.get(whole, whole), *parts] for word, (whole, *parts) in spelled.items()}

    @cached_property
    def forms(self) -> dict[str, Sequence[str]]:
        """What else counts as a term that is looked up: `bought` as `buy`."""
        known = verb_forms() if self.inflected else {}
        return {whole: known[whole] for whole, *_ in self.terms.values() if whole in known}

    def all_forms(self, term: str) -> tuple[str, ...]:
        """A term that is looked up, and what else counts as it."""
        return term, *self.forms.get(term, ())

    @cached_property
    def related(self) -> dict[str, Sequence[str]]:
        """What a place may have instead of a term that is looked up: `dog` instead of `pet`."""
        asked = [whole for whole, *_ in self.terms.values()] if self.inflected else []
        apart = {*asked, *chain.from_iterable(self.forms.values())}
        return {whole: others for whole in asked if (others := [one for one in related(whole) if one not in apart])}


def parse_question(query: str, speakers: Collection[str], *, inflected: bool = True) -> Question:
    """Parses a query in a memory with these speakers. Their names are not looked up, unless there are no other words:
    a speaker's name is on every line of a conversation."""
    query = query[:_LONGEST].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    found = list(dict.fromkeys(words(query)))
    names = _named(query, found, speakers)
    spoken = {word for name in names for word in words(name)}
    capitals = set(words(" ".join(_CAPITALS.findall(query)))) if inflected and query != query.upper() else set()
    telling = [word for word in found if (word in capitals or word not in stopwords()) and not _asks(word)]
    looked_up = [word for word in telling if word not in spoken] or telling or found
    return Question(
        tuple(looked_up[:_MOST_WORDS]),
        frozenset(names),
        tuple(islice(_quoted(query), _MOST_QUOTED)),
        flattened(query.strip(" \t\r\n\"'?!.？。！")) if len(found) > 1 else "",
        tuple(dict.fromkeys(question_dates(query))),
        asks_when(query),
        says_one_of(past(), stored(terms(query))),
        frozenset(term for name in proper_words(query) for word in words(name) for term in terms(word)[:1]),
        tuple(found),
        {run.lower(): parts for run, parts in camel_words(query).items()},
        inflected,
    )


def asked_at_once(query: str) -> list[str]:
    """The query, then each question of it if it asks several: they end at a question mark, or before `, when` or
    `and when`."""
    parts = [part for part in _ends().split(query[:_LONGEST]) if any(word not in stopwords() for word in words(part))]
    return [query, *parts] if len(parts) > 1 else [query]


@cache
def _ends() -> re.Pattern[str]:
    again = "|".join(sorted(map(re.escape, interrogatives())))
    joined = r"(?:,|\b(?:and|or|und|oder|y|o|e|ou|et)\b)"
    return re.compile(rf"[?？;；]|{joined}\s+(?:{joined}\s+)?(?=(?:{again})\b)", re.I)


def _asks(word: str) -> bool:
    """Whether a word of Chinese characters only asks: `哪个`."""
    return has_cjk(word) and (word in asking() or not asking().isdisjoint(word))


def _quoted(query: str) -> Iterator[str]:
    for match in _QUOTED.finditer(query):
        if flat := flattened("".join(filter(None, match.groups()))):
            yield flat


def _named(query: str, found: Collection[str], speakers: Iterable[str]) -> list[str]:
    """The speakers that the query names. If the query has capital letters, a name must begin with one, so that `hope`
    is not Hope. A capital at the start of the query does not make a stopword such as `Will` a name."""
    capital = [set[str]() if token == token.casefold() else set(words(token)) for token in query.split()]
    anywhere, later = set[str]().union(*capital), set[str]().union(*capital[1:])
    written = {
        word
        for word in found
        if word in later or (word not in stopwords() and (not anywhere or word in anywhere or not word.isascii()))
    }
    return [name for name in speakers if not written.isdisjoint(words(name))]


def flattened(text: str) -> str:
    """The text case-folded and with single spaces, to compare phrases."""
    return " ".join(text.casefold().split())
