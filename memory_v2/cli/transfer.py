"""The verbs that bring texts in and write them out: import, migrate, export."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import click

from memory_v2.cli.edge import FINDINGS, error_document, exit_code
from memory_v2.cli.output import (
    confirmed,
    more_lines,
    out,
    out_json,
    plain,
    plan_lines,
    price,
    style,
    tell,
    tell_how_to_begin,
    working,
    yes_option,
)
from memory_v2.cli.verb import ChosenMemory, Decorated, Verb, json_option, with_memory
from memory_v2.errors import SilicaError, UsageError
from memory_v2.files.left_out import left_out_in_a_line
from memory_v2.locations import persona_memory
from memory_v2.memory import Memory
from memory_v2.migrate.export import export as export_memory
from memory_v2.migrate.export import exported_data
from memory_v2.migrate.formats import older_memory, scan_paths
from memory_v2.migrate.ledger import imported_from, status_of
from memory_v2.migrate.planning import check_apart, check_empty, make_plan, read_plan
from memory_v2.migrate.report import make_report, missing_lines, of_blocks, write_reports
from memory_v2.migrate.run import run
from memory_v2.migrate.source import Scan
from memory_v2.migrate.verify import Verification, verify
from memory_v2.plan import Plan
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries, size
from memory_v2.tree.path import new_page_path

STRATEGIES = ("keep", "flatten")
MOST = 20
"""How many lines are shown of what may be long; --json and --report have all."""
Strategy = Literal["keep", "flatten"]


def _a_number(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuses `nan`, which no cost would ever reach."""
    if value is not None and math.isnan(value):
        raise click.BadParameter("it is not a number of dollars", context, parameter)
    return value


def _options(verb: Decorated) -> Decorated:
    for option in reversed(
        (
            click.option("--format", "format_name", metavar="NAME", help="Read it as this format."),
            click.option(
                "--strategy",
                type=click.Choice(STRATEGIES),
                default="keep",
                show_default=True,
                help="keep the folders as pages, or flatten all into the root, which divides as it grows.",
            ),
            click.option("--dry-run", is_flag=True, help="Only show the plan. With --json it can be edited."),
            click.option(
                "--plan",
                "plan_file",
                type=click.Path(path_type=Path),
                metavar="FILE",
                help="Carry out this plan, of --dry-run --json.",
            ),
            click.option(
                "--max-cost",
                type=click.FloatRange(min=0),
                callback=_a_number,
                metavar="DOLLARS",
                help="Stop when a model has cost so much. The next run goes on.",
            ),
            click.option(
                "--verify",
                "verifies",
                is_flag=True,
                help="Then prove that each block is in the memory or accounted for; exit with code 1 if not.",
            ),
            click.option(
                "--report",
                "report_file",
                type=click.Path(path_type=Path, dir_okay=False),
                metavar="FILE",
                help="Write what was done, and what to look at: Markdown, or JSON if it is called .json.",
            ),
            yes_option,
            json_option,
        )
    ):
        verb = option(verb)
    return verb


@dataclass(frozen=True, slots=True)
class Choices:
    """The options that both verbs have, but for the format."""

    strategy: Strategy
    dry_run: bool
    plan_file: Path | None
    max_cost: float | None
    verifies: bool
    report_file: Path | None
    yes: bool
    as_json: bool
    under: str = ""


@click.command("import", cls=Verb)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--to", "under", default="", metavar="PAGE", help="Bring it in below this page.")
@_options
@click.pass_obj
def import_verb(
    chosen: ChosenMemory,
    /,
    paths: tuple[Path, ...],
    under: str,
    format_name: str | None,
    **choices: Any,
) -> None:
    """Bring in folders and files of notes, and what ChatGPT and Claude export.

    Each document is kept whole, to the letter, on a page of its own, with its source and its day; folders become pages
    that list it. A second import changes nothing, and brings in what is new or has changed: a page that was changed
    here stays. The source is never touched. 'silica memory undo' takes a batch of documents back.

    With a model, small documents and those that repeat others are worked into the tree.

    \b
    Examples:
      silica memory import ~/notes
      silica memory import standup.md ideas.txt
      silica memory import --to work/notes ~/notes
      silica memory import chatgpt-export.zip
      silica memory import --dry-run ~/vault
      silica memory import --dry-run --json ~/vault > plan.json
      silica memory import --plan plan.json ~/vault
      silica memory import --verify --report report.md ~/vault
    """
    with Memory.open(chosen.path, chosen.model) as memory:
        _recovered(memory)
        scans = _scanned(paths, format_name)
        _bring_in(memory, scans, Choices(**choices, under=new_page_path(under) if under else ""))


