"""The verbs that go back to an earlier state: undo, restore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from memory_v2.cli.report import confirmed, report, yes_option
from memory_v2.cli.show import named, plain, style
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import Verb, json_option, with_memory
from memory_v2.memory import Memory
from memory_v2.text.amounts import counted
from memory_v2.tree.path import page_path

if TYPE_CHECKING:
    from memory_v2.operations.history import PastOperation
    from memory_v2.operations.results import Result


@click.command(cls=Verb)
@click.argument("revision", required=False)
@yes_option
@json_option
@with_memory
def undo(memory: Memory, revision: str | None, yes: bool, as_json: bool) -> None:
    """Undo an operation.

    The pages that it changed become what they were before it, byte for byte. Without REVISION, the newest operation
    that is not undone. An operation cannot be undone if one of its pages has been changed since. It stays in the
    history, and an undo can be undone.

    \b
    Examples:
      silica memory undo
      silica memory undo 3fa09c --yes
    """
    memory.entries.pick_up()  # what was captured last may be what is to be undone
    operation = memory.show(revision)[0] if revision is not None else _newest(memory)
    # What the question named is undone, even if somebody writes meanwhile; where nothing can be, the refusal is told.
    if operation is not None and not operation.undone_by:
        extent = counted(len(operation.paths), "page")
        if not confirmed(f"Undo {_named(operation)}, with {extent}?", yes, "nothing was undone"):
            return
    with working("undoing"):
        result = memory.undo(operation.id if operation else None)
    sentence = f"undone: {_named(operation)}" if operation else "undone"
    report(result, [sentence, *_pages(result, "as before")], as_json, operation=operation)


@click.command(cls=Verb)
@click.argument("revision")
@click.argument("page", required=False)
@yes_option
@json_option
@with_memory
def restore(memory: Memory, revision: str, page: str | None, yes: bool, as_json: bool) -> None:
    """Restore a page, or all pages, to an earlier state.

    The pages become what they were after the operation REVISION. Without PAGE, all do, and pages created since are
    removed. The present state stays in the history, and 'silica memory undo' brings it back.

    \b
    Examples:
      silica memory restore 3fa09c projects/silica
      silica memory restore 3fa09c --yes
    """
    what = page_path(page) if page is not None else "all pages"
    operation = memory.show(revision)[0]
    then = f"after {_named(operation)}"
    if not confirmed(f"Restore {plain(what)} to the state {then}?", yes, "nothing was restored"):
        return
    with working("restoring"):
        result = memory.restore(operation.id, page)
    shown = style(plain(what), fg="cyan")
    if result.changed_pages:
        sentence = f"{shown} restored to the state {then}"
    else:
        sentence = f"{shown} already in the state {then}"
    report(result, [sentence, *_pages(result, "restored")], as_json, operation=operation)


def _newest(memory: Memory) -> PastOperation | None:
    """What `Memory.undo` undoes if no operation is named."""
    return next((one for one in memory.history() if one.is_next), None)


def _named(operation: PastOperation) -> str:
    return f"{operation.id} ({plain(operation.first.kind)}: {plain(operation.first.summary)})"


def _pages(result: Result, done: str) -> list[str]:
    """Which pages are `done`, and which are removed."""
    after = {change.path: change.after for revision in result.revisions for change in revision.pages}
    stored = sorted(path for path, text in after.items() if text is not None)
    removed = sorted(path for path, text in after.items() if text is None)
    return [f"  {word}: {named(paths)}" for word, paths in ((done, stored), ("removed", removed)) if paths]
