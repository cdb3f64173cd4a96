"""The verbs that read, change and arrange pages."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from memory_v2.cli.output import (
    Document,
    Hint,
    Notice,
    Output,
    confirmed,
    did_you_mean,
    diff_lines,
    is_asked,
    named,
    on_terminal,
    plain,
    plain_lines,
    tell,
    working,
)
from memory_v2.cli.show import changed, degraded, label, price, renders
from memory_v2.cli.verb import PageOrRoot, TextFile, Words, Yes, given_text, misuse, verb
from memory_v2.errors import SilicaError, UsageError
from memory_v2.memory import Memory
from memory_v2.serialize import read_document
from memory_v2.text.amounts import size
from memory_v2.text.days import named_day
from memory_v2.text.words import shorten
from memory_v2.tree.block import decode
from memory_v2.tree.path import ROOT, misspelled, page_path

if TYPE_CHECKING:
    from memory_v2.operations.results import Result, SplitResult


@verb(Memory.write, path="--to")
def write(
    memory: Memory,
    text: Words,
    path: str | None,
    mode: Literal["update", "append", "replace"],
    file: TextFile,
    source: str | None,
    date: str | None,
    dry_run: Annotated[bool, "Only show what would be changed. A model is asked all the same."] = False,
) -> Iterator[Output]:
    """Write a text: where it belongs, or on a page.

    The text is the arguments, joined by spaces; else a file; else standard input, in UTF-8. A page that grows too large
    is split.

    A date in the name of --source or --file counts as the day on which the text was said, if there is no --date.

    \b
    Examples:
      silica memory write "Silica uses pytest for testing"
      silica memory write --to projects/silica "- Release on Fridays"
      git log -5 | silica memory write --to log --mode append
      silica memory write --file notes.md
      silica memory write --dry-run --file notes.md
      silica memory write --file standup.md --source standup --date 2026-02-03
    """
    if mode == "replace" and path is None:
        raise misuse(f"--mode replace replaces a whole page: name it with --to PAGE; the root is --to {ROOT}")
    given = given_text(text, file)
    if date is None and source is None and file is not None:
        day = named_day(file.name)
        date = day.isoformat() if day and day <= memory.today else None
    with working("deciding" if dry_run else "writing"):
        result = (memory.rehearse if dry_run else memory.write)(given, path, mode, source=source, date=date)
    yield Document(result, **({"dry_run": True} if dry_run else {}))
    if dry_run and result.revisions:
        yield from diff_lines(result.changes)
        yield Hint(f"nothing was written: it would go to {plain(result.path)}")
    elif result.outcome == "nothing new":
        yield f"nothing new: already in {named(result.said_in or [result.path])}"
    else:
        way = " › ".join(memory.graph().breadcrumb(result.path))
        divided = f"split into {named(result.new_files)}" if result.new_files else ""
        said = f"said on {date}" if date else ""
        yield " · ".join(filter(None, [label(way), size(result.size_bytes), said, divided, price(result.cost)]))
    if (
        path is not None
        and result.has_made(page := page_path(path))
        and (meant := misspelled(page, memory.storage.list_files()))
    ):
        undo = "" if dry_run else " 'silica memory undo' takes it back"
        yield Notice(f"{page} is a new page; {did_you_mean(meant)}{undo}")
    for secret in result.secrets:
        yield Notice(f"{result.path}: {secret}")
    yield from degraded(result)


@verb(Memory.read, "path")
def read(memory: Memory, path: str) -> Iterator[Output]:
    """Print a page as it is stored.

    Without PAGE, the root. In a pipe the page is printed in UTF-8, byte for byte. On a terminal control characters are
    escaped.

    \b
    Examples:
      silica memory read
      silica memory read projects/silica
    """
    text = memory.read(path)
    page = page_path(path or ROOT)
    yield Document(read_document(page, text, memory.storage.get_size(page)))
    yield (plain_lines(text) if on_terminal(sys.stdout) else text).encode()


@verb(Memory.split, "path", doing="splitting")
def split() -> None:
    """Divide a page into a page and its children.

    Without PAGE, the root. Pages that grow too large are split automatically; this splits a page now. A small one is
    split if it has parts for pages of their own.

    \b
    Examples:
      silica memory split
      silica memory split projects/silica
    """


@renders("SplitResult")
def _split(result: SplitResult) -> Iterator[Output]:
    if result.new_files:
        way = f" by {result.strategy}" if result.strategy else ""
        divided = f"{label(result.path)} split{way} into {named(result.new_files)}"
        yield " · ".join(filter(None, [divided, price(result.cost)]))
    else:
        yield f"{label(result.path)} not split: {plain(result.reason) or 'there is nothing to divide'}"


@verb(Memory.merge, "path", doing="merging")
def merge(memory: Memory, path: str) -> Iterator[Output]:
    """Fold a page back into its parent.

    Its text is kept verbatim. Its children move to its parent, and links to it lead there.

    \b
    Example:
      silica memory merge projects/silica/testing
    """
    result = memory.merge(path)
    yield from changed(result, f"{plain(path)} merged into {label(result.path)}")


@verb(Memory.rename, "old", "new", doing="renaming")
def rename(memory: Memory, old: str, new: str, title: str | None) -> Iterator[Output]:
    """Move a page to another path, or change its title; all links follow.

    The pages below it move with it. In another folder the nearest page above lists it.

    \b
    Examples:
      silica memory rename projects/silica work/silica
      silica memory rename boats ships --title Ships
      silica memory rename ships ships --title "Ships and boats"
    """
    result = memory.rename(old, new, title)
    yield from changed(result, f"{plain(old)} renamed to {label(result.path)}")


@verb(Memory.delete, "path")
def delete(memory: Memory, path: str, yes: Yes = False) -> Iterator[Output]:
    """Delete a page.

    Its children move to its parent. 'silica memory undo' brings it back.

    \b
    Examples:
      silica memory delete drafts
      silica memory delete drafts --yes
    """
    page = page_path(path)
    if is_asked(yes):
        children = memory.graph().children.get(page, [])
        extent = size(len(memory.read(page).encode()))
        moving = f"; {len(children)} below it will move to its parent" if children else ""
        if not confirmed(f"Delete {plain(page)} ({extent}){moving}?", yes, "nothing was deleted"):
            return
    result = memory.delete(path)
    moved = [f"  {plain(one.path)} moved to {plain(str(one.parent))}" for one in result.moved]
    yield from changed(result, f"{plain(result.path)} deleted", *moved)


@verb(Memory.replace_text, "path", "old", "new", doing="replacing")
def replace(memory: Memory, path: str, old: str, new: str, source: str | None, date: str | None) -> Iterator[Output]:
    """Replace words of a page by others, to the letter.

    OLD must occur exactly once in the text of PAGE; an empty NEW takes it out. No model is asked. 'silica memory undo'
    takes it back.

    \b
    Examples:
      silica memory replace projects/silica "on Fridays" "on Mondays"
      silica memory replace people "Ada keeps the books. " ""
    """
    result = memory.replace_text(path, old, new, source=source, date=date)
    words = " → ".join(plain(shorten(said, 60)) for said in (old, new or "(nothing)"))
    yield from changed(result, _stored(memory, result), f"  {words}")


@verb()
def edit(memory: Memory, path: PageOrRoot = ROOT) -> Iterator[Output]:
    """Edit a page in your editor, which is VISUAL or EDITOR.

    Without PAGE, the root. The edit is an operation of the history, as a write is. If somebody changes the page
    meanwhile, nothing is stored, and a file keeps what you have written.

    \b
    Examples:
      silica memory edit
      EDITOR=nano silica memory edit projects/silica
    """
    page = page_path(path)
    before = memory.storage.read(page).data
    file = Path(tempfile.mkdtemp(prefix="silica-edit-")) / f"{page.rsplit('/', 1)[-1]}.md"
    file.write_bytes(before)
    try:
        text = _edited(file)
        with working("storing"):
            result = memory.edit(page, decode(text), decode(before))
    except (SilicaError, OSError):
        if file.exists() and file.read_bytes() != before:
            tell(f"what you have written is kept in {file}")
        else:
            shutil.rmtree(file.parent)
        raise
    shutil.rmtree(file.parent)  # with what the editor may have left beside the file: backups, a folder of its own
    yield from changed(result, _stored(memory, result))


def _stored(memory: Memory, result: Result) -> str:
    extent = f" · {size(memory.storage.get_size(result.path))}" if result.revisions else " not changed"
    return f"{label(result.path)}{extent}"


def _edited(file: Path) -> bytes:
    """The file after the editor has been closed. Raises `UsageError` if it cannot be started or has failed."""
    try:
        click.edit(filename=str(file))
        return file.read_bytes()
    except FileNotFoundError as error:
        raise UsageError("the editor has removed its file; the page is as it was") from error
    except (click.ClickException, ValueError) as error:  # the latter for quotes that are not closed
        why = "ended with an error"
        if isinstance(cause := error.__cause__, OSError):
            why = f"{cause.filename!r} cannot be started: {cause.strerror}"
        elif isinstance(error, ValueError):
            why = f"cannot be started: its command has {str(error).lower()}"
        raise UsageError(f"the editor {why}; the page is as it was; VISUAL or EDITOR names another one") from error
