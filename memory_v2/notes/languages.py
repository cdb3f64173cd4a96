"""What words say of a line or a heading, by language: the packs are data files, and all of them count at once.

Notes mix languages from line to line, so no language is chosen. A phrase is found as whole words, whatever the case and
the accents. Code, addresses and quotations are left out before anything is looked for: their words are not the note's.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from memory_v2.text.words import folded, has_cjk

PACKS = Path(__file__).with_name("languages")
Category: TypeAlias = Literal["contacts", "decisions", "lessons", "metrics", "issues", "pending"]
CATEGORIES: tuple[Category, ...] = ("contacts", "decisions", "lessons", "metrics", "issues", "pending")
Field: TypeAlias = Literal["markers", "titles", "headings", "statements", "keywords", "openings", "answers", "parts"]

_APART = re.compile(
    r"`[^`\n]*`|<!--[^<]{0,2000}-->|https?://\S+|(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+|(?<!\w)[~.]?/[\w./-]{3,}"
    r"|\"[^\"\n]{12,}\"|“[^”\n]{12,}”|«[^»\n]{12,}»|「[^」\n]{6,}」",
    re.S,
)
"""Code, addresses and quotations. Shorter ones are names: `the "research concierge" rule`."""
_MAY_BE_APART = re.compile(r"[`<@/\"“«「]")
"""One of these is in each of them. Most lines have none, which is told ten times as fast."""


Key: TypeAlias = tuple[str, str]
"""A group of a pack, such as a category, and a field of it."""
WORD = re.compile(r"\w+")
_GOES_ON = re.compile(r"\w|\.\w")
WILD = 3
"""By how many letters a phrase is looked up that may have any ending, such as `install*`; it has more."""


LONGEST = 10_000
"""How much of a text is looked at, in characters: what is longer, without a line of its own, nobody wrote by hand."""


def bare(text: str) -> str:
    """The text in which phrases are looked for: its own words without case and accents."""
    return _bare(text[:LONGEST])


@lru_cache(maxsize=4096)
def _bare(text: str) -> str:
    own = _APART.sub(" ", text) if _MAY_BE_APART.search(text) else text
    return " ".join(_unaccented(own).split())


def cues(text: str, category: Category, field: Field) -> list[str]:
    """The phrases of a field of a category that stand in a `bare` text."""
    return _found(text).get((category, field), [])


def mentions(text: str, category: Category) -> list[str]:
    """The words in a `bare` text that belong to a category, whether they state it or only mention it."""
    return cues(text, category, "statements") + cues(text, category, "keywords")


def says_something(text: str) -> bool:
    """Whether any phrase is in a `bare` text."""
    return bool(_found(text))


def mentioned(text: str) -> set[str]:
    """The categories that a `bare` text mentions."""
    return {group for group, field in _found(text) if field in ("statements", "keywords")}


def topics(text: str) -> list[str]:
    """The topics that the words of a `bare` text belong to."""
    return sorted(field for group, field in _found(text) if group == "topics")


@lru_cache(maxsize=4096)
def _found(text: str) -> Mapping[Key, list[str]]:
    """All phrases in a `bare` text, by group and field. One walk over its words finds those of all packs: to search for
    each field alone takes ten times as long."""
    phrases = _phrases()
    found: dict[Key, list[str]] = {}
    for word in WORD.finditer(text):
        start = word.start()
        for key, phrase in phrases.whole.get(word[0], ()):
            if text.startswith(phrase, start) and not _GOES_ON.match(text, start + len(phrase)):
                found.setdefault(key, []).append(phrase)
        for key, phrase in phrases.beginning.get(word[0][:WILD], ()):
            if text.startswith(phrase, start):
                found.setdefault(key, []).append(word[0])
    if has_cjk(text):
        for key, phrase in phrases.unspaced:
            if phrase in text:
                found.setdefault(key, []).append(phrase)
    return found


class _Phrases(NamedTuple):
    """The phrases by their first words; those that may have any ending by their first letters; those without spaces."""

    whole: dict[str, list[tuple[Key, str]]]
    beginning: dict[str, list[tuple[Key, str]]]
    unspaced: list[tuple[Key, str]]


@cache
def _phrases() -> _Phrases:
    known = _Phrases({}, {}, [])
    for pack in _packs().values():
        for group, fields in pack.items():
            for field, phrases in fields.items():
                if isinstance(phrases, str):  # a sign, and no words to look for
                    continue
                for phrase in map(_unaccented, phrases):
                    key = (group, field)
                    if has_cjk(phrase):
                        known.unspaced.append((key, phrase))
                    elif phrase.endswith("*"):
                        known.beginning.setdefault(phrase[:WILD], []).append((key, phrase[:-1]))
                    else:
                        known.whole.setdefault(WORD.findall(phrase)[0], []).append((key, phrase))
    return known


def labels_as(label: str, category: Category, marker: str) -> bool:
    """Whether a marker in a `bare` label is what the label is about: `connection issue`, but not `issue tracker`."""
    rest = label.partition(marker)[2].split()
    if not rest or not rest[0][0].isalpha():
        return True
    having = [pack for pack in _packs().values() if marker in map(_unaccented, pack[category]["markers"])]
    return all(rest[0] in map(_unaccented, pack["labels"]["following"]) for pack in having if "labels" in pack)


def says(text: str, group: str, field: str) -> bool:
    """Whether a phrase of a field of a group is in a `bare` text."""
    return (group, field) in _found(text)


def languages_with(word: str, group: str, field: str) -> frozenset[str]:
    """The languages in whose packs a `bare` word is in a field of a group."""
    return frozenset(name for name, words in _words_of(group, field).items() if word in words)


@cache
def _words_of(group: str, field: str) -> Mapping[str, frozenset[str]]:
    return {name: frozenset(map(_unaccented, pack[group].get(field, ()))) for name, pack in _packs().items()}


@cache
def decimal_commas() -> frozenset[str]:
    """The languages in which a comma begins the decimals of a number, and a point or a blank sets off its thousands."""
    return frozenset(name for name, pack in _packs().items() if pack["metrics"].get("decimal") == ",")


@cache
def pattern(category: str, field: str) -> re.Pattern[str]:
    """The phrases of all packs as one pattern, for a `bare` text."""
    phrases = {_unaccented(words) for pack in _packs().values() for words in pack.get(category, {}).get(field, ())}
    parts = []
    for phrase in sorted(phrases, key=lambda phrase: (-len(phrase), phrase)):
        words = re.escape(phrase.removesuffix("*")).replace(r"\ ", r"\s+")
        if has_cjk(phrase):
            parts.append(words)
        else:
            parts.append(rf"(?<!\w){words}" + (r"\w*" if phrase.endswith("*") else r"(?!\w|\.\w)"))
    return re.compile("|".join(parts) or "(?!)")


@cache
def _packs() -> Mapping[str, Mapping[str, Any]]:
    return {file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted(PACKS.glob("*.toml"))}


def _unaccented(text: str) -> str:
    plain = folded(text.replace("’", "'"))
    if plain.isascii():
        return plain
    apart = unicodedata.normalize("NFD", plain)
    return "".join(character for character in apart if not unicodedata.combining(character))
