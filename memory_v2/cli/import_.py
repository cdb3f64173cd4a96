"""The verbs that bring in what people have: import and migrate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from memory_v2.cli.checked import reported, verification_lines, verified
from memory_v2.cli.edge import FINDINGS, error_document, exit_code
from memory_v2.cli.report import confirmed, price, yes_option
from memory_v2.cli.show import out, out_json, plain, style, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import ChosenMemory, Decorated, Verb, json_option
from memory_v2.errors import UsageError
from memory_v2.memory import Memory
from memory_v2.scope import persona_memory
from memory_v2.text.amounts import counted, size

if TYPE_CHECKING:
    from memory_v2.migrate.plan import Plan
    from memory_v2.migrate.run import Run
    from memory_v2.migrate.source import Scan
    from memory_v2.migrate.verify import Verification

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


@click.command("import", cls=Verb)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=click.Path(path_type=Path))
@_options
@click.pass_obj
def import_verb(
    chosen: ChosenMemory,
    /,
    paths: tuple[Path, ...],
    format_name: str | None,
    **choices: Any,
) -> None:
    """Bring in folders and files of notes.

    Each document is kept whole, to the letter, on a page of its own, with its source and its day; folders become pages
    that list it. A second import changes nothing, and brings in what is new or has changed: a page that was changed
    here stays. The source is never touched. 'silica memory undo' takes a batch of documents back.

    With a model, small documents and those that repeat others are worked into the tree.

    \b
    Examples:
      silica memory import ~/notes
      silica memory import standup.md ideas.txt
      silica memory import --dry-run ~/vault
      silica memory import --dry-run --json ~/vault > plan.json
      silica memory import --plan plan.json ~/vault
      silica memory import --verify --report report.md ~/vault
    """
    with Memory.open(chosen.path, chosen.model) as memory:
        _recovered(memory)
        scans = _scanned(paths, format_name)
        _bring_in(memory, scans, Choices(**choices))


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
    from memory_v2.migrate.older import check_empty, older_memory

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
    from memory_v2.migrate.readers import scan_paths

    with working("reading"):
        return scan_paths([path.expanduser() for path in paths], format_name)


def _bring_in(memory: Memory, scans: Sequence[tuple[Path, Scan]], choices: Choices) -> None:
    from memory_v2.migrate.edited import read_plan
    from memory_v2.migrate.older import check_apart
    from memory_v2.migrate.planning import make_plan
    from memory_v2.migrate.run import run

    if choices.dry_run and choices.report_file:
        raise UsageError("--report tells what was done, and --dry-run does nothing: leave one of them out")
    with working("planning"):
        plans = []
        for source, scan in scans:
            check_apart(memory, source)
            file = choices.plan_file
            plans.append(
                read_plan(file, memory, scan, source) if file else make_plan(memory, scan, source, choices.strategy)
            )
    if choices.dry_run:
        _tell_plans(memory, scans, plans, choices)
        return
    if not _is_agreed(memory, plans, choices.max_cost, choices.yes):
        return
    runs: list[tuple[Plan, Run]] = []
    with working("importing"):
        for (_, scan), plan in zip(scans, plans, strict=True):
            runs.append((plan, run(memory, scan, plan, choices.max_cost)))
            if runs[-1][1].error:
                break
    found = []
    if choices.verifies or choices.report_file:
        with working("verifying"):
            found = [verified(memory, scan, plan, done) for (_, scan), (plan, done) in zip(scans, runs, strict=False)]
    if choices.report_file:
        _write_reports(choices.report_file, scans, runs, found)
    _tell(runs, found if choices.verifies else [], choices.as_json)


def _write_reports(
    file: Path, scans: Sequence[tuple[Path, Scan]], runs: Sequence[tuple[Plan, Run]], found: Sequence[Verification]
) -> None:
    from memory_v2.migrate.report import write_reports

    with working("reporting"):
        told = zip(scans, runs, found, strict=False)
        write_reports([reported(scan, plan, done, one) for (_, scan), (plan, done), one in told], file.expanduser())


def _tell_plans(memory: Memory, scans: Sequence[tuple[Path, Scan]], plans: Sequence[Plan], choices: Choices) -> None:
    from memory_v2.migrate.edited import plan_document
    from memory_v2.serialize import document

    found = []
    if choices.verifies:
        with working("verifying"):
            found = [verified(memory, scan, plan, None) for (_, scan), plan in zip(scans, plans, strict=True)]
    if choices.as_json:
        more = {"verifications": document(found)} if choices.verifies else {}
        out_json({"plans": [plan_document(plan) for plan in plans], **more})
    else:
        out("\n".join(line for plan in plans for line in _plan_lines(plan)))
        _tell_verified(plans, found)
    _fail_unless_complete(found)


def _is_agreed(memory: Memory, plans: Sequence[Plan], max_cost: float | None, yes: bool) -> bool:
    """Whether what the model will be paid is agreed to. Nobody is asked where it costs nothing."""
    requests = sum(plan.requests for plan in plans)
    if not requests:
        return True
    costs = [plan.cost for plan in plans]
    known = [cost for cost in costs if cost is not None]
    cost = f"about ${sum(known):.2f}" if len(known) == len(costs) else "at a price that is not known"
    if max_cost is not None and len(known) < len(costs):
        rule = f"the price of {memory.model_name} is not known, so that its cost cannot be limited"
        raise UsageError(f"{rule}: tell it in SILICA_MEMORY_PRICES, or leave --max-cost out")
    told = f"{memory.model_name} gets at least {counted(requests, 'request')}, {cost}"
    tell(told + (f", and stops at ${max_cost:g}" if max_cost is not None else ""))
    return confirmed("Go on?", yes, "nothing was imported")


def _plan_lines(plan: Plan) -> Iterator[str]:
    steps = [step for step in plan.steps if step.action != "skip"]
    skipped = [step for step in plan.steps if step.action == "skip" and step.reason]
    yield style(f"{plain(str(plan.source))}, read as {plan.format}", bold=True)
    for step in steps[:MOST]:
        reason = f" ({plain(step.reason)})" if step.reason else ""
        page = plain(step.page) or "where it belongs"
        yield f"{step.action:7} {plain(step.name)} → {page} · {size(step.size)}{reason}"
    yield from _more(steps)
    reasons = dict.fromkeys(step.reason for step in skipped)
    for reason in reasons:
        alike = [step for step in skipped if step.reason == reason]
        shown = f"{plain(alike[0].name)}: " if len(alike) == 1 else f"{len(alike)} documents: "
        yield f"skip    {shown}{plain(reason)}"
    for one in plan.gone[:MOST]:
        yield f"gone    {plain(one.name)}: {plain(one.reason)}"
    yield from _more(plan.gone)
    yield from _left_out(plan)
    total = f"{counted(len(steps), 'document')} to bring in, {size(sum(step.size for step in steps))}"
    cost = "" if plan.cost == 0 else f", about ${plan.cost:.2f}" if plan.cost is not None else ", at an unknown price"
    yield f"{total}{cost}; nothing was changed"


def _left_out(plan: Plan) -> Iterator[str]:
    from memory_v2.files.left_out import left_out_in_a_line

    if plan.left_out:
        yield f"{len(plan.left_out):,} left out: {plain(left_out_in_a_line(plan.left_out))}"


def _more(shown: Sequence[object]) -> Iterator[str]:
    if len(shown) > MOST:
        yield f"        and {len(shown) - MOST:,} more (--json has all)"


def _tell(runs: Sequence[tuple[Plan, Run]], found: Sequence[Verification], as_json: bool) -> None:
    """Tells what came of the runs, and of their verifications. Raises what has stopped the last run."""
    from memory_v2.serialize import document

    error = runs[-1][1].error
    if as_json:
        told = [document(done.to_dict(plan)) for plan, done in runs]
        for one, verification in zip(told, found, strict=False):
            one["verification"] = document(verification)
        out_json({"imports": told} | ({"error": error_document(error)} if error else {}))
    else:
        out("\n".join(line for plan, done in runs for line in _run_lines(plan, done)))
        _tell_verified([plan for plan, _ in runs], found)
    for reason in dict.fromkeys(reason for _, done in runs for reason in done.degraded):
        tell(reason)
    if error is None:
        _fail_unless_complete(found)
        return
    if not as_json:
        raise error
    tell(str(error))
    click.get_current_context().exit(exit_code(error))


def _tell_verified(plans: Sequence[Plan], found: Sequence[Verification]) -> None:
    for plan, verification in zip(plans, found, strict=False):
        for line in verification_lines(plan.source, verification):
            out(line)


def _fail_unless_complete(found: Sequence[Verification]) -> None:
    if not all(one.is_complete for one in found):
        click.get_current_context().exit(FINDINGS)


def _run_lines(plan: Plan, done: Run) -> Iterator[str]:
    """What needs a look, and the totals."""
    alone = [one for one in (*done.outcomes, *done.gone) if one.status in ("skipped", "failed")]
    reached = [one for one in alone if done.error is None or str(done.error) not in one.reason]
    for outcome in reached[:MOST]:
        yield f"{outcome.status}: {plain(outcome.name)}: {plain(outcome.reason)}"
    yield from _more(reached)
    yield from _left_out(plan)
    told = [f"{count:,} {status}" for status, count in done.totals.items() if count]
    yield " · ".join(filter(None, [f"{plain(str(plan.source))}: {', '.join(told)}", price(done.cost)]))
