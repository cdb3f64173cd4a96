"""The verbs that work out something of notes: extract, digest, audit, watch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import click

from memory_v2 import __version__
from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.notes import People, left_out, notes_verb, touched
from memory_v2.cli.output import (
    Document,
    Notice,
    Output,
    out_json,
    plain,
    plain_lines,
    print_output,
    style,
    tell,
    working,
)
from memory_v2.cli.verb import Option, ended, misuse
from memory_v2.notes.audit.audit import Choice, read_baseline, write_baseline
from memory_v2.notes.audit.context import Policy
from memory_v2.notes.audit.findings import CODES, Severity
from memory_v2.notes.audit.report import MOST, audit_lines, audit_report, audit_sarif
from memory_v2.notes.classify import Grade
from memory_v2.notes.digest import digest_lines
from memory_v2.notes.extract import Extracted, Wanted, observations
from memory_v2.notes.languages import CATEGORIES, Category
from memory_v2.notes.notes import Notes
from memory_v2.notes.watch import News, Watch, changes
from memory_v2.text.amounts import counted, counted_entries
from memory_v2.text.days import days_before


@notes_verb(Notes.extract)
def extract(
    notes: Notes,
    *,
    is_all: Annotated[bool, Option("All notes, those without a day too.", "--all")],
    category: Annotated[tuple[Category, ...], "Only these. May be repeated."],
    today: Annotated[bool, "Only today."],
    since: Annotated[date | None, "From this day on. Default: yesterday."],
    until: Annotated[date | None, "Up to this day."],
    min_grade: Annotated[
        Grade, "How sure it is at least: by a label on the line, by a heading above it, or by words in it."
    ] = "heading",
    closed: Annotated[bool, "Also what was pending or a problem, and is done."],
    capture: Annotated[
        Path | None,
        Option(
            "Store what is found as entries of the memory in this folder; what it has already is not stored again.",
            metavar="MEMORY",
        ),
    ],
    people: People,
) -> Iterator[Output]:
    """Find contacts, decisions, lessons, metrics, issues and what is pending.

    Each line is quoted to the letter, with its day and place. Code, quotes, templates and what tools print are left
    out. What several notes say is told once.

    \b
    Examples:
      silica notes extract ~/agent/memory
      silica notes extract ~/agent/memory --all --category lessons
      silica notes extract ~/agent/memory --since 2026-02-08 --json
      silica notes extract ~/agent/memory --all --capture ~/.silica/memory_v2
    """
    if is_all and (today or since or until):
        raise misuse("--all cannot be combined with --today, --since or --until")
    if today and (since or until):
        raise misuse("--today cannot be combined with --since or --until")
    first, last = since, until
    if today:
        first = last = notes.calendar.today
    elif not is_all and first is None and last is None:
        first = days_before(notes.calendar.today, 1)
    wanted = Wanted(categories=category or CATEGORIES, since=first, until=last, min_grade=min_grade, closed=closed)
    with working("reading the notes"):
        items = notes.extract(wanted, people)
    captured = _captured(notes, items, capture) if capture else None
    yield Document(
        {"since": first, "until": last, "items": items} | ({} if captured is None else {"captured": captured})
    )
    yield from extracted_lines(items)
    if captured is not None:
        yield Notice(f"{counted_entries(captured)} stored in {capture}")
    if not items:
        yield Notice(_nothing(notes, wanted, people))


def _captured(notes: Notes, items: Sequence[Extracted], folder: Path) -> int:
    """Captures items as entries of a memory, and counts those that are new. Raises `StorageError`."""
    with ChosenMemory(str(folder), None).opened() as memory, working("storing entries"):
        known = memory.entries.list_entries(archived=True)
        stored = {one.source.location for one in known if one.source.location}
        batch = memory.entries.capture_batch(observations(items, stored))
    for bad in batch.bad_lines:
        tell(f"an item could not be stored: {bad.problem}")
    if not batch.bad_lines:
        notes.note_captured(items)
    return sum(not one.was_known for one in batch.captured)


def extracted_lines(items: Sequence[Extracted]) -> Iterator[str]:
    """What was extracted, each on a line with its day, its place and how sure it is."""
    for item in items:
        people = f"{', '.join(map(plain, item.people))}: " if item.people else ""
        day = f" [{item.day}]" if item.day else ""
        closed = " (closed)" if item.is_closed else ""
        text = " ".join(plain(line) for line in item.text.splitlines())
        also = f" and {len(item.also)} more" if item.also else ""
        place = style(f"{plain(item.place)}{also} · {item.grade}", dim=True)
        category = item.category.removesuffix("s").upper()
        yield f"{style(category, bold=True)}: {people}{text}{day}{closed}  {place}"


def _nothing(notes: Notes, wanted: Wanted, people: Path | None) -> str:
    since, until = wanted.since, wanted.until
    days = "" if since is None and until is None else f" from {since or 'the beginning'} to {until or 'today'}"
    if unsure := notes.extract(replace(wanted, min_grade="keyword"), people):
        return f"nothing so sure was found{days}; --min-grade keyword shows {counted(len(unsure), 'item')} more"
    if set(wanted.categories) < set(CATEGORIES) and (
        others := notes.extract(replace(wanted, categories=CATEGORIES), people)
    ):
        asked = ", ".join(wanted.categories)
        return f"nothing was found{days} of the category {asked}, but {counted(len(others), 'item')} of others"
    if not days:
        return "nothing was found"
    newest = max((day for days in notes.days().values() for day in days), default=None)
    hint = f"; the newest day in the notes is {newest}" if newest else "; no note says when it is from"
    return f"nothing was found{days}{hint}: --since DAY goes back further, --all takes everything"


@notes_verb(Notes.digest)
def digest(
    notes: Notes,
    *,
    days: Annotated[int | None, Option("So many days up to the last.  [default: 2]", least=1)],
    since: Annotated[date | None, "The first day."],
    until: Annotated[date | None, "The last day. Default: today."],
    max_tokens: Annotated[int | None, Option("About how long it may be.", least=1)],
    people: People,
) -> Iterator[Output]:
    """Sum up some days: how numbers changed, who is new, what was decided, learnt, and is still open.

    The same notes and days give the same bytes. --json has everything.

    \b
    Examples:
      silica notes digest ~/agent/memory
      silica notes digest ~/agent/memory --days 14 --max-tokens 300
    """
    if days and since:
        raise misuse("give --days or --since, not both")
    last = until or notes.calendar.today
    with working("reading the notes"):
        summary = notes.digest(since or days_before(last, (days or 2) - 1), last, people)
    yield Document(summary, is_empty=summary.is_empty)
    yield from map(plain, digest_lines(summary, max_tokens))


_CODE = click.Choice(list(CODES))
_POLICY = Policy()


@notes_verb(Notes.audit)
def audit(
    notes: Notes,
    *,
    select: Annotated[tuple[str, ...], Option("Only this code. May be repeated.", metavar="CODE", type=_CODE)],
    ignore: Annotated[tuple[str, ...], Option("All but this code. May be repeated.", metavar="CODE", type=_CODE)],
    since: Annotated[date | None, "Only what speaks from this day on; what has no day is left out."],
    unfinished_days: Annotated[
        int, Option("Tell what has been open for more days.", least=0)
    ] = _POLICY.unfinished_days,
    stale_days: Annotated[
        int, Option("Tell what was said as of a day that is longer ago.", least=0)
    ] = _POLICY.stale_days,
    baseline: Annotated[Path | None, Option("Leave out the findings of this file.", metavar="FILE")],
    new_baseline: Annotated[
        Path | None, Option("Write the findings into a file for --baseline.", "--write-baseline", "FILE")
    ],
    form: Annotated[Literal["text", "markdown", "sarif"], Option("The form of the output.", "--format")] = "text",
    fail_on: Annotated[Severity | None, "Exit with 1 if a finding is as grave, or graver."],
    as_json: bool,
) -> Iterator[Output]:
    """Find duplicates, contradictions, stale numbers, broken links, secrets and more.

    Each finding has a code, a place and what to do; docs/notes.md lists the codes. Nothing is changed. To ignore one,
    write <!-- silica: ignore CODE --> on its line or the one above. The exit code is 0, unless --fail-on says else.

    \b
    Examples:
      silica notes audit ~/agent/memory
      silica notes audit ~/agent/memory --select duplicate --select secret
      silica notes audit ~/agent/memory --format sarif --fail-on error
    """
    known = read_baseline(baseline) if baseline else ()
    choice = Choice(select=select, ignore=ignore, since=since, known=known)
    with working("reading the notes"):
        files = notes.refresh()
        audited = notes.audit(choice, Policy(unfinished_days, stale_days))
    if new_baseline:
        write_baseline(new_baseline, audited.findings, known)
    yield Document(audited, counts=dict(audited.counts), left_out=files.left_out)
    if form == "sarif" and not as_json:
        out_json(audit_sarif(audited, __version__))
    elif form == "markdown":
        yield plain_lines(audit_report(audited)).encode()
    elif form == "text":
        yield from map(plain, audit_lines(audited, None if select else MOST))
    yield from left_out(files)
    if new_baseline:
        yield Notice(f"{counted(len(audited.findings), 'finding')} written to {new_baseline}")
    if fail_on and audited.reaches(fail_on):
        raise ended(FINDINGS)


@notes_verb()
def watch(
    notes: Notes,
    *,
    interval: Annotated[
        float,
        Option("How often to look at the folder if the extra 'watch' is not installed.", metavar="SECONDS", least=0.1),
    ] = 2.0,
    as_json: bool,
) -> Iterator[Output]:
    """Tell what changes in a folder of notes, and what is new in it. Ctrl-C ends it.

    After the names of the files come the contacts, decisions, lessons, numbers, issues and pending matters that no note
    told before. With --json, each change is one JSON document on a line of its own. The extra 'watch' lets the system
    tell of changes at once.

    \b
    Example:
      silica notes watch ~/agent/memory
    """
    try:
        print_output(_watched(notes, interval), as_json)
    except KeyboardInterrupt:  # also while something is printed
        yield Notice("stopped")


def _watched(notes: Notes, interval: float) -> Iterator[Output]:
    with working("reading the notes"):
        watching = Watch(notes)
    first = watching.first.found
    yield Notice(f"watching {counted(first.files, 'file')} in {notes.folder}; Ctrl-C ends it")
    yield from left_out(first)
    yield from _news(watching.first)
    for _ in changes(notes.folder, interval, tell):
        yield from _news(watching.look())


def _news(news: News) -> Iterator[Output]:
    if not news.found.is_current:
        yield Document(news)
        yield from touched(news.found)
        yield from (f"  {line}" for line in extracted_lines(news.told))
