"""The verbs about the past of the pages: history, show, diff, blame, undo, restore."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from memory_v2.cli.output import (
    Column,
    confirmed,
    diff_lines,
    named,
    on_terminal,
    out,
    out_result,
    plain,
    plain_lines,
    report,
    style,
    table,
    tell,
    working,
    yes_option,
)
from memory_v2.cli.verb import Verb, json_option, with_memory
from memory_v2.memory import Memory
from memory_v2.serialize import document, shown_document
from memory_v2.text.amounts import counted
from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.operations.history import BlamedLine, PastOperation
    from memory_v2.operations.results import Result
    from memory_v2.storage.history import Revision

OPERATIONS = (
    Column("id"),
    Column("when (UTC)"),
    Column("what"),
    Column("about", is_long=True),
    Column("decided by", drop=1),
    Column("pages", drop=2, is_number=True),
    Column("undone"),
)
LINES = (
    Column("id"),
    Column("date"),
    Column("what", drop=2),
    Column("decided by", drop=1),
    Column("line", is_number=True),
    Column("text", is_long=True),
)
SHORT = 12
"""Characters of an id that are shown: with fewer, long histories would have two of the same name."""


@click.command(cls=Verb)
@click.argument("page", required=False)
@click.option(
    "-n",
    "--limit",
    "most",
    metavar="COUNT",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="The maximum number listed.",
)
@json_option
@with_memory
def history(memory: Memory, page: str | None, most: int, as_json: bool) -> None:
    """List past operations, newest first.

    Each write, split, merge … with its id, who decided it, and the pages it changed; 'outside' is an edit by hand. With
    PAGE, only operations that changed that page. show, diff, undo and restore take an id, or the beginning of one.

    \b
    Examples:
      silica memory history
      silica memory history projects/silica -n 5
      silica memory history | cut -f1,4
    """
    operations = memory.history(page)
    if as_json:
        out_result({"operations": operations[:most]})
    elif operations:
        seen = on_terminal(sys.stdout)
        for line in table(OPERATIONS, [_row(operation, seen) for operation in operations[:most]]):
            out(line)
    if not operations and page:
        tell(f"no operation has changed {page_path(page)} yet")
    elif not operations:
        tell(f"{memory.storage.where} has no history yet; every write, split, merge … will be listed here")
    elif len(operations) > most and on_terminal(sys.stdout):
        tell(f"{len(operations) - most:,} older not shown; -n {len(operations)} lists all")


@click.command(cls=Verb)
@click.argument("revision")
@json_option
@with_memory
def show(memory: Memory, revision: str, as_json: bool) -> None:
    """Show a past operation: what, why, who decided, and the diff.

    REVISION is an id that 'silica memory history' lists, or the beginning of one. A write is shown with the splits that
    followed it.

    \b
    Example:
      silica memory show 3fa09c
    """
    operation, changes = memory.show(revision)
    if as_json:
        out_result(shown_document(operation, changes))
        return
    undone = f", undone by {operation.undone_by[:SHORT]}" if operation.undone_by else ""
    moment = f"{operation.when:%Y-%m-%d %H:%M:%S} UTC"
    out(f"{style(operation.id, fg='cyan')}  {moment}{style(undone, fg='yellow')}")
    for entry in reversed(operation.revisions):
        for line in _revision_lines(entry):
            out(line)
    if changes:
        out("")
    for line in diff_lines(changes.diff):
        out(line)


@click.command(cls=Verb)
@click.argument("old")
@click.argument("new", required=False)
@json_option
@with_memory
def diff(memory: Memory, old: str, new: str | None, as_json: bool) -> None:
    """Show what changed between two past operations.

    Compares the pages as they were after the operation OLD with the pages after NEW, or without NEW with the pages as
    they are now. 'silica memory show' shows what one operation changed.

    \b
    Examples:
      silica memory diff 3fa09c
      silica memory diff 3fa09c 77b1e2
    """
    changes = memory.diff(old, new)
    if as_json:
        out_result({"old": old, "new": new} | document(changes))
        return
    for line in diff_lines(changes.diff):
        out(line)
    if not changes:
        tell("no difference")


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def blame(memory: Memory, page: str, as_json: bool) -> None:
    """Show which operation brought each line of a page.

    Each line with the id of the commit that brought it, its date, what was done and who decided it. Without PAGE, the
    root.

    \b
    Examples:
      silica memory blame projects/silica
      silica memory blame projects/silica | cut -f1,6
    """
    lines = memory.blame(page)
    if as_json:
        out_result({"path": page_path(page or ROOT), "lines": lines})
        return
    seen = on_terminal(sys.stdout)
    for row in table(LINES, [_blamed(line, seen) for line in lines]):
        out(row)


def _row(operation: PastOperation, seen: bool) -> list[str]:
    """An operation as a row: for a person if it is `seen` on a terminal, else for a program."""
    decided = dict.fromkeys(entry.decided_by for entry in reversed(operation.revisions) if entry.decided_by)
    cells = [
        operation.id,
        _moment(operation.when, seen),
        operation.first.kind,
        operation.first.summary,
        ", ".join(decided),
        str(len(operation.paths)) if seen else ", ".join(operation.paths),
        "undone" if operation.undone_by else "",
    ]
    return [plain(cell).replace("\t", " ") for cell in cells]


def _moment(when: datetime, seen: bool) -> str:
    return f"{when:%Y-%m-%d %H:%M}" if seen else f"{when:%Y-%m-%dT%H:%M:%SZ}"


def _revision_lines(entry: Revision) -> Iterator[str]:
    """A commit: what, by whom, why, and what did not go as intended."""
    who = f", decided by {plain(entry.decided_by)}" if entry.decided_by else ""
    yield ""
    yield f"{style(plain(entry.kind), bold=True)}: {plain(entry.summary)}"
    yield style(f"  {entry.id[:SHORT]}{who}", dim=True)
    if entry.undoes:
        yield f"  undoes {plain(entry.undoes[:SHORT])}"
    if entry.degraded:
        yield f"  {style('degraded', fg='yellow')}: {plain(entry.degraded)}"
    for why in entry.why:
        yield f"  {plain(why)}"
    if entry.text and entry.kind != "import":
        yield style("  the text as it was given:", dim=True)
        yield from (f"  > {plain(line)}" for line in plain_lines(entry.text).splitlines())


def _blamed(line: BlamedLine, seen: bool) -> list[str]:
    """A line of a page as a row. Its text is the last cell, so in a pipe it may keep its tabs."""
    text, entry = plain(line.text.rstrip("\r\n")), line.revision
    cells = ["", "", "", ""]
    if entry is not None:
        day = f"{entry.when:%Y-%m-%d}" if seen else _moment(entry.when, seen)
        cells = [entry.id[:SHORT], day, entry.kind, entry.decided_by]
    told = [plain(cell).replace("\t", " ") for cell in cells]
    return [*told, str(line.number), text.expandtabs(4) if seen else text]


@click.command(cls=Verb)
@click.argument("revision", required=False)
@yes_option
@json_option
@with_memory
def undo(memory: Memory, revision: str | None, yes: bool, as_json: bool) -> None:
    """Undo an operation.

    The pages that it changed become what they were before it, byte for byte. Without REVISION, or with 'last', the
    newest operation that is not undone. An operation cannot be undone if one of its pages has been changed since. It
    stays in the history, and an undo can be undone.

    \b
    Examples:
      silica memory undo
      silica memory undo 3fa09c --yes
    """
    memory.entries.store.pick_up_last()  # it may be what is to be undone
    operation = memory.show(revision)[0] if revision not in (None, "last") else _newest(memory)
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
