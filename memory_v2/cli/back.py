"""The verbs that go back to what was: undo, restore."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memory_v2.cli.pages import admit
from memory_v2.cli.show import counted, named, on_terminal, out, out_json, plain, style, tell, working
from memory_v2.cli.verb import Verb, json_option, with_memory
from memory_v2.memory import Memory
from memory_v2.tree.path import page_path

if TYPE_CHECKING:
    from memory_v2.operations.past import PastOperation
    from memory_v2.operations.results import Result

yes_option = click.option("--yes", is_flag=True, help="Do not ask first. It is only asked on a terminal.")


@click.command(cls=Verb)
@click.argument("revision", required=False)
@yes_option
@json_option
@with_memory
def undo(memory: Memory, revision: str | None, yes: bool, as_json: bool) -> None:
    """Take an operation back.

    The pages that it changed are as before it, to the byte. Without REVISION it is the newest that is not undone yet.
    It is refused if one of the pages was changed since. What is undone stays in the history, and an undo can be undone.

    \b
    Examples:
      silica memory undo
      silica memory undo 3fa09c --yes
    """
    operation = memory.show(revision)[0] if revision is not None else _newest(memory)
    # What the question named is undone, even if somebody writes meanwhile; where nothing can be, the refusal is told.
    if operation is not None and not operation.undone_by and not yes:
        extent = counted(len(operation.paths), "page")
        if not _agreed(f"Undo {_named(operation)}, with {extent}?"):
            tell("nothing was undone")
            return
    with working("undoing"):
        result = memory.undo(operation.id if operation else None)
    sentence = f"undone: {_named(operation)}" if operation else "undone"
    _report(result, operation, sentence, "as before", as_json)


@click.command(cls=Verb)
@click.argument("revision")
@click.argument("page", required=False)
@yes_option
@json_option
@with_memory
def restore(memory: Memory, revision: str, page: str | None, yes: bool, as_json: bool) -> None:
    """Bring a page, or all pages, back to what they were.

    They become what they were after the operation REVISION; without PAGE all do, and pages that were made since are
    removed. What is there now stays in the history, and 'silica memory undo' takes it back.

    \b
    Examples:
      silica memory restore 3fa09c projects/silica
      silica memory restore 3fa09c --yes
    """
    what = page_path(page) if page is not None else "all pages"
    operation = memory.show(revision)[0]
    then = f"as it was after {_named(operation)}" if page is not None else f"as they were after {_named(operation)}"
    if not yes and not _agreed(f"Bring {plain(what)} back, {then}?"):
        tell("nothing was restored")
        return
    with working("restoring"):
        result = memory.restore(operation.id, page)
    is_back = "is" if page is not None else "are"
    already = "" if result.changed_pages else " already"
    _report(result, operation, f"{style(plain(what), fg='cyan')} {is_back} {then}{already}", "brought back", as_json)


def _newest(memory: Memory) -> PastOperation | None:
    """What `Memory.undo` takes back if nothing is named."""
    return next((one for one in memory.history() if one.is_next), None)


def _agreed(question: str) -> bool:
    """Whether nobody is there to be asked, or they agree."""
    return not (on_terminal(sys.stdin) and on_terminal(sys.stderr)) or click.confirm(question, err=True)


def _named(operation: PastOperation) -> str:
    return f"{operation.id} ({plain(operation.first.kind)}: {plain(operation.first.summary)})"


def _report(result: Result, operation: PastOperation | None, sentence: str, done: str, as_json: bool) -> None:
    """Tells what came of it, which pages that was `done` to, and which are gone."""
    if as_json:
        from memory_v2.cli.documents import operation_document, result_document

        out_json({**result_document(result), "operation": operation_document(operation) if operation else None})
    else:
        out(sentence)
        after = {change.path: change.after for revision in result.revisions for change in revision.pages}
        stored = sorted(path for path, text in after.items() if text is not None)
        gone = sorted(path for path, text in after.items() if text is None)
        if stored:
            out(f"  {done}: {named(stored)}")
        if gone:
            out(f"  removed: {named(gone)}")
    admit(result)
