"""What results look like: each room says by `@renders` how its types are told; those of several rooms are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_v2.cli.output import Document, Hint, Notice, Output, diff_lines, out_json, plain, plain_lines, style
from memory_v2.configuration import FILE
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, spent

if TYPE_CHECKING:  # and not when it runs: they bring models and the index to every verb
    from memory_v2.agent.operation import Cost
    from memory_v2.memory import Memory
    from memory_v2.operations.results import Result
    from memory_v2.plan import Plan, Step

BEGIN = 'begin with: silica memory write "…"'
Renderer = Callable[[Any], Iterator[Output]]
RENDERERS: dict[str, Renderer] = {}
"""How results are told, by the names of their classes: to import these would load every room."""


def renders(name: str) -> Callable[[Renderer], Renderer]:
    """Says that a function tells the results of this class."""
    return lambda renderer: RENDERERS.setdefault(name, renderer)


def show(result: Any) -> Iterator[Output]:
    """A result: its document, what a person reads, and why another model decided than the one that was asked."""
    yield Document(result)
    known = [RENDERERS[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in RENDERERS]
    if not known:
        raise TypeError(f"no function under @renders tells a {type(result).__name__}")
    yield from known[0](result)
    yield from degraded(result)


def changed(result: Result, *lines: str, **more: object) -> Iterator[Output]:
    """A change of the tree, told in these lines, or as its document with `more`."""
    yield Document(result, **more)
    yield from lines
    yield from degraded(result)


def degraded(result: Any) -> Iterator[Notice]:
    """Why, if another model decided than the one that was asked, or something was left undone."""
    if why := getattr(result, "degraded", ""):
        yield Notice(f"{why} (decided by {result.decided_by})")


def label(of: object) -> str:
    """The name of a page, an entry or a file, as it stands out in a line."""
    return style(plain(str(of)), fg="cyan")


def price(cost: Cost) -> str:
    """What it took, if a model was paid."""
    usage = cost.usage
    paid = spent(usage.input_tokens, usage.output_tokens, usage.cached_tokens, cost.money)
    about = "about " if cost.is_estimate else ""
    return f"{counted(cost.calls, 'call')}, {about}{paid}" if paid else ""


def how_to_begin(memory: Memory) -> Iterator[Notice]:
    """How to begin, if the memory has no page."""
    if memory.storage.list_files():
        return
    if any(memory.entries.store.places()):
        yield Notice(f"{memory.storage.where} has entries and no page yet: 'silica memory entries ls' lists them")
    elif strange := files_that_are_no_pages(memory):
        yield Notice(f"{memory.storage.where}: {strange}")
    else:
        yield Notice(f"{memory.storage.where} is empty; {BEGIN}")


def files_that_are_no_pages(memory: Memory) -> str:
    """What to do with the files in the folder of a memory without pages; empty if there are none but its own."""
    folder = Path(memory.storage.where)
    names = (path.relative_to(folder).parts for path in folder.rglob("*") if path.is_file())
    if all(name == (FILE,) or any(part.startswith(".") for part in name) for name in names):
        return ""
    return (
        "the folder has files that are no pages: 'silica memory import' brings notes in from where they are, "
        "'migrate' an older memory"
    )


def graph_output(graph: Any, form: str | None, as_json: bool) -> Iterator[Output]:
    """A graph of pages or notes in the form that was chosen."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json cannot be combined with --format {form}", click.get_current_context())
    if form in (None, "json"):
        out_json(document(graph))
    else:
        yield plain_lines(graph.to_mermaid() if form == "mermaid" else graph.to_dot()).encode()


MOST_ALIKE = 20
"""How many steps are shown that skip for the same reason; more are counted. --json has all."""


@renders("Plan")
def plan_output(plan: Plan) -> Iterator[Output]:
    """A plan step by step, what a person should look at, and whether it was carried out."""
    yield from plan_lines(plan)
    is_done = any(step.applied for step in plan.steps)
    for finding in plan.warnings:
        yield Hint(f"{finding.path}: {finding.message}")
    done = f"done, recorded as {plan.revision}" if plan.revision else "done" if is_done else "nothing was changed"
    yield Hint("; ".join(filter(None, (plan.title, price(plan.cost), done))))


def plan_lines(plan: Plan, most: int | None = None) -> Iterator[str]:
    """A line for each step, or for the first ones, and what it would change on pages; then what is skipped."""
    for step in plan.planned[:most]:
        yield _step(step)
        if step.is_due:
            yield from diff_lines(step.diff)
    yield from more_lines(len(plan.planned), most)
    for reason in dict.fromkeys(step.reason for step in plan.skipped):
        alike = [step for step in plan.skipped if step.reason == reason]
        if len(alike) > MOST_ALIKE:
            yield f"{alike[0].action} {len(alike):,}: {plain(reason)}"
        else:
            yield from map(_step, alike)


def more_lines(count: int, most: int | None) -> Iterator[str]:
    """That there are more than are shown."""
    if most is not None and count > most:
        yield f"        and {count - most:,} more (--json has all)"


def _step(step: Step) -> str:
    target = f" → {plain(step.target)}" if step.target else ""
    source = f" ← {plain(step.source)}" if step.source and not step.target else ""
    return f"{step.action} {label(step.name)}{target}{source}" + (f": {plain(step.reason)}" if step.reason else "")


def confidence(share: float) -> str:
    """How much of the question an answer tells, as a line."""
    return style(f"    confidence {share:.2f}", dim=True)


def points(signs: Iterable[tuple[str, float]]) -> Iterator[str]:
    """What an answer was ranked by, in lines: the most telling sign first."""
    for sign, each in sorted(signs, key=lambda sign: -abs(sign[1])):
        yield style(f"    {each:+.2f}  {sign}", dim=True)