@click.command(cls=Verb)
@click.option("--from", "source", type=click.Path(path_type=Path), metavar="FOLDER", help="The older memory.")
@click.option("--to", "target", metavar="FOLDER", help="The memory that takes it in.")
@click.option("--persona", metavar="NAME", help="The memory of this persona, from its older place to its new one.")
@click.option("--merge", is_flag=True, help="Bring it in beside what the memory has already.")
@_options
@click.pass_obj
def migrate(
    chosen: ChosenMemory,
    /,
    source: Path | None,
    target: str | None,
    persona: str | None,
    merge: bool,
    format_name: str | None,
    **choices: Any,
) -> None:
    """Move from an older memory to this one.

    Without --from, that is the memory of an older Silica: ~/.silica/personas/NAME/memory, ~/.hdev/memory or
    ~/.silica/memory. It stays as it is. A migration that was stopped goes on when it is run again.

    \b
    Examples:
      silica memory migrate --dry-run
      silica memory migrate
      silica memory migrate --persona coder
      silica memory migrate --dry-run --verify
      silica memory migrate --from ~/.silica/memory --to ~/.silica/memory_v2
      silica memory migrate --from ~/vault --format obsidian --merge
    """
    if persona and not target and not chosen.path:
        target = str(persona_memory(persona))
    with Memory.open(target or chosen.path, chosen.model) as memory:
        _recovered(memory)
        scans = _scanned((source or older_memory(persona),), format_name)
        if not merge:
            check_empty(memory, scans[0][0])
        _bring_in(memory, scans, Choices(**choices))


def _recovered(memory: Memory) -> None:
    for done in memory.recover():
        tell(str(done))


def _scanned(paths: Sequence[Path], format_name: str | None) -> list[tuple[Path, Scan]]:
    with working("reading"):
        return scan_paths([path.expanduser() for path in paths], format_name)


def _bring_in(memory: Memory, scans: Sequence[tuple[Path, Scan]], choices: Choices) -> None:
    if choices.dry_run and choices.report_file:
        raise UsageError("--report tells what was done, and --dry-run does nothing: leave one of them out")
    plans: list[Plan] = []
    error: SilicaError | None = None
    with working("planning"):
        for source, scan in scans:
            check_apart(memory, source)
            file = choices.plan_file
            plans.append(
                read_plan(file, memory, scan, source)
                if file
                else make_plan(memory, scan, source, choices.strategy, choices.under)
            )
    if not choices.dry_run:
        if not _is_agreed(memory, plans, choices.max_cost, choices.yes):
            return
        planned, plans = plans, []
        with working("importing"):
            for (_, scan), plan in zip(scans, planned, strict=True):
                done = run(memory, scan, plan, choices.max_cost)
                plans.append(done.plan)
                if error := done.error:
                    break
    found = _verified(memory, scans, plans) if choices.verifies or choices.report_file else []
    if choices.report_file:
        with working("reporting"):
            reports = [
                make_report(scan, plan, memory.today, one)
                for (_, scan), plan, one in zip(scans, plans, found, strict=False)
            ]
            write_reports(reports, choices.report_file.expanduser())
    _tell(plans, found if choices.verifies else [], choices, error)


def _verified(memory: Memory, scans: Sequence[tuple[Path, Scan]], plans: Sequence[Plan]) -> list[Verification]:
    """Where each block of each source is."""
    with working("verifying"):
        return [
            verify(memory, scan, imported_from(memory.storage, source), plan)
            for (source, scan), plan in zip(scans, plans, strict=False)
        ]


def _is_agreed(memory: Memory, plans: Sequence[Plan], max_cost: float | None, yes: bool) -> bool:
    """Whether what the model will be paid is agreed to. Nobody is asked where it costs nothing."""
    requests = sum(plan.facts["requests"] for plan in plans)
    if not requests:
        return True
    costs = [plan.facts["estimated_cost"] for plan in plans]
    known = [cost for cost in costs if cost is not None]
    cost = f"about ${sum(known):.2f}" if len(known) == len(costs) else "at a price that is not known"
    if max_cost is not None and len(known) < len(costs):
        rule = f"the price of {memory.model_name} is not known, so that its cost cannot be limited"
        raise UsageError(f"{rule}: tell it in SILICA_MEMORY_PRICES, or leave --max-cost out")
    message = f"{memory.model_name} gets at least {counted(requests, 'request')}, {cost}"
    tell(message + (f", and stops at ${max_cost:g}" if max_cost is not None else ""))
    return confirmed("Go on?", yes, "nothing was imported")


