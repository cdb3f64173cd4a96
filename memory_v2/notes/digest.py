"""What happened in some days, in short: how numbers changed, who is new, what was decided, learnt, and is still open.

The same notes and days give the same bytes. Each line has the place that it was taken from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memory_v2.notes.extract import Extracted, Wanted, by_day, collected, states_amount
from memory_v2.notes.languages import Category
from memory_v2.notes.measures import Reading
from memory_v2.text.words import folded, shorten, tokens

SHOWN = 110
"""How much of an item is shown in a digest, in characters."""
PORT = "port"
"""What a number is called that names and counts nothing."""
MOST = 5
"""How many items of a kind are shown where nobody says how many tokens there may be."""
_TITLES: tuple[tuple[Category, str], ...] = (
    ("contacts", "👤 New contacts"),
    ("decisions", "📋 Decisions"),
    ("lessons", "💡 Lessons"),
    ("issues", "⚠️ Open issues"),
    ("pending", "📝 Pending"),
)


@dataclass(frozen=True, slots=True)
class Point:
    """A number as it was told on a day, and where."""

    reading: Reading
    day: date
    place: str


@dataclass(frozen=True, slots=True)
class Delta:
    """How a number changed: the first and the last time that it was told. Both are the same if it was told once."""

    name: str
    first: Point
    last: Point

    @property
    def change(self) -> float | None:
        """The change as a share of the first value; `None` if that was 0, or it was told once only."""
        before, after = self.first.reading.value, self.last.reading.value
        return (after - before) / before if before and self.first is not self.last else None


@dataclass(frozen=True, slots=True)
class Digest:
    """What happened from `since` to `until`, both included. `contacts` are those of whom nothing was told before."""

    since: date
    until: date
    metrics: tuple[Delta, ...] = ()
    contacts: tuple[Extracted, ...] = ()
    decisions: tuple[Extracted, ...] = ()
    lessons: tuple[Extracted, ...] = ()
    issues: tuple[Extracted, ...] = ()
    pending: tuple[Extracted, ...] = ()
    files: tuple[str, ...] = ()
    newest: date | None = None
    """The last day up to `until` that the notes have anything from."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened that the notes tell of."""
        return not self.files

    def of(self, category: Category) -> tuple[Extracted, ...]:
        """The items of a category."""
        found: tuple[Extracted, ...] = getattr(self, category)
        return found


def make_digest(found: Sequence[Extracted], days: Mapping[str, Sequence[date]], since: date, until: date) -> Digest:
    """The digest of some days, from all that was extracted and the days that each note speaks from."""
    wanted = collected(found, Wanted(since=since, until=until))
    known = {name for one in found if one.day and one.day < since for name in _names(one)}
    by_category = {category: tuple(one for one in wanted if one.category == category) for category, _ in _TITLES}
    by_category["contacts"] = tuple(_new(by_category["contacts"], known))
    return Digest(
        since,
        until,
        metrics=tuple(_deltas(found, since, until)),
        files=tuple(name for name, spoken in sorted(days.items()) if any(since <= day <= until for day in spoken)),
        newest=max((day for spoken in days.values() for day in spoken if day <= until), default=None),
        **by_category,
    )


def digest_lines(digest: Digest, max_tokens: int | None = None) -> list[str]:
    """The digest for people to read. The counts are always there; of the items, as many as fit, in turns."""
    days = f"{digest.since}" if digest.since == digest.until else f"{digest.since} to {digest.until}"
    lines = [f"📊 Digest of {days}"]
    if digest.is_empty:
        newest = f"; the newest before that is of {digest.newest}" if digest.newest else ""
        return [*lines, f"The notes have nothing from these days{newest}."]
    sections = [(title, digest.of(category)) for category, title in _TITLES]
    heads = [f"{title}: {len(items)}" for title, items in sections]
    metrics = ", ".join(map(_delta, digest.metrics))
    if metrics:
        lines.append(f"📈 Metrics: {metrics}")
    last = f"🗂️ Files: {len(digest.files)} ({', '.join(digest.files[:MOST])}{', …' if len(digest.files) > MOST else ''})"
    room = None if max_tokens is None else max_tokens - sum(tokens(line) + 1 for line in (*lines, *heads, last))
    shown = _fitting([items for _, items in sections], room)
    for head, (_, items), count in zip(heads, sections, shown, strict=True):
        lines.append(head)
        lines += [_item(item) for item in items[:count]]
        if 0 < count < len(items):
            lines.append(f"  … and {len(items) - count} more")
    return [*lines, last]


def _fitting(groups: Sequence[Sequence[Extracted]], room: int | None) -> list[int]:
    """How many items of each group are shown: one of each in turn, while there is room."""
    shown = [0] * len(groups)
    if room is None:
        return [min(len(group), MOST) for group in groups]
    for place in range(max(map(len, groups), default=0)):
        for number, group in enumerate(groups):
            if place == shown[number] < len(group) and (cost := tokens(_item(group[place])) + 2) <= room:
                room -= cost
                shown[number] += 1
    return shown


def _item(one: Extracted) -> str:
    return f"  - {shorten(one.text, SHOWN)} [{one.place}]"


def _names(one: Extracted) -> frozenset[str]:
    return frozenset(map(folded, one.people)) if one.category == "contacts" else frozenset()


def _new(contacts: Sequence[Extracted], known: Collection[str]) -> Iterator[Extracted]:
    """Those that name somebody who is not known, each person once."""
    names = set(known)
    for contact in contacts:
        if _names(contact) and not names.intersection(_names(contact)):
            yield contact
        names |= _names(contact)


def _deltas(found: Sequence[Extracted], since: date, until: date) -> Iterator[Delta]:
    series: dict[str, list[Point]] = {}
    dated = [one for one in found if one.category == "metrics" and one.day and one.day <= until and states_amount(one)]
    for one in sorted(dated, key=by_day):
        for reading in one.readings:
            if reading.form == "total":
                point = Point(reading, one.day or date.min, one.place)
                series.setdefault(reading.key, []).append(point)
    for _, points in sorted(series.items()):
        inside = [point for point in points if point.day >= since]
        before = [point for point in points if point.day < since]
        if inside:
            first = inside[0]
            if len(inside) == 1:
                first = before[-1] if before else _told_before(first)
            yield Delta(inside[-1].reading.name, first, inside[-1])


def _told_before(point: Point) -> Point:
    """What the number was before, if the line says so: `rose to 6 (from 4)`; else the same point."""
    was = point.reading.before
    return point if was is None else replace(point, reading=replace(point.reading, value=was, bound="exact"))


def _delta(delta: Delta) -> str:
    first, last = amount(delta.first.reading), amount(delta.last.reading)
    if delta.first is delta.last:
        return f"{delta.name} {last} [{delta.last.place}]"
    change = delta.change
    share = "stable" if change == 0 else f"{change:+.0%}" if change is not None else "was 0"
    values = last if change == 0 else f"{first}→{last}"
    return f"{delta.name} {values} ({share}) [{delta.last.place}]"


def amount(reading: Reading) -> str:
    """A number as it was told: `~35+`, `$20`."""
    number = f"{reading.value:.10g}" if reading.name == PORT else f"{reading.value:,.10g}"
    sign = {"about": "~", "at least": "", "exact": ""}[reading.bound]
    unit = reading.unit
    value = f"{unit}{number}" if unit in ("$", "€", "£") else f"{number}{unit}"
    return f"{sign}{value}{'+' if reading.bound == 'at least' else ''}"
