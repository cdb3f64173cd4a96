"""Documents that contradict each other: the same subject and label with another value, `Port: 8080` and `Port: 8443`.

The subject is the headings above the line, the title first; without a title it is the last part of the document's
place. Only what says the same thing about the same subject counts, so this rather misses one than tells a wrong one: a
label that one document gives twice below its headings, or that many documents share, is a form to fill in, and a
heading below a day is a subject only if a document is called so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from memory_v2.text.days import heading_day, newest_part
from memory_v2.text.lists import forms
from memory_v2.text.secrets import masked
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import normal

MOST_DOCUMENTS = 4
"""How many documents may say something about the same subject and label. Where more do, it is a form."""
MAX_VALUE = 60
"""The length of a value, in characters. A longer one is a sentence."""

_STATED = re.compile(
    r"(?P<label>[^\W\d_][\w ./()-]{0,38}[\w)])(?:[ \u00a0\u202f]?:[ \t]+|：[ \t]*|[ \t]+=[ \t]+)(?P<value>\S.*)"
)
_SENTENCE = re.compile(r"(?<=\w{4})(?<!\bProf)[.!?][ \t]|[:?：？。]\Z")
"""What makes a value a sentence: its end. `M. Perrin` and `Prof. Ada` are names."""
_MARKS = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[[ xX]\][ \t]+)?")


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a document (from 1), the value that it gives, and the day on which it was said, if that is known."""

    name: str
    line: int
    value: str
    day: date | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What documents say about one subject under one label, newest first."""

    subject: str
    label: str
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class LabelledStatement:
    """A statement, with its subject and its label."""

    subject: str
    label: str
    statement: Statement


def contradictions(said: Iterable[LabelledStatement]) -> list[Contradiction]:
    """What documents say differently, sorted by subject and label."""
    found: dict[tuple[str, str], list[LabelledStatement]] = {}
    for one in said:
        found.setdefault((normal(one.subject), normal(one.label)), []).append(one)
    told = (_contradiction(found[key]) for key in sorted(found))
    return [one for one in told if one is not None]


def _contradiction(said: Sequence[LabelledStatement]) -> Contradiction | None:
    """What was said under one label about one subject, if it is a contradiction."""
    values = {(one.statement.name, normal(one.statement.value)) for one in said}
    names, different = {name for name, _ in values}, {value for _, value in values}
    is_form = len(names) > MOST_DOCUMENTS or len(values) > len(names)
    longest = max(different, key=len)
    if len(names) < 2 or is_form or all(longest.startswith(value) for value in different):
        return None
    if any(value[0].isdigit() for value in different) and not all(re.search(r"\d", value) for value in different):
        return None  # a number, and words about it: `Year: 2019`, `Year: not on the plate`
    by_name = sorted((one.statement for one in said), key=lambda one: (one.name, one.line))
    newest = sorted(by_name, key=lambda one: one.day or date.min, reverse=True)
    subject, label = said[0].subject, said[0].label
    return Contradiction(subject, label, tuple(_masked(one, label) for one in newest))


def subject_of(headings: Sequence[str], names: Collection[str]) -> str:
    """The headings that name a subject: not days and times, nor words such as "Notes". Empty if there is none. `names`
    is what the documents of the source are called."""
    named = [words for words in headings if is_meaningful(slug(words)) and not _is_day(words)]
    is_log = any(_is_day(words) for words in headings)
    return "" if is_log and not (named and normal(named[0]) in names) else " › ".join(named)


def _is_day(words: str) -> bool:
    """Whether a heading has a day or a time in it, or nothing but numbers."""
    return bool(heading_day(words) or re.search(r"\d:\d\d", words) or not re.search(r"[^\W\d_]{2}", words))


def stated(line: str) -> tuple[str, str] | None:
    """The label and the value of a line; `None` if it is not of that form."""
    bare = _MARKS.sub("", newest_part(line)).replace("**", "").replace("__", "").replace("`", "").strip()
    found = _STATED.fullmatch(bare)
    if not found or len(value := found["value"].strip()) > MAX_VALUE or len(found["label"].split()) > 4:
        return None
    if slug(found["label"]) in forms() or _SENTENCE.search(value) or not normal(value):
        return None
    return found["label"], value


def _masked(statement: Statement, label: str) -> Statement:
    """The statement without the secret that its value may be."""
    shown = masked(f"{label}: {statement.value}").removeprefix(f"{label}: ")
    return Statement(statement.name, statement.line, shown, statement.day)
