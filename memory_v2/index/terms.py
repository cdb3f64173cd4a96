"""The terms of texts and of questions: what is looked up.

A term is a stem, so that `testing` finds `tests`. The stemmer is SQLite's own Porter, asked through a table of its
vocabulary: texts and queries then meet in the same terms, and the full-text table needs none but to split at blanks. A
question has besides the speakers and days that it names, and whether it asks for a time.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import chain, islice

from memory_v2.text.dates import PartialDate, Span, dates_before, question_dates
from memory_v2.text.lists import (
    asking,
    interrogatives,
    irregular,
    kinds,
    particles,
    past,
    past_tense,
    stopwords,
    synonyms,
)
from memory_v2.text.words import has_cjk, is_latin, matcher, proper_words, words

EVERYTHING = "categories 'L* N* M* P* S* C*'"
"""A tokenizer that ends a token nowhere but at a blank: what the words of a text are has been decided before."""

_PARTS = re.compile(r"[^\W\d_]{2,}")
_CAMEL = re.compile("[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_HUMP = re.compile("[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_MANY = 500_000
KEPT = 20_000
"""Of how many words with other signs than letters, or in other scripts, the parts are kept."""


def terms(text: str) -> list[str]:
    """The terms of a text in order: the stem of each word, the parts of an identifier (`order_list`, `orderList`) after
    the whole, and single characters after each pair of them in scripts without spaces."""
    return terms_of([text])[0]


def terms_of(texts: Iterable[str]) -> list[list[str]]:
    """The terms of each of these texts. Their new words are stemmed together, which takes hardly longer than for one of
    them."""
    spelled = [_spelled(text) for text in texts]
    stem_of = _stems().of(set().union(*spelled)).__getitem__
    return [list(map(stem_of, found)) for found in spelled]


@cache
def verbs() -> Mapping[str, str]:
    """The term of the verb by that of each irregular form: that of `buy` by `bought`."""
    forms = irregular()
    spelled = terms_of([*forms, *forms.values()])
    return {form: verb for (form,), (verb,) in zip(spelled, spelled[len(forms) :], strict=False)}


@cache
def verb_forms() -> Mapping[str, Sequence[str]]:
    """The terms of all irregular forms by that of the verb."""
    found: dict[str, list[str]] = {}
    for form, verb in verbs().items():
        found.setdefault(verb, []).append(form)
    return found


def related(term: str) -> Sequence[str]:
    """The terms of what a text may say instead of a term: its synonyms and what it is a kind of, in all forms."""
    others = [other for other, *_ in terms_of(_instead().get(term, ()))]
    return sorted({form for other in others for form in (other, *verb_forms().get(other, ()))} - {term})


@cache
def _instead() -> Mapping[str, Sequence[str]]:
    """The words that may stand instead of each that is listed, by its term. They are spelled as they are listed: to
    stem all of them takes four times as long."""
    listed = [(word, [other for other in group if other != word]) for group in synonyms() for word in group]
    listed += [(name, [*members]) for names, members in kinds() for name in names]
    found: dict[str, list[str]] = {}
    for (_, others), (term, *_) in zip(listed, terms_of(word for word, _ in listed), strict=True):
        found.setdefault(term, []).extend(others)
    return found


def camel_words(text: str) -> dict[str, tuple[str, ...]]:
    """The words in camel case of a text, each with the words that it is made of: `order` and `list` by `OrderList`."""
    found = {}
    if _CAMEL.search(text):
        for run in dict.fromkeys(matcher("[A-Za-z]+").findall(text)):
            parts = tuple(part.lower() for part in _HUMP.findall(run) if len(part) > 1) if _CAMEL.search(run) else ()
            if len(parts) > 1:
                found[run] = parts
    return found


def camel_parts(text: str) -> list[str]:
    """The words that identifiers in camel case are made of. `JavaScript` is a name, and no more than one word."""
    found = camel_words(text).items()
    return [part for run, parts in found if run[0].islower() or len(parts) > 2 for part in parts]


def _spelled(text: str) -> list[str]:
    """The words that a text is found under. What stands beside a word in camel case stays beside it."""
    return [*_spelled_whole(text), *camel_parts(text)]


def _spelled_whole(text: str) -> list[str]:
    """The same, where a word in camel case is one word."""
    tokens = words(text)
    together = "".join(tokens)
    if together.isascii() and together.isalpha():
        return tokens
    if together.isascii():
        return [part for token in tokens for part in ((token,) if token.isalpha() else _with_parts(token))]
    found: list[str] = []
    for token, after in zip(tokens, [*tokens[1:], ""], strict=False):
        if not token.isascii() and _is_pair(token):
            found += (token, token[0]) if after[:1] == token[1] else (token, *token)
        else:
            found += _with_parts(token)
    return found


@lru_cache(KEPT)
def _is_pair(token: str) -> bool:
    """Whether a word is a pair of characters of a script without spaces."""
    return len(token) == 2 and has_cjk(token)


@lru_cache(KEPT)
def _with_parts(token: str) -> Sequence[str]:
    """A word, and the parts under which it is found too."""
    parts = () if has_cjk(token) else _PARTS.findall(token)
    return (token, *parts) if len(parts) > 1 else (token,)


class _Stems:
    """The stems met so far. A word costs 2 µs when it is new, and a look into a dictionary ever after."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._lock = threading.Lock()
        self._tables = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        tokenizer = f"porter unicode61 remove_diacritics 2 {EVERYTHING}".replace("'", "''")
        self._tables.execute(f"CREATE VIRTUAL TABLE new USING fts5(word, content='', tokenize='{tokenizer}')")
        self._tables.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(new, 'instance')")

    def of(self, found: Set[str]) -> dict[str, str]:
        """A dictionary that has a stem for each of these words."""
        known = self._known
        if known.keys() >= found:
            return known
        with self._lock:
            if len(known) > _MANY:
                known = self._known = {}
            new = sorted(word for word in found if word not in known)  # to subtract them would walk over all known
            self._tables.execute("BEGIN")
            # As one text, of which each word is a token, they take two thirds of the time that they take as rows.
            self._tables.execute("INSERT INTO new(rowid, word) VALUES (0, ?)", (" ".join(new),))
            stems: dict[int, str | None] = dict(self._tables.execute("SELECT offset, term FROM stems"))
            self._tables.execute("INSERT INTO new(new) VALUES ('delete-all')")
            self._tables.execute("COMMIT")
            # A word of nothing but accents has no stem: folding leaves nothing of it, and SQLite says NULL.
            known.update((word, stems.get(place) or word) for place, word in enumerate(new))
        return known