def _tell(plans: Sequence[Plan], found: Sequence[Verification], choices: Choices, error: SilicaError | None) -> None:
    """Tells what would be done or was done, and what was verified. Raises what has stopped the last run."""
    if choices.as_json:
        documents = [document(plan) for plan in plans]
        for one, verification in zip(documents, found, strict=False):
            one["verification"] = document(verification)
        failed = {"error": error_document(error)} if error else {}
        out_json({"plans" if choices.dry_run else "imports": documents} | failed)
    else:
        for line in (line for plan in plans for line in _lines(plan, choices.dry_run, error)):
            out(line)
        for plan, verification in zip(plans, found, strict=False):
            for line in _verification_lines(plan, verification):
                out(line)
    for reason in dict.fromkeys(plan.degraded for plan in plans if plan.degraded):
        tell(reason)
    if error and not choices.as_json:
        raise error
    if error:
        tell(str(error))
        click.get_current_context().exit(exit_code(error))
    if not all(one.is_complete for one in found):
        click.get_current_context().exit(FINDINGS)


def _lines(plan: Plan, is_dry_run: bool, error: SilicaError | None) -> Iterator[str]:
    """The plan; after a run what needs a look, and the totals."""
    source = plain(plan.facts["source"])
    shown = plan
    if is_dry_run:
        yield style(f"{source}, read as {plan.facts['read_as']}", bold=True)
    else:
        of_interest = (step for step in plan.steps if status_of(step) in ("skipped", "failed"))
        shown = replace(plan, steps=tuple(one for one in of_interest if not error or str(error) not in one.reason))
    yield from plan_lines(shown, MOST)
    for warning in plan.warnings[:MOST]:
        yield f"{warning.kind} {plain(warning.path)}: {plain(warning.message)}"
    if left_out := plan.facts["left_out"]:
        yield f"{len(left_out):,} left out: {plain(left_out_in_a_line(left_out))}"
    if is_dry_run:
        yield f"{plan.title}; nothing was changed"
    else:
        yield " · ".join(filter(None, [f"{source}: {plan.title}", price(plan.cost)]))


def _verification_lines(plan: Plan, found: Verification) -> Iterator[str]:
    """The verification in short: what is missing, and the totals."""
    missing = list(missing_lines(found))
    for line in missing[:MOST]:
        yield f"{style('missing', fg='red')} {plain(line)}"
    yield from more_lines(len(missing), MOST)
    yield f"{plain(plan.facts['source'])}: {of_blocks(found)}"


@click.command(cls=Verb)
@click.argument("dest", metavar="DEST", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--form",
    type=click.Choice(["folder", "file", "jsonl"]),
    default="folder",
    show_default=True,
    help="A folder of Markdown files, one Markdown file, or one line of JSON for each page and entry.",
)
@click.option("--force", is_flag=True, help="Replace files of the same names. Other files at DEST stay.")
@json_option
@click.pass_context
@with_memory
def export(
    memory: Memory,
    context: click.Context,
    dest: Path,
    form: Literal["folder", "file", "jsonl"],
    force: bool,
    as_json: bool,
) -> None:
    """Export all pages and entries to plain files.

    The text of each page is exported to the letter, and in a folder each entry to the byte. DEST is a folder, or a file
    with --form file and --form jsonl, where '-' is standard output. 'silica memory import' and 'silica memory entries
    import' read the folder again.

    \b
    Examples:
      silica memory export ../notes
      silica memory export --form file memory-in-one.md
      silica memory export --form jsonl - | jq .path
    """
    if str(dest) == "-":
        if form == "folder" or as_json:
            option = "--json" if as_json else "--form folder"
            raise click.UsageError(f"standard output cannot be combined with {option}", context)
        with working("exporting"):
            data, left_out = exported_data(memory, form)
        out(data, newline=False)
    else:
        with working("exporting"):
            done = export_memory(memory, dest, form, force)
        left_out = done.left_out
        if as_json:
            out_json(document(done))
        else:
            held = counted(done.pages, "page") + (f" and {counted_entries(done.entries)}" if done.entries else "")
            where = f"{plain(done.dest)} · {held}, {size(done.size_bytes)}"
            out(where if done.form == "folder" else f"{where} in {counted(done.files, 'file')}")
    tell_how_to_begin(memory)
    for page in left_out:
        tell(f"{page.name} is left out: {page.reason}")
    if left_out:
        context.exit(FINDINGS)
