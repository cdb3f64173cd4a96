"""Values and numbers of lasting notes that another note contradicts.

A value is under a label of a subject: `Port: 8080` and `Port: 8443`. The subject is the headings above the line, the
title first; without a title it is what the file is called. Only what says the same thing about the same subject counts,
so this rather misses one than tells a wrong one: a label that one note gives twice below its headings, or that many
notes share, is a form to fill in, and a heading below a day is a subject only if a note is called so. What changes from
log to log is history: only what a lasting note says is held against the rest.

A series is what notes say of one measure (`karma`, in one unit) of one subject: two numbers are of one subject if what
is around them shares a name, or if there is only one. What was added is no total. `~35` agrees with what is near it,
`26+` with more. A goal, a limit and so much a day are no totals.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from memory_v2.notes.audit.ageing import day_after
from memory_v2.notes.audit.context import AuditContext, is_index, is_log, stem_of
from memory_v2.notes.audit.findings import NoteFinding
from memory_v2.notes.classify import is_closed
from memory_v2.notes.digest import PORT, amount
from memory_v2.notes.extract import Extracted, by_day, extraction, states_amount
from memory_v2.notes.languages import bare, says
from memory_v2.notes.measures import Reading, readings
from memory_v2.notes.note import Item, Note
from memory_v2.text.dates import is_month
from memory_v2.text.days import heading_day, newest_part
from memory_v2.text.lists import forms, headings
from memory_v2.text.secrets import masked
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.words import content_words, normal, stem


def differing(context: AuditContext) -> Iterator[NoteFinding]:
    """The values of lasting notes that another note contradicts."""
    lasting = {note.name for note in context.lasting}
    for found in contradictions(_said(context)):
        here = next((statement for statement in reversed(found.statements) if statement.name in lasting), None)
        if here is None:
            continue
        other = next(statement for statement in found.statements if normal(statement.value) != normal(here.value))
        if here.day and other.day and here.day > other.day:
            continue
        place = f"{other.name}:{other.line}"
        message = f"{found.label} of {found.subject} is {here.value} here, and {other.value} in {place}"
        about = normal(f"{found.subject} {found.label}")
        yield NoteFinding("contradiction", here.name, here.line, message, about, (place,), other.day or here.day)


def _said(context: AuditContext) -> Iterator[LabelledStatement]:
    notes = (*context.lasting, *context.logs)
    names = {normal(stem_of(note.name)) for note in notes}
    names |= {normal(note.sections[0].heading) for note in notes if note.sections and note.sections[0].heading}
    names |= {normal(section.heading) for note in notes if is_index(note) for section in note.sections}
    subjects: dict[tuple[str, ...], str] = {}
    for note, item in context.statements:
        for number, line in enumerate(item.text.split("\n"), item.first_line):
            if not (found := stated(line)) or is_closed(item) or readings(line, is_stated=False):
                continue
            above = _above(note, item)
            if above not in subjects:
                subjects[above] = subject_of(above, names)
            if subject := subjects[above]:
                yield LabelledStatement(subject, found[0], Statement(note.name, number, found[1], item.day))


def _above(note: Note, item: Item) -> tuple[str, ...]:
    """The headings that name what an item is about. The title of an index names nothing; a lasting note without a title
    is about what its file is called."""
    titles = {section.heading for section in note.sections if section.level == 1}
    if is_index(note):
        headings = item.headings[1:] if item.headings[:1] and item.headings[0] in titles else item.headings
        return headings or (stem_of(note.name),)
    return item.headings if item.headings and (titles or is_log(note)) else (stem_of(note.name), *item.headings)


MOST_NOTES = 4
"""How many notes may say something about the same subject and label. Where more do, it is a form."""
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
    """A line of a note (from 1), the value that it gives, and the day on which it was said, if that is known."""

    name: str
    line: int
    value: str
    day: date | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What notes say about one subject under one label, newest first."""

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
    """What notes say differently, sorted by subject and label."""
    found: dict[tuple[str, str], list[LabelledStatement]] = {}
    for one in said:
        found.setdefault((normal(one.subject), normal(one.label)), []).append(one)
    told = (_contradiction(found[key]) for key in sorted(found))
    return [one for one in told if one is not None]


