"""The verb that tells what in notes deserves a look."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import click

from memory_v2 import __version__
from memory_v2.cli.notes import day_option, tell_left_out, with_notes
from memory_v2.cli.show import out, out_json, plain, plain_lines, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.audit.audit import Choice, read_baseline, write_baseline
from memory_v2.notes.audit.context import Policy
from memory_v2.notes.audit.findings import CODES, SEVERITIES, Severity
from memory_v2.notes.audit.report import MOST, audit_lines, audit_report, audit_sarif
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted

_CODE = click.Choice(list(CODES))


@click.command()
@click.option("--select", multiple=True, type=_CODE, metavar="CODE", help="Only this code. May be repeated.")
@click.option("--ignore", multiple=True, type=_CODE, metavar="CODE", help="All but this code. May be repeated.")
@day_option("--since", "Only what speaks from this day on; what has no day is left out.")
@click.option(
    "--unfinished-days",
    type=click.IntRange(min=0),
    metavar="COUNT",
    default=Policy().unfinished_days,
    show_default=True,
    help="Tell what has been open for more days.",
)
@click.option(
    "--stale-days",
    type=click.IntRange(min=0),
    metavar="COUNT",
    default=Policy().stale_days,
    show_default=True,
    help="Tell what was said as of a day that is longer ago.",
)
@click.option(
    "--baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Leave out the findings of this file.",
)
@click.option(
    "--write-baseline",
    "new_baseline",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the findings into a file for --baseline.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "markdown", "sarif"]), default="text", help="The form of the output."
)
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="Exit with 1 if a finding is as grave, or graver.")
@json_option
@with_notes
@click.pass_context
def audit(
    ctx: click.Context,
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
        found = notes.audit(choice, Policy(unfinished_days, stale_days))
    if new_baseline:
        write_baseline(new_baseline, found.findings, known)
    if as_json:
        told = {"counts": dict(found.counts), "left_out": document(files.left_out)}
        out_json({**document(found), **told})
    elif form == "sarif":
        out_json(audit_sarif(found, __version__))
    elif form == "markdown":
        out(plain_lines(audit_report(found)), newline=False)
    else:
        for line in audit_lines(found, None if select else MOST):
            out(plain(line))
    if not as_json:
        tell_left_out(files)
    if new_baseline:
        tell(f"{counted(len(found.findings), 'finding')} written to {new_baseline}")
    if fail_on and found.reaches(fail_on):
        ctx.exit(1)
