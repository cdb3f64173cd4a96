"""The verbs that bring texts in and write them out: import, migrate, export."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click

from memory_v2.cli.chosen_memory import ChosenMemory
from memory_v2.cli.edge import FINDINGS, error_document, exit_code
from memory_v2.cli.output import Document, Notice, Output, confirmed, plain, style, tell, working
from memory_v2.cli.show import how_to_begin, more_lines, plan_lines, price
from memory_v2.cli.verb import Option, Yes, ended, misuse, verb
from memory_v2.errors import SilicaError, UsageError
from memory_v2.files.listing import left_out_in_a_line
from memory_v2.locations import persona_memory
from memory_v2.memory import Memory
from memory_v2.migrate.export import Form, exported_data
from memory_v2.migrate.export import export as export_memory
from memory_v2.migrate.formats import older_memory, scan_paths
from memory_v2.migrate.ledger import imported_from, status_of
from memory_v2.migrate.planning import Strategy, check_apart, check_empty, make_plan, read_plan
from memory_v2.migrate.report import make_report, missing_lines, of_blocks, write_reports
from memory_v2.migrate.run import run
from memory_v2.migrate.scan import Scan
from memory_v2.migrate.verify import Verification, verify
from memory_v2.plan import Plan
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries, size
from memory_v2.tree.path import new_page_path

MOST = 20
"""How many lines are shown of what may be long; --json and --report have all."""


def bring_in(
    memory: Memory,
    paths: Sequence[Path],
    must_be_empty: bool = False,
    under: str = "",
    format_name: Annotated[str | None, Option("Read it as this format.", "--format", "NAME")] = None,
    strategy: Annotated[
        Strategy, "keep the folders as pages, or flatten all into the root, which divides as it grows."
    ] = "keep",
    dry_run: Annotated[bool, "Only show the plan. With --json it can be edited."] = False,
    plan_file: Annotated[
        Path | None,
        Option("Carry out this plan, of --dry-run --json.", "--plan", type=click.Path(path_type=Path), metavar="FILE"),
    ] = None,
    max_cost: Annotated[
        float | None,
        Option(
            "Stop when a model has cost so much. The next run goes on.", metavar="DOLLARS", type=click.FloatRange(min=0)
        ),
    ] = None,
    verifies: Annotated[
        bool,
        Option("Then prove that each block is in the memory or accounted for; exit with code 1 if not.", "--verify"),
    ] = False,
    report_file: Annotated[
        Path | None,
        Option(
            "Write what was done, and what to look at: Markdown, or JSON if it is called .json.", "--report", "FILE"
        ),
    ] = None,
    yes: Yes = False,
) -> Iterator[Output]:
    """Plans what is brought in, and unless it is a `dry_run` carries the plans out, one for each source."""
    if max_cost is not None and math.isnan(max_cost):
        raise misuse("--max-cost is not a number of dollars")  # no cost would ever reach it
    if dry_run and report_file:
        raise UsageError("--report tells what was done, and --dry-run does nothing: leave one of them out")
    paths = [path.expanduser() for path in paths]
    with working("reading"):
        scans = scan_paths(paths, format_name)
    if must_be_empty:
        check_empty(memory, scans[0][0])
    plans: list[Plan] = []
    error: SilicaError | None = None
    with working("planning"):
        for path in paths:  # beside a memory, a single file may be read, and its folder not
            check_apart(memory, path)
        for source, scan in scans:
            plans.append(
                read_plan(plan_file, memory, scan, source)
                if plan_file
                else make_plan(memory, scan, source, strategy, under)
            )
    if not dry_run:
        if not _is_agreed(memory, plans, max_cost, yes):
            return
        planned, plans = plans, []
        with working("importing"):
            for (_, scan), plan in zip(scans, planned, strict=True):
                done = run(memory, scan, plan, max_cost)
                plans.append(done.plan)
                if error := done.error:
                    break
    found = _verified(memory, scans, plans) if verifies or report_file else []
    if report_file:
        with working("reporting"):
            reports = [
                make_report(scan, plan, memory.today, one)
                for (_, scan), plan, one in zip(scans, plans, found, strict=False)
            ]
            write_reports(reports, report_file.expanduser())
    yield from _told(plans, found if verifies else [], dry_run, error)


@verb(bring_in)
def import_verb(
    memory: Memory,
    paths: Annotated[
        tuple[Path, ...], Option(metavar="PATH...", type=click.Path(path_type=Path), is_positional=True, count=-1)
    ],
    to: Annotated[str | None, Option("Bring it in below this page.", metavar="PAGE")] = None,
    **choices: Any,
) -> Iterator[Output]:
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
    yield from bring_in(memory, paths, under=new_page_path(to) if to else "", **choices)


@verb(bring_in)
def migrate(
    chosen: ChosenMemory,
    source: Annotated[Path | None, Option("The older memory.", "--from", "FOLDER", click.Path(path_type=Path))] = None,
    target: Annotated[str | None, Option("The memory that takes it in.", "--to", "FOLDER")] = None,
    persona: Annotated[str | None, "The memory of this persona, from its older place to its new one."] = None,
    merge: Annotated[bool, "Bring it in beside what the memory has already."] = False,
    **choices: Any,
) -> Iterator[Output]:
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
    with chosen.recovered(target) as memory:
        yield from bring_in(memory, (source or older_memory(persona),), not merge, **choices)


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


def _told(
    plans: Sequence[Plan], found: Sequence[Verification], is_dry_run: bool, error: SilicaError | None
) -> Iterator[Output]:
    """What would be done or was done, and what was verified. Raises what has stopped the last run."""
    documents = [document(plan) for plan in plans]
    for one, verification in zip(documents, found, strict=False):
        one["verification"] = document(verification)
    failed = {"error": error_document(error)} if error else {}
    yield Document({"plans" if is_dry_run else "imports": documents}, **failed)
    for plan in plans:
        yield from _lines(plan, is_dry_run, error)
    for plan, verification in zip(plans, found, strict=False):
        yield from _verification_lines(plan, verification)
    yield from map(Notice, dict.fromkeys(plan.degraded for plan in plans if plan.degraded))
    if error:
        yield Notice(error)
        raise ended(exit_code(error))
    if not all(one.is_complete for one in found):
        raise ended(FINDINGS)


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


@verb()
def export(
    memory: Memory,
    dest: Annotated[Path, Option(type=click.Path(path_type=Path, allow_dash=True), is_positional=True)],
    form: Annotated[
        Form,
        Option(
            "A folder of Markdown files, one Markdown file, or one line of JSON for each page and entry.", "--format"
        ),
    ] = "folder",
    force: Annotated[bool, "Replace files of the same names. Other files at DEST stay."] = False,
    as_json: bool = False,
) -> Iterator[Output]:
    """Export all pages and entries to plain files.

    The text of each page is exported to the letter, and in a folder each entry to the byte. DEST is a folder, or a file
    with --format file and --format jsonl, where '-' is standard output. 'silica memory import' and 'silica memory
    entries import' read the folder again.

    \b
    Examples:
      silica memory export ../notes
      silica memory export --format file memory-in-one.md
      silica memory export --format jsonl - | jq .path
    """
    if str(dest) == "-":
        if form == "folder" or as_json:
            raise misuse(f"standard output cannot be combined with {'--json' if as_json else '--format folder'}")
        with working("exporting"):
            data, left_out = exported_data(memory, form)
        yield data
    else:
        with working("exporting"):
            done = export_memory(memory, dest, form, force)
        left_out = done.left_out
        yield Document(done)
        held = counted(done.pages, "page") + (f" and {counted_entries(done.entries)}" if done.entries else "")
        where = f"{plain(done.dest)} · {held}, {size(done.size_bytes)}"
        yield where if done.form == "folder" else f"{where} in {counted(done.files, 'file')}"
    yield from how_to_begin(memory)
    for page in left_out:
        yield Notice(f"{page.name} is left out: {page.reason}")
    if left_out:
        raise ended(FINDINGS)
