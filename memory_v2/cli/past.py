"""The verbs that look back at what happened to the pages: history, show, diff, blame, gc."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from memory_v2.cli.show import counted, fitted, on_terminal, out, out_json, plain, size, style, tell, working
from memory_v2.cli.verb import Verb, json_option, with_memory
from memory_v2.memory import Memory
from memory_v2.tree.block import split_lines
from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.operations.past import BlamedLine, PastOperation
    from memory_v2.storage.history import Revision

COLUMNS = ("id", "when (UTC)", "what", "about", "decided by", "pages", "undone")
LEFT_OUT_FIRST = ("decided by", "pages")
BLAMED = ("id", "date", "what", "decided by", "line", "text")
LEFT_OUT_FIRST_OF_BLAMED = ("decided by", "what")
SHORT = 12
"""Characters of an id that are shown."""


@click.command(cls=Verb)
@click.argument("page", required=False)
@click.option("-n", "most", metavar="COUNT", type=click.IntRange(1), default=20, show_default=True, help="The most.")
@json_option
@with_memory
def history(memory: Memory, page: str | None, most: int, as_json: bool) -> None:
    """List what was done, newest first.

    Each write, split, merge … with its id, who decided, and the pages it changed; 'outside' is what was edited by hand.
    With PAGE, only what changed that page. An id, or the beginning of one, is what show, diff, undo and restore take.

    \b
    Examples:
      silica memory history
      silica memory history projects/silica -n 5
      silica memory history | cut -f1,4
    """
    operations = memory.history(page)
    if as_json:
        from memory_v2.cli.documents import operation_document

        out_json({"operations": [operation_document(one) for one in operations[:most]]})
    elif operations:
        seen = on_terminal(sys.stdout)
        rows = [_row(one, seen) for one in operations[:most]]
        for line in fitted(COLUMNS, rows, "about", LEFT_OUT_FIRST, ("pages",)):
            out(line)
    if not operations and page:
        tell(f"nothing was done to {page_path(page)} yet")
    elif not operations:
        tell(f"nothing was done in {memory.storage.where} yet: every write, split, merge … will be listed here")
    elif len(operations) > most and on_terminal(sys.stdout):
        tell(f"{len(operations) - most:,} older not shown; -n {len(operations)} lists all")


@click.command(cls=Verb)
@click.argument("revision")
@json_option
@with_memory
def show(memory: Memory, revision: str, as_json: bool) -> None:
    """Show one operation: what, why, who decided, and the diff.

    REVISION is an id that 'silica memory history' lists, or its beginning. A write is shown with the splits that
    followed it.

    \b
    Example:
      silica memory show 3fa09c
    """
    operation, changes = memory.show(revision)
    if as_json:
        from memory_v2.cli.documents import operation_document, revision_document

        entries = [revision_document(entry) for entry in reversed(operation.revisions)]
        out_json({**operation_document(operation), "entries": entries, "changes": changes.diff})
        return
    undone = f", undone by {operation.undone_by[:SHORT]}" if operation.undone_by else ""
    moment = f"{operation.when:%Y-%m-%d %H:%M:%S} UTC"
    out(f"{style(operation.id, fg='cyan')}  {moment}{style(undone, fg='yellow')}")
    for entry in reversed(operation.revisions):
        for line in _told(entry):
            out(line)
    if changes:
        out("")
    for line in _diff(changes.diff):
        out(line)


@click.command(cls=Verb)
@click.argument("old")
@click.argument("new", required=False)
@json_option
@with_memory
def diff(memory: Memory, old: str, new: str | None, as_json: bool) -> None:
    """Show what differs between two moments.

    From how the pages were after the operation OLD to how they were after NEW; without NEW, to how they are now. What
    one operation changed is shown by 'silica memory show'.

    \b
    Examples:
      silica memory diff 3fa09c
      silica memory diff 3fa09c 77b1e2
    """
    changes = memory.diff(old, new)
    if as_json:
        pages = [change.path for change in changes.pages]
        out_json({"old": old, "new": new, "changed_pages": pages, "changes": changes.diff})
        return
    for line in _diff(changes.diff):
        out(line)
    if not changes:
        tell("nothing differs")


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def blame(memory: Memory, page: str, as_json: bool) -> None:
    """Show what brought each line of a page.

    Each line with the id of the commit that brought it, when, what was done and who decided. The root, if no page is
    named.

    \b
    Examples:
      silica memory blame projects/silica
      silica memory blame projects/silica | cut -f1,6
    """
    lines = memory.blame(page)
    if as_json:
        from memory_v2.cli.documents import blame_document

        out_json({"path": page_path(page or ROOT), "lines": [blame_document(line) for line in lines]})
        return
    seen = on_terminal(sys.stdout)
    for row in fitted(BLAMED, [_blamed(line, seen) for line in lines], "text", LEFT_OUT_FIRST_OF_BLAMED, ("line",)):
        out(row)


@click.command(cls=Verb)
@json_option
@with_memory
def gc(memory: Memory, as_json: bool) -> None:
    """Pack the history: many small files become one.

    Nothing of it is lost. A history that grows large takes less room afterwards, and is read faster.

    \b
    Example:
      silica memory gc
    """
    with working("packing the history"):
        packed = memory.pack_history()
    if as_json:
        from memory_v2.cli.documents import packed_document

        out_json(packed_document(packed))
    elif packed.objects:
        sizes = f"{packed.bytes_before:,} → {size(packed.bytes_after)}"
        out(f"the history is packed: {sizes}, {counted(packed.objects, 'object')}")
    else:
        out(f"nothing to pack: the history takes {size(packed.bytes_after)}")


def _row(operation: PastOperation, seen: bool) -> list[str]:
    """An operation in the list: as a person reads it where it is `seen`, else as a program does."""
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


def _told(entry: Revision) -> Iterator[str]:
    """A commit: what, by whom, why, and what could not be done as it was meant."""
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


def _blamed(line: BlamedLine, seen: bool) -> list[str]:
    """A line of a page in the list. Its text is the last cell, so it may keep its tabs in a pipe."""
    text, entry = plain(line.text.rstrip("\r\n")), line.entry
    cells = ["", "", "", ""]
    if entry is not None:
        day = f"{entry.when:%Y-%m-%d}" if seen else _moment(entry.when, seen)
        cells = [entry.id[:SHORT], day, entry.kind, entry.decided_by]
    told = [plain(cell).replace("\t", " ") for cell in cells]
    return [*told, str(line.number), text.expandtabs(4) if seen else text]


def _diff(text: str) -> Iterator[str]:
    """A unified diff, line by line; a carriage return is made visible, for it may be all that differs."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in split_lines(text):
        yield style(plain(line.removesuffix("\n")), fg=colours.get(line[:1]))
