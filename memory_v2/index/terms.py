"""What is looked up: the terms under which a text is found.

A term is a stem, so that `testing` finds `tests`. The stemmer is SQLite's own Porter, asked through a table of its
vocabulary: texts and queries then meet in the same terms, and the full-text table needs none but to split at blanks.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cache, lru_cache

from memory_v2.text.lists import irregular, kinds, synonyms
from memory_v2.text.words import has_cjk, matcher, words

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
    identifiers = (parts for run, parts in camel_words(text).items() if run[0].islower() or len(parts) > 2)
    return [part for parts in identifiers for part in parts]


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