@cache
def _stems() -> _Stems:
    return _Stems()


def says_one_of(phrases: frozenset[str], own: str) -> bool:
    """Whether one of these phrases is in a text, given as its terms as they are stored."""
    return any(phrase in own for phrase in _in_terms(phrases, is_latin(own)))


def says_as_written(phrases: frozenset[str], text: str) -> bool:
    """Whether one of these phrases is in a text in this form: `maintenance` has the stem of the French `maintenant`."""
    return _written(phrases).search(text) is not None


def is_empty(term: str) -> bool:
    """Whether a term is a function word, or a single Chinese character or a pair with one of the grammar."""
    if has_cjk(term):
        return len(term) == 1 or not particles().isdisjoint(term)
    return term in _function_words()


def stored(found: Iterable[str]) -> str:
    """Terms as they are stored: each has a blank of its own on both sides, to be counted by."""
    return f" {'  '.join(found)} "


@cache
def _function_words() -> frozenset[str]:
    return frozenset().union(*terms_of(stopwords()))


@cache
def _written(phrases: frozenset[str]) -> re.Pattern[str]:
    ends = {phrase: "" if has_cjk(phrase) else r"\b" for phrase in sorted(phrases)}
    return re.compile("|".join(f"{end}{re.escape(phrase)}{end}" for phrase, end in ends.items()), re.I)


@cache
def _in_terms(phrases: frozenset[str], in_latin: bool) -> tuple[str, ...]:
    """The phrases as they stand in a text, or only those that a text `in_latin` letters can have; a pair of Chinese
    characters is one term there."""
    listed = sorted(phrase for phrase in phrases if is_latin(phrase) or not in_latin)
    spelled = zip(listed, terms_of(listed), strict=True)
    return tuple(stored([phrase] if has_cjk(phrase) else found) for phrase, found in spelled)


def places_of_words(text: str, question: str) -> Iterator[tuple[int, int]]:
    """The first character of each word of the text that the question has, and the one after it, in order. Words that
    say nothing count only if the question has no others."""
    asked = [word for word in words(question) if word not in stopwords()] or words(question)
    wanted = {verbs().get(term, term) for word in asked for term in terms(word)}
    wanted.update(*(verb_forms().get(term, ()) for term in wanted), *map(related, wanted))
    tokens = list(matcher(r"[^\W_]+").finditer(text))
    found = [False] * len(text)
    for token, spelled in zip(tokens, terms_of([token[0] for token in tokens]), strict=True):
        if has_cjk(token[0]):
            for start in range(token.start(), token.end() - 1):
                if text[start : start + 2] in wanted:
                    found[start : start + 2] = [True, True]
        elif not wanted.isdisjoint(spelled):
            found[token.start() : token.end()] = [True] * len(token[0])
    yield from (
        (run.start(), run.end()) for run in matcher("1+").finditer("".join("01"[is_found] for is_found in found))
    )


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
    times: frozenset[str] = frozenset()
    """The words by which it asks for what was so before: a text that answers it seldom has them."""
    ends: Collection[Span | PartialDate] = ()
    """The times before which it asks for something, which are among its dates."""
    proper: frozenset[str] = frozenset()
    """The terms of names and numbers, as far as their spelling tells."""
    every: tuple[str, ...] = ()
    """All its words, each once, in order."""
    camel: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The words in camel case, each with the words that it is made of."""
    inflected: bool = True
    """Whether the irregular forms of a verb count as the verb."""

    @property
    def past(self) -> bool:
        """Whether it asks for what was so before."""
        return bool(self.times)

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
    times, ends = asked_before(query)
    looked_up = [word for word in telling if word not in spoken] or telling or found
    return Question(
        tuple(looked_up[:_MOST_WORDS]),
        frozenset(names),
        tuple(islice(_quoted(query), _MOST_QUOTED)),
        flattened(query.strip(" \t\r\n\"'?!.？。！")) if len(found) > 1 else "",
        tuple(dict.fromkeys(question_dates(query))),
        times,
        ends,
        frozenset(term for name in proper_words(query) for word in words(name) for term in terms(word)[:1]),
        tuple(found),
        {run.lower(): parts for run, parts in camel_words(query).items()},
        inflected,
    )


def asked_before(query: str) -> tuple[frozenset[str], Sequence[Span | PartialDate]]:
    """The words by which a query asks for what was so before, and the times before which it does. There must be words
    for it, or words for a time together with the past tense; else both are empty."""
    phrases = {*_written(past()).findall(query)}
    for times, verbs_then in past_tense():
        if says_as_written(verbs_then, query):
            phrases |= {*_written(times).findall(query)}
    ends = dates_before(query) if phrases else {}
    return frozenset(word for phrase in (*phrases, *ends.values()) for word in words(phrase)), tuple(ends)


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
