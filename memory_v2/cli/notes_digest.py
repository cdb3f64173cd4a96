"""The verb that sums up some days of notes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from memory_v2.cli.notes import day_option, people_option, with_notes
from memory_v2.cli.show import out, out_json, plain
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.digest import digest_lines
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.calendar import days_before


@click.command()
@click.option("--days", type=click.IntRange(min=1), metavar="COUNT", help="So many days up to the last.  [default: 2]")
@day_option("--since", "The first day.")
@day_option("--until", "The last day. Default: today.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="COUNT", help="About how long it may be.")
@people_option
@json_option
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
    first = since or days_before(last, (days or 2) - 1)
    with working("reading the notes"):
        found = notes.digest(first, last, people)
    if as_json:
        out_json({**document(found), "is_empty": found.is_empty})
        return
    for line in digest_lines(found, max_tokens):
        out(plain(line))
