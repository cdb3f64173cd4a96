"""The numbers that a line states of something that changes: `24 karma`, `**Karma**: 26+`, `Karma rose to 35 (from 26)`.

A number is read in both directions, name before value and value before name. `~` says about, `+` at least. What was
added (`10 posts published`) is told apart from what there is (`19 posts in total`). Dates, times, versions, ids and
addresses are no numbers of this kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from memory_v2.notes.languages import bare, decimal_commas, languages_with, pattern, says
from memory_v2.text.words import stem

Bound: TypeAlias = Literal["exact", "about", "at least"]
Form: TypeAlias = Literal["total", "increment"]
MOST = 12
"""How many readings of a line are told: more are a table in a line."""

_VALUE = (
    r"(?P<about{0}>[~≈]|about |circa |approx\.? )?(?P<sign{0}>(?:us|r)?[$€£] ?)?"
    r"(?P<value{0}>(?<![\w.,:/#-])\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|(?<![\w.,:/#-])\d+(?:\.\d+)?)(?P<unit{0}>%|[km](?!\w))?"
    r"(?P<more{0}>\+)?(?![\w%]|[.:/-]\d)"
)
_DIGIT = re.compile(r"\d")
_APART = re.compile(r"\d[., ]\d")
_GROUPED = re.compile(
    r"(?<![\w.,:/#-])(?P<whole>\d{1,3}(?:[. ]\d{3})+|\d+)(?:,(?P<part>\d{1,2}|\d{4,}))?(?!\d|[.,:/-]\d| \d{3}(?!\d))"
)
"""A number as most of Europe writes it: `1.830,50`, `1 830`, `2,5`."""
_CERTAIN = re.compile(r"(?<![\w.,:/#-])\d{1,3}(?:\.\d{3})+(?:,\d+|\.\d{3})(?![\w.,:/-])")
"""One that nobody writes otherwise: `1.830,50`, `1.830.000`."""
_GOES_ON = re.compile(r"\s*[^\W\d_](?![^\W\d_]{0,5}\W*\Z)")
"""What follows a number that is no measure: words, but not one short word such as `Euro` or `MB` alone."""
REACH = 60
"""How many characters before a number are looked at for its name and a word such as `rose`."""
_TO = frozenset(["to", "at", "para", "a", "auf", "zu", "about", "circa"])
_SPACE = r"[\s*_]*"
_FROM = rf"\s*\(?(?:was|from|up from|down from|de|von|vorher|antes|avant|此前|从)\s+{_VALUE.format('_before')}"
_ARROW = rf"{_VALUE.format('_first')}\s*(?:→|->|=>)\s*{_VALUE.format('_last')}"


_CELLS = re.compile(
    rf"\|{_SPACE}(?P<name>[^\W\d_][\w /-]{{0,30}}?){_SPACE}\|\s*(?={_SPACE}{_VALUE.format('')}{_SPACE}\|?\s*\Z)"
)
"""The cells of a row that tell a name and, last of all, a number."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One number of a line. `bound` tells whether it is exact; `before` is what it was, if the line says so; a `total`
    is how much there is, an `increment` how much was added."""

    name: str
    value: float
    bound: Literal["exact", "about", "at least"] = "exact"
    unit: str = ""
    form: Literal["total", "increment"] = "total"
    before: float | None = None

    @property
    def key(self) -> str:
        """What two readings of the same measure have in common."""
        return " ".join(map(stem, self.name.split())) + self.unit


def readings(text: str, is_stated: bool) -> list[Reading]:
    """The readings of a line. Where a label or heading states that it tells numbers, any name counts; else only the
    names that the packs know."""
    if not _DIGIT.search(text):
        return []
    plain = _plain_numbers(bare(text))
    found: dict[str, Reading] = {}
    for reading in _all(plain, is_stated):
        found.setdefault(f"{reading.key} {reading.form}", reading)
    return list(found.values())[:MOST]


def is_goal_or_rate(text: str) -> bool:
    """Whether a line tells what is aimed at or allowed, or how much comes each day or week: not how much there is."""
    plain = bare(text)
    return says(plain, "metrics", "goals") or says(plain, "metrics", "rates")


def is_change(text: str) -> bool:
    """Whether a line states that a number has changed, and to what."""
    return _DIGIT.search(text) is not None and any(
        _known(name, is_stated=False) for name, *_ in _changes(_plain_numbers(bare(text)))
    )


def _plain_numbers(plain: str) -> str:
    """The text with its numbers as English writes them. A comma begins decimals if the measure is named in a language
    that writes so, and in no other."""
    if not _APART.search(plain):
        return plain
    named = frozenset(language for word in re.findall(r"[^\W\d_][\w-]*", plain) for language in _languages(word))
    if named and not named - decimal_commas():
        return _GROUPED.sub(_as_english, plain)
    return _CERTAIN.sub(lambda found: _GROUPED.sub(_as_english, found[0]), plain)


def _as_english(found: re.Match[str]) -> str:
    return re.sub(r"[. ]", "", found["whole"]) + (f".{found['part']}" if found["part"] else "")


@lru_cache(maxsize=4096)
def _languages(word: str) -> frozenset[str]:
    """The languages in which a word is a measure that the packs know."""
    return languages_with(word, "metrics", "units") | languages_with(stem(word), "metrics", "units")


def _all(plain: str, is_stated: bool) -> Iterator[Reading]:
    rest = plain = _CELLS.sub(r"\g<name>: ", plain)
    for named, now, before, words in _changes(plain):
        if name := _known(named, is_stated):
            yield _reading(name, now, "", before)
            rest = rest.replace(words, " ")
    for found in re.finditer(rf"(?P<name>[^\W\d_][\w ]{{1,30}}?){_SPACE}[:：=]{_SPACE}{_ARROW}", rest):
        if name := _known(found["name"], is_stated):
            yield _reading(name, found, "_last", _number(found, "_first"))
            rest = rest.replace(found[0], " ")
    last = ""
    for clause in re.split(r"[;；]|,(?!\d)|，|、|\s[—–·|]\s|\(|\)", rest):
        total = _total().search(clause) if says(clause, "metrics", "totals") else None
        if total and (name := _named_in(clause) or last):
            yield _reading(name, total, "")
            continue
        for reading in _in_clause(clause, is_stated):
            last = reading.name
            yield reading


def _in_clause(clause: str, is_stated: bool) -> Iterator[Reading]:
    is_increment = says(clause, "metrics", "increments") and not says(clause, "metrics", "totals")
    form: Form = "increment" if is_increment else "total"
    if labelled := re.match(
        rf"[\W_]*(?P<name>[^\W\d_][\w /-]{{0,30}}?){_SPACE}[:：=]{_SPACE}{_VALUE.format('')}", clause
    ):
        after = clause[labelled.end() :]
        counted = _counted(clause, labelled.start("value"))
        name = counted or _known(labelled["name"], is_stated)
        if name and not (counted is None and _GOES_ON.match(after) and not labelled["unit"] and not is_stated):
            yield _reading(name, labelled, "", form=form)
            return
    named = re.fullmatch(rf"[\W_]*(?P<name>[^\W\d_][\w-]*){_SPACE}{_VALUE.format('')}[\W_]*", clause)
    if named and says(named["name"], "metrics", "amounts"):  # `post 7` is the seventh
        yield _reading(named["name"], named, "", form=form)
        return
    for found in re.finditer(rf"{_VALUE.format('')}", clause):
        if counted := _counted(clause, found.start("value")):
            yield _reading(counted, found, "", form=form)


def _counted(clause: str, start: int) -> str | None:
    """The name that the number at a place of a clause counts: `24 karma`, `19 total posts`."""
    found = re.match(rf"[\d.,]+(?:%|[km])?\+?{_SPACE}(?:(?:total|new|active|open)\s+)?([^\W\d_][\w-]*)", clause[start:])
    return _unit(found[1]) if found else None


def _known(name: str, is_stated: bool) -> str:
    """The name of a measure in these words; the last words of them if they are no measure that the packs know."""
    if known := _named_in(name):
        return known
    words = name.strip(" -/").split()
    return " ".join(words[-3:]) if is_stated and words else ""


def _named_in(words: str) -> str | None:
    found = [unit for word in re.findall(r"[^\W\d_][\w-]*", words) if (unit := _unit(word))]
    if found or not says(words, "metrics", "units"):
        return found[-1] if found else None
    whole = pattern("metrics", "units").search(words)  # of several words, or without spaces
    return whole[0] if whole else None


def _unit(word: str) -> str | None:
    return word if any(says(one, "metrics", "units") for one in (word, stem(word))) else None


def _reading(name: str, found: re.Match[str], which: str, before: float | None = None, form: Form = "total") -> Reading:
    has = found.groupdict()
    bound: Bound = "about" if has[f"about{which}"] else "at least" if has[f"more{which}"] else "exact"
    unit = (has[f"sign{which}"] or "").strip().upper() or ("%" if has[f"unit{which}"] == "%" else "")
    return Reading(name.strip(), _number(found, which), bound, unit, form, before)


def _number(found: re.Match[str], which: str) -> float:
    value = float(found[f"value{which}"].replace(",", ""))
    return value * {"k": 1e3, "m": 1e6}.get(found[f"unit{which}"] or "", 1)


def _changes(plain: str) -> Iterator[tuple[str, re.Match[str], float | None, str]]:
    """The name, the number now and before, and all that says so: `karma rose to 35 (from 26)`, `karma 35 (was 26)`."""
    for now in re.finditer(_VALUE.format(""), plain):
        ahead = re.split(r"[.,;(){}|]", plain[max(0, now.start() - REACH) : now.start()])[-1]
        words = re.findall(r"[^\W\d_][\w-]*", ahead)
        while words and words[-1] in _TO:
            words.pop()
        start = len(words)
        while (
            start and start > len(words) - 2 and pattern("metrics", "changes").fullmatch(" ".join(words[start - 1 :]))
        ):
            start -= 1
        was = re.compile(_FROM).match(plain, now.end())
        if words[:start] and (start < len(words) or was):
            before = _number(was, "_before") if was else None
            end = was.end() if was else now.end()
            yield " ".join(words[:start][-3:]), now, before, plain[now.start() - len(ahead) : end]


@cache
def _total() -> re.Pattern[str]:
    """`bringing total to ~19`, `TOTAL: 14 posts`."""
    return re.compile(rf"(?:{pattern('metrics', 'totals').pattern})\D{{0,12}}?{_VALUE.format('')}")
