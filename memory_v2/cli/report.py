"""How the verbs ask before they act, and tell what came of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from memory_v2.cli.show import on_terminal, out, out_json, tell
from memory_v2.text.amounts import counted, spent

if TYPE_CHECKING:
    from memory_v2.agent.limits import Cost
    from memory_v2.memory import Memory
    from memory_v2.operations.results import Result, SearchResults
    from memory_v2.plan import Plan

yes_option = click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation. A question is only asked on a terminal."
)


def is_asked(yes: bool) -> bool:
    """Whether there is somebody to ask for confirmation, who has not given it with --yes."""
    return not yes and on_terminal(sys.stdin) and on_terminal(sys.stderr)


def confirmed(question: str, yes: bool, otherwise: str) -> bool:
    """Whether to go on: yes if nobody is asked, or they agree. If they do not, says that nothing was done."""
    if not is_asked(yes) or click.confirm(question, err=True):
        return True
    tell(otherwise)
    return False


def report(result: Result, lines: list[str], as_json: bool, **more: object) -> None:
    """Tells what a change of the tree did, in lines or as its document with `more`."""
    if as_json:
        out_result(result, **more)
    else:
        out("\n".join(lines))
    admit(result)


def out_result(result: Any, **more: object) -> None:
    """Prints the document of what an operation returned, and `more` beside it."""
    from memory_v2.serialize import document

    out_json(document(result) | document(more))


def admit(result: Result | SearchResults | Plan) -> None:
    """Says why, if another model decided than the one that was asked, or something was left undone."""
    if result.degraded:
        tell(f"{result.degraded} (decided by {result.decided_by})")


def price(cost: Cost) -> str:
    """What it took, if a model was paid."""
    usage = cost.usage
    paid = spent(usage.input_tokens, usage.output_tokens, usage.cached_tokens, cost.money)
    about = "about " if cost.is_estimate else ""
    return f"{counted(cost.calls, 'call')}, {about}{paid}" if paid else ""


def tell_how_to_begin(memory: Memory) -> bool:
    """Says how to begin, if the memory has no page; returns whether it has none."""
    if memory.storage.list_files():
        return False
    if any(memory.entries.store.places()):
        tell(f"{memory.storage.where} has entries and no page yet: 'silica memory entries ls' lists them")
    else:
        tell(f'{memory.storage.where} is empty; begin with: silica memory write "…"')
    return True
