"""The verb that finds contacts, decisions, lessons, metrics, issues and pending matters in notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_v2.cli.notes import day_option, people_option, with_notes
from memory_v2.cli.report import price
from memory_v2.cli.show import out, out_json, plain, style, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.classify import GRADES, Grade
from memory_v2.notes.extract import Extracted, Wanted
from memory_v2.notes.languages import CATEGORIES, Category
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries
from memory_v2.text.calendar import days_before

if TYPE_CHECKING:
    from memory_v2.notes.grade import Graded

_WORDS: dict[Category, str] = {
    "contacts": "CONTACT",
    "decisions": "DECISION",
    "lessons": "LESSON",
    "metrics": "METRIC",
    "issues": "ISSUE",
    "pending": "PENDING",
}


@click.command()
@click.option("--all", "is_all", is_flag=True, help="All notes, those without a day too.")
@click.option(
    "--category", "categories", multiple=True, type=click.Choice(CATEGORIES), help="Only these. May be repeated."
)
@click.option("--today", is_flag=True, help="Only today.")
@day_option("--since", "From this day on. Default: yesterday.")
@day_option("--until", "Up to this day.")
@click.option(
    "--min-grade",
    type=click.Choice(GRADES),
    help="How sure it is at least: by a label on the line, by a heading above it, because a model says so, or by words "
    "in it.  [default: heading; with --model, model]",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Let this model say what only words hint at, such as anthropic:<model>. It is asked once about each line.",
)
@click.option("--closed", is_flag=True, help="Also what was pending or a problem, and is done.")
@click.option(
    "--capture",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="MEMORY",
    help="Store what is found as entries of the memory in this folder; what it has already is not stored again.",
)
@people_option
@json_option
@with_notes
def extract(
    notes: Notes,
    is_all: bool,
    categories: tuple[Category, ...],
    today: bool,
    since: date | None,
    until: date | None,
    min_grade: Grade | None,
    model: str | None,
    closed: bool,
    capture: Path | None,
    people: Path | None,
    as_json: bool,
) -> None:
    """Find contacts, decisions, lessons, metrics, issues and what is pending.

    Each line is quoted to the letter, with its day and place. Code, quotes, templates and what tools print are left
    out. What several notes say is told once. With --model, a model says of the lines in which only a word hints at
    something what they are; no other line is sent to it, and what it says is kept.

    \b
    Examples:
      silica notes extract ~/agent/memory
      silica notes extract ~/agent/memory --all --category lessons
      silica notes extract ~/agent/memory --since 2026-02-08 --json
      silica notes extract ~/agent/memory --all --capture ~/.silica/memory_v2
    """
    if is_all and (today or since or until):
        raise click.UsageError("--all cannot be combined with --today, --since or --until", click.get_current_context())
    if today and (since or until):
        raise click.UsageError("--today cannot be combined with --since or --until", click.get_current_context())
    grade = min_grade or ("model" if model else "heading")
    if model and GRADES.index(grade) < GRADES.index("model"):
        why = f"--model changes nothing that has grade {grade} or a surer one; leave out --min-grade"
        raise click.UsageError(why, click.get_current_context())
    first, last = since, until
    if today:
        first = last = notes.calendar.today
    elif not is_all and first is None and last is None:
        first = days_before(notes.calendar.today, 1)
    wanted = Wanted(categories=categories or CATEGORIES, since=first, until=last, min_grade=grade, closed=closed)
    with working("reading the notes"):
        graded = notes.grade(model, wanted, people) if model else None
        found = graded.items if graded else notes.extract(wanted, people)
    captured = _captured(notes, found, capture) if capture else None
    if as_json:
        told: dict[str, object] = {} if captured is None else {"captured": captured}
        if graded:
            told["graded"] = {key: one for key, one in document(graded).items() if key != "items"}
        out_json({"since": document(first), "until": document(last), "items": document(found), **told})
    else:
        for line in extracted_lines(found):
            out(line)
    if graded:
        _tell_graded(graded)
    if captured is not None:
        tell(f"{counted_entries(captured)} stored in {capture}")
    if not found:
        tell(_nothing(notes, first, last))


def _tell_graded(graded: Graded) -> None:
    lines, paid = counted(graded.asked, "line"), price(graded.cost)
    known = f", {graded.known:,} known from before" if graded.known else ""
    tell(f"{lines} asked about{known} ({graded.decided_by}{f': {paid}' if paid else ''})")
    if graded.degraded:
        tell(f"the rules' result stays where it was not decided: {graded.degraded}")


def _captured(notes: Notes, found: Sequence[Extracted], folder: Path) -> int:
    """Captures what was found as entries of a memory, and counts those that are new. Raises `StorageError`."""
    from memory_v2.memory import Memory
    from memory_v2.notes.extract import observations

    with Memory.open(str(folder)) as memory, working("storing entries"):
        known = memory.entries.list_entries(archived=True)
        stored = {one.source.location for one in known if one.source.location}
        batch = memory.entries.capture_batch(observations(found, stored))
    for bad in batch.bad_lines:
        tell(f"an item could not be stored: {bad.problem}")
    if not batch.bad_lines:
        notes.note_captured(found)
    return sum(not one.was_known for one in batch.captured)


def extracted_lines(found: Sequence[Extracted]) -> Iterator[str]:
    """What was extracted, each on a line with its day, its place and how sure it is."""
    for one in found:
        people = f"{', '.join(map(plain, one.people))}: " if one.people else ""
        day = f" [{one.day}]" if one.day else ""
        closed = " (closed)" if one.is_closed else ""
        text = " ".join(plain(line) for line in one.text.splitlines())
        also = f" and {len(one.also)} more" if one.also else ""
        place = style(f"{plain(one.place)}{also} · {one.grade}", dim=True)
        yield f"{style(_WORDS[one.category], bold=True)}: {people}{text}{day}{closed}  {place}"


def _nothing(notes: Notes, since: date | None, until: date | None) -> str:
    newest = max((day for days in notes.days().values() for day in days), default=None)
    if since is None and until is None:
        return "nothing was found; --min-grade keyword also takes words inside a line for a sign"
    days = f"from {since or 'the beginning'} to {until or 'today'}"
    hint = f"; the newest day in the notes is {newest}" if newest else "; no note says when it is from"
    return f"nothing was found {days}{hint}: --since DAY goes back further, --all takes everything"
