"""Templates: rendered strictly, and with every value escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from memory_v2.entries.entry import SHARED
from memory_v2.entries.entry_paths import place_of
from memory_v2.index.terms import places_of_words
from memory_v2.models.delegated import HOST
from memory_v2.operations.write_task import NOTHING_ELSE, TO_THE_LETTER
from memory_v2.settings import DEFAULT_AGENT
from memory_v2.storage.history import EXTERNAL, Revision
from memory_v2.text.amounts import counted, counted_entries, dollars
from memory_v2.text.days import Calendar
from memory_v2.tree.block import readable

FOLDER = Path(__file__).parent
NO_AGENTS = (DEFAULT_AGENT, SHARED)
"""Owners of entries that are no agents."""
_AGES = ((60, "second", 1), (3_600, "minute", 60), (86_400, "hour", 3_600), (31 * 86_400, "day", 86_400))


def render(template: str, data: Mapping[str, Any]) -> bytes:
    """The page of a template, in UTF-8."""
    context = {"static": static_version(), **data}
    return _environment().get_template(f"{template}.html").render(context).encode("utf-8", "replace")


@cache
def static_version() -> str:
    """Changes with the stylesheet and the script, so that browsers may keep them for good."""
    return sha256(b"".join(file.read_bytes() for file in sorted((FOLDER / "static").iterdir()))).hexdigest()[:12]


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "readable": readable,
        "size": size,
        "marked": marked,
        "counted": counted,
        "counted_entries": counted_entries,
        "dollars": dollars,
        "day_name": day_name,
        "long_day": long_day,
        "kind_name": kind_name,
        "is_addition": is_addition,
        "who": who,
        "decider": decider,
        "as_moment": datetime.fromisoformat,
        "share": share,
        "sign": sign,
        "diff_lines": diff_lines,
        "age": age,
        "moment": moment,
        "page_name": page_name,
        "entry_id": entry_id,
    }
    return environment


def size(count: int) -> str:
    """`820 bytes`, `3.4 KB`, `1.2 MB`."""
    for unit, of in (("MB", 1_000_000), ("KB", 1_000)):
        if count >= of:
            return f"{count / of:.1f} {unit}"
    return counted(count, "byte")


def page_name(path: str) -> str:
    """The last part of a path, for people to read."""
    return readable(path.rpartition("/")[2])


def entry_id(path: str) -> str:
    """The id of the entry at a path of the history; empty for a page."""
    place = place_of(path)
    return place.id if place else ""


def marked(text: str, query: str) -> Markup:
    """A text with the words of a query marked."""
    text, parts, end = readable(text), [], 0
    for start, stop in places_of_words(text, query):
        parts += [escape(text[end:start]), Markup("<mark>%s</mark>") % text[start:stop]]
        end = stop
    return Markup("").join([*parts, escape(text[end:])])


def age(when: datetime, now: datetime) -> str:
    """`3 hours ago`; the day itself for what is older than a month."""
    seconds = max(0.0, (now - when).total_seconds())
    for below, unit, length in _AGES:
        if seconds < below:
            return "just now" if unit == "second" else f"{counted(int(seconds // length), unit)} ago"
    return when.astimezone(now.tzinfo or UTC).date().isoformat()


def moment(when: datetime, calendar: Calendar) -> str:
    """A time in the zone of the memory: `2026-02-03 14:05`."""
    return f"{when.astimezone(calendar.zone):%Y-%m-%d %H:%M}"


def day_name(day: date, today: date) -> str:
    """`Today`, `Yesterday`, or `Tuesday, 3 February 2026`."""
    names = {0: "Today", 1: "Yesterday"}
    return names.get((today - day).days) or long_day(day)


def long_day(day: date) -> str:
    """`Tuesday, 3 February 2026`."""
    return f"{day:%A}, {day.day} {day:%B %Y}"


def kind_name(revision: Revision) -> str:
    """The kind of a change, for people to read."""
    if revision.kind == EXTERNAL:
        return "already there" if revision.is_first else "edit by hand"
    return revision.kind.replace("_", " ")


def is_addition(revision: Revision) -> bool:
    """Whether a change put the whole of a text into the tree as it was given, and took nothing away."""
    added, *rest = revision.why or ("",)
    return added.startswith(f"{TO_THE_LETTER}: ") and rest == [NOTHING_ELSE] and not revision.text


def who(revisions: Iterable[Revision]) -> str:
    """The agents and persons that asked for changes, or whose entries they are."""
    return readable(", ".join(dict.fromkeys(name for revision in revisions for name in _names(revision))))


def _names(revision: Revision) -> list[str]:
    kind, _, host = revision.decided_by.partition(":")
    if name := revision.agent or (host if kind == HOST else ""):
        return [name]
    owners = {place.space if place else SHARED for place in map(place_of, revision.paths)}
    return sorted(owners) if owners.isdisjoint(NO_AGENTS) else []


def decider(model: str) -> str:
    """Who decided, for people to read."""
    if model == "offline":
        return "the offline planner"
    return "the agent itself" if model.partition(":")[0] == HOST else model


def share(value: float | None) -> str:
    """A number from 0 to 1 in percent."""
    return "" if value is None else f"{value:.0%}"


def sign(line: str) -> str:
    """The kind of a line of a diff, as the stylesheet calls it."""
    return {"+": "add", "-": "del", "@": "at"}.get(line[:1], "same")


def diff_lines(diff: str, most: int) -> Iterator[str]:
    """The first lines of the diff of a page, without its head."""
    for number, line in enumerate(diff.splitlines()[2:]):
        if number == most:
            return
        if number or not line.startswith("@@"):  # where the first lines are is of no use
            yield line