def _contradiction(said: Sequence[LabelledStatement]) -> Contradiction | None:
    """What was said under one label about one subject, if it is a contradiction."""
    values = {(one.statement.name, normal(one.statement.value)) for one in said}
    names, different = {name for name, _ in values}, {value for _, value in values}
    is_form = len(names) > MOST_NOTES or len(values) > len(names)
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
    is what the notes are called."""
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


_FIELDS = ("markers", "titles", "headings", "units", "increments", "totals", "changes")
NEWEST = 200
"""How many of the newest points of a series are looked at: the number that holds is among them."""
NEAR = 0.1
"""How far from `~100` a number may be that agrees with it, as a share."""
_LABEL = re.compile(r"([^:：(（]*)[:：]")
_PORT = re.compile(r"\bport\b(?: (?:is|to|now|from \d+ to))*[ :=*_]*(\d{2,5})\b")
"""A port, which is a number that is compared and not counted."""
_VERBS = frozenset(map(stem, ("port", "listens", "runs", "uses", "changed", "moved", "answers", "serves", "available")))
"""What is said of ports of anything."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """A number, where it is, and the words around it that may name its subject. `own` are those of its line, if
    no label says that the line states this number, else those of the label: `Subscribers in Berlin: 80`."""

    reading: Reading
    source: Extracted
    subject: frozenset[str]
    own: frozenset[str]


def drift(context: AuditContext) -> Iterator[NoteFinding]:
    """Numbers in lasting notes that are not what the newest log says."""
    lasting = {note.name for note in context.lasting}
    logs = {note.name for note in context.notes if is_log(note)}
    series: dict[str, list[Measurement]] = {}
    counted = (measurement for measurement in _measurements(context) if measurement.reading.form == "total")
    totals = [*counted, *_ports(context)]
    for one in totals:
        if one.source.file in logs and one.source.day and one.source.day <= context.today:
            series.setdefault(one.reading.key, []).append(one)
    latest = {key: sorted(points, key=lambda point: by_day(point.source))[-NEWEST:] for key, points in series.items()}
    for one in totals:
        if one.source.file not in lasting:
            continue
        points = [point for point in latest.get(one.reading.key, ()) if _is_same_matter(one, point)]
        newest = max(_of_subject(one.subject, points), key=lambda point: by_day(point.source), default=None)
        day = one.source.day or day_after(bare(one.source.text), "as of")
        if newest is None or (day and newest.source.day and day >= newest.source.day):
            continue
        if not agrees(one.reading, newest.reading):
            yield _finding(one, newest)


def _of_subject(subject: frozenset[str], points: Sequence[Measurement]) -> Sequence[Measurement]:
    """The points of a series that are of this subject. What names no subject is of the only one that there is."""
    subjects = [names for names in (subject, *(point.subject for point in points)) if names]
    if all(subjects[0] & names for names in subjects):
        return points
    return [point for point in points if point.subject & subject]


def _is_same_matter(one: Measurement, other: Measurement) -> bool:
    """Whether two lines count the same: `3 users reported a bug` does not tell how many users there are."""
    return one.own <= other.subject and other.own <= one.subject


def agrees(reading: Reading, newer: Reading) -> bool:
    """Whether a number holds still, given a newer one."""
    if reading.bound == "at least" and newer.value >= reading.value:
        return True
    about = "about" in (reading.bound, newer.bound) or newer.bound == "at least"
    return abs(reading.value - newer.value) <= (NEAR * max(abs(reading.value), abs(newer.value)) if about else 0)


def _finding(one: Measurement, newest: Measurement) -> NoteFinding:
    now, then = newest.reading, one.reading
    day = f" of {newest.source.day}" if newest.source.day else ""
    message = f"{then.name} is {amount(then)} here, and {amount(now)} in {newest.source.place}{day}"
    about = f"{one.source.id} {then.key}"
    also = (newest.source.place,)
    return NoteFinding("metric-drift", one.source.file, one.source.first_line, message, about, also, newest.source.day)


def _measurements(context: AuditContext) -> Iterator[Measurement]:
    for one in context.extracted:
        if one.category == "metrics" and states_amount(one):
            around = content_words(" ".join((*one.headings, one.text)))
            names = {stem(word) for reading in one.readings for word in bare(reading.name).split()}
            subject = frozenset(word for word in around if word not in names and _is_name(word))
            own = subject.intersection(content_words(one.text))
            line = bare(one.text).lstrip(" *_")
            label = frozenset(content_words(found[1] if (found := _LABEL.match(line)) else ""))
            for reading in one.readings:
                of_line = own & label if line.startswith(reading.name) else own
                yield Measurement(reading, one, subject, frozenset() if one.grade == "marker" else of_line)


def _ports(context: AuditContext) -> Iterator[Measurement]:
    for note, item in context.statements:
        found = _PORT.search(bare(item.text))
        labelled = stated(item.text)
        if found and not (labelled and normal(labelled[0]) == PORT):  # `Port: 80` below a heading is a value
            words = content_words(" ".join((*item.headings, item.text)))
            subject = frozenset(word for word in words if stem(word) not in _VERBS and _is_name(word))
            source = extraction(item, note.name, "metrics", "marker", PORT, ())
            yield Measurement(Reading(PORT, float(found[1])), source, subject, frozenset())


def _is_name(word: str) -> bool:
    """Whether a word may name a subject: neither a number, a month nor a word of every list of numbers."""
    if any(map(str.isdigit, word)) or is_month(word) or word in headings():
        return False
    return not any(says(form, "metrics", field) for form in (word, f"{word}s") for field in _FIELDS)
