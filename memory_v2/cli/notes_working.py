"""The verbs that work out something of notes: extract, digest, audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import click

from memory_v2 import __version__
from memory_v2.cli.notes import count_option, day_option, file_option, people_option, tell_left_out, with_notes
from memory_v2.cli.output import out, out_json, plain, plain_lines, style, tell, working
from memory_v2.cli.verb import ChosenMemory
from memory_v2.notes.audit.audit import Choice, read_baseline, write_baseline
from memory_v2.notes.audit.context import Policy
from memory_v2.notes.audit.findings import CODES, SEVERITIES, Severity
from memory_v2.notes.audit.report import MOST, audit_lines, audit_report, audit_sarif
from memory_v2.notes.classify import GRADES, Grade
from memory_v2.notes.digest import digest_lines
from memory_v2.notes.extract import Extracted, Wanted, observations
from memory_v2.notes.languages import CATEGORIES, Category
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries
from memory_v2.text.calendar import days_before

_CODE = click.Choice(list(CODES))
_POLICY = Policy()


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
    default="heading",
    show_default=True,
    help="How sure it is at least: by a label on the line, by a heading above it, or by words in it.",
)
@click.option("--closed", is_flag=True, help="Also what was pending or a problem, and is done.")
@file_option(
    "--capture",
    "Store what is found as entries of the memory in this folder; what it has already is not stored again.",
    metavar="MEMORY",
)
@people_option
@with_notes
def extract(
    notes: Notes,
    is_all: bool,
    categories: tuple[Category, ...],
    today: bool,
    since: date | None,
    until: date | None,
    min_grade: Grade,
    closed: bool,
    capture: Path | None,
    people: Path | None,
    as_json: bool,
) -> None:
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
    for is_wrong, why in (
        (is_all and (today or since or until), "--all cannot be combined with --today, --since or --until"),
        (today and (since or until), "--today cannot be combined with --since or --until"),
    ):
        if is_wrong:
            raise click.UsageError(why, click.get_current_context())
    first, last = since, until
    if today:
        first = last = notes.calendar.today
    elif not is_all and first is None and last is None:
        first = days_before(notes.calendar.today, 1)
    wanted = Wanted(categories=categories or CATEGORIES, since=first, until=last, min_grade=min_grade, closed=closed)
    with working("reading the notes"):
        items = notes.extract(wanted, people)
    captured = _captured(notes, items, capture) if capture else None
    if as_json:
        more: dict[str, object] = {} if captured is None else {"captured": captured}
        out_json({"since": document(first), "until": document(last), "items": document(items), **more})
    else:
        for line in extracted_lines(items):
            out(line)
    if captured is not None:
        tell(f"{counted_entries(captured)} stored in {capture}")
    if not items:
        tell(_nothing(notes, wanted, people))


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
    if set(wanted.categories) < set(CATEGORIES) and (
        others := notes.extract(replace(wanted, categories=CATEGORIES), people)
    ):
        asked = ", ".join(wanted.categories)
        return f"nothing was found{days} of the category {asked}, but {counted(len(others), 'item')} of others"
    if not days:
        return "nothing was found; --min-grade keyword also takes words inside a line for a sign"
    newest = max((day for days in notes.days().values() for day in days), default=None)
    hint = f"; the newest day in the notes is {newest}" if newest else "; no note says when it is from"
    return f"nothing was found{days}{hint}: --since DAY goes back further, --all takes everything"


@click.command()
@count_option("--days", about="So many days up to the last.  [default: 2]")
@day_option("--since", "The first day.")
@day_option("--until", "The last day. Default: today.")
@count_option("--max-tokens", about="About how long it may be.")
@people_option
@with_notes
def digest(
    notes: Notes,
    days: int | None,
    since: date | None,
    until: date | None,
    max_tokens: int | None,
    people: Path | None,
    as_json: bool,
) -> None:
    """Sum up some days: how numbers changed, who is new, what was decided, learnt, and is still open.

    The same notes and days give the same bytes. --json has everything.

    \b
    Examples:
      silica notes digest ~/agent/memory
      silica notes digest ~/agent/memory --days 14 --max-tokens 300
    """
    if days and since:
        raise click.UsageError("give --days or --since, not both", click.get_current_context())
    last = until or notes.calendar.today
    with working("reading the notes"):
        summary = notes.digest(since or days_before(last, (days or 2) - 1), last, people)
    if as_json:
        out_json({**document(summary), "is_empty": summary.is_empty})
        return
    for line in digest_lines(summary, max_tokens):
        out(plain(line))


@click.command()
@click.option("--select", multiple=True, type=_CODE, metavar="CODE", help="Only this code. May be repeated.")
@click.option("--ignore", multiple=True, type=_CODE, metavar="CODE", help="All but this code. May be repeated.")
@day_option("--since", "Only what speaks from this day on; what has no day is left out.")
@count_option(
    "--unfinished-days", about="Tell what has been open for more days.", least=0, default=_POLICY.unfinished_days
)
@count_option(
    "--stale-days", about="Tell what was said as of a day that is longer ago.", least=0, default=_POLICY.stale_days
)
@file_option("--baseline", "Leave out the findings of this file.")
@file_option("--write-baseline", "Write the findings into a file for --baseline.", variable="new_baseline")
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "sarif"]), default="text", help="The form of the output."
)
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="Exit with 1 if a finding is as grave, or graver.")
@with_notes
def audit(
    notes: Notes,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    since: date | None,
    unfinished_days: int,
    stale_days: int,
    baseline: Path | None,
    new_baseline: Path | None,
    form: str,
    fail_on: Severity | None,
    as_json: bool,
) -> None:
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
    if as_json:
        more = {"counts": dict(audited.counts), "left_out": document(files.left_out)}
        out_json({**document(audited), **more})
    elif form == "sarif":
        out_json(audit_sarif(audited, __version__))
    elif form == "markdown":
        out(plain_lines(audit_report(audited)), newline=False)
    else:
        for line in audit_lines(audited, None if select else MOST):
            out(plain(line))
    if not as_json:
        tell_left_out(files)
    if new_baseline:
        tell(f"{counted(len(audited.findings), 'finding')} written to {new_baseline}")
    if fail_on and audited.reaches(fail_on):
        click.get_current_context().exit(1)
