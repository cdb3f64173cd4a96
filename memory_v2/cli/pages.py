"""The verbs that read and change pages: write, read, edit, split, merge, rename, delete."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal

import click

from memory_v2.cli.output import (
    admit,
    confirmed,
    diff_lines,
    is_asked,
    named,
    on_terminal,
    out,
    out_json,
    out_result,
    plain,
    plain_lines,
    price,
    report,
    style,
    tell,
    tell_secrets,
    working,
    yes_option,
)
from memory_v2.cli.verb import Verb, given_text, json_option, option_for, with_memory, word
from memory_v2.errors import SilicaError, UsageError
from memory_v2.memory import Memory
from memory_v2.serialize import read_document
from memory_v2.text.amounts import size
from memory_v2.text.calendar import named_day
from memory_v2.tree.block import decode
from memory_v2.tree.path import ROOT, page_path


@click.command(cls=Verb)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=word)
@option_for(Memory.write, "path", "--to", "to", metavar="PAGE")
@option_for(Memory.write, "mode", "--mode")
@click.option("--file", type=click.Path(path_type=Path), help="Read the text from this file ('-': standard input).")
@option_for(Memory.write, "source", "--source", metavar="NAME")
@option_for(Memory.write, "date", "--date", metavar="DAY")
@click.option("--dry-run", is_flag=True, help="Only show what would be changed. A model is asked all the same.")
@json_option
@with_memory
def write(
    memory: Memory,
    words: tuple[str, ...],
    to: str | None,
    mode: Literal["update", "append", "replace"],
    file: Path | None,
    source: str | None,
    date: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
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
    if mode == "replace" and to is None:
        rule = f"--mode replace replaces a whole page: name it with --to PAGE; the root is --to {ROOT}"
        raise click.UsageError(rule, click.get_current_context())
    text = given_text(words, file)
    if date is None and source is None and file is not None:
        day = named_day(file.name)
        date = day.isoformat() if day and day <= memory.today else None
    with working("deciding" if dry_run else "writing"):
        result = (memory.rehearse if dry_run else memory.write)(text, to, mode, source=source, date=date)
    if as_json:
        out_result(result, **({"dry_run": True} if dry_run else {}))
    elif dry_run and result.revisions:
        for line in diff_lines(result.changes):
            out(line)
        tell(f"nothing was written: it would go to {plain(result.path)}")
    elif result.outcome == "nothing new":
        out(f"nothing new: already in {named(result.said_in or [result.path])}")
    else:
        way = " › ".join(plain(path) for path in memory.graph().breadcrumb(result.path))
        divided = f"split into {named(result.new_files)}" if result.new_files else ""
        told = [style(way, fg="cyan"), size(result.size_bytes), divided, price(result.cost)]
        out(" · ".join(filter(None, told)))
    tell_secrets(result.path, result.secrets)
    admit(result)


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def read(memory: Memory, page: str, as_json: bool) -> None:
    """Print a page as it is stored.

    Without PAGE, the root. In a pipe the page is printed in UTF-8, byte for byte. On a terminal control characters are
    escaped.

    \b
    Examples:
      silica memory read
      silica memory read projects/silica
    """
    text = memory.read(page)
    if as_json:
        path = page_path(page or ROOT)
        out_json(read_document(path, text, memory.storage.get_size(path)))
    else:
        shown = plain_lines(text) if on_terminal(sys.stdout) else text
        out(shown.encode(), newline=False)


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def split(memory: Memory, page: str, as_json: bool) -> None:
    """Divide a page into a page and its children.

    Without PAGE, the root. Pages that grow too large are split automatically; this splits a page now. A small one is
    split if it has parts for pages of their own.

    \b
    Examples:
      silica memory split
      silica memory split projects/silica
    """
    with working(f"splitting {plain(page)}"):
        result = memory.split(page)
    path = style(plain(result.path), fg="cyan")
    if result.new_files:
        way = f" by {result.strategy}" if result.strategy else ""
        told = " · ".join(filter(None, [f"{path} split{way} into {named(result.new_files)}", price(result.cost)]))
    else:
        told = f"{path} not split: {plain(result.reason) or 'there is nothing to divide'}"
    report(result, [told], as_json)


@click.command(cls=Verb)
@click.argument("page")
@json_option
@with_memory
def merge(memory: Memory, page: str, as_json: bool) -> None:
    """Fold a page back into its parent.

    Its text is kept verbatim. Its children move to its parent, and links to it lead there.

    \b
    Example:
      silica memory merge projects/silica/testing
    """
    with working(f"merging {plain(page)}"):
        result = memory.merge(page)
    report(result, [f"{plain(page)} merged into {style(plain(result.path), fg='cyan')}"], as_json)


@click.command(cls=Verb)
@click.argument("old")
@click.argument("new")
@json_option
@with_memory
def rename(memory: Memory, old: str, new: str, as_json: bool) -> None:
    """Move a page to another path; all links follow.

    The pages below it move with it.

    \b
    Example:
      silica memory rename projects/silica work/silica
    """
    with working(f"renaming {plain(old)}"):
        result = memory.rename(old, new)
    report(result, [f"{plain(old)} renamed to {style(plain(result.path), fg='cyan')}"], as_json)


@click.command(cls=Verb)
@click.argument("page")
@yes_option
@json_option
@with_memory
def delete(memory: Memory, page: str, yes: bool, as_json: bool) -> None:
    """Delete a page.

    Its children move to its parent. 'silica memory undo' brings it back.

    \b
    Examples:
      silica memory delete drafts
      silica memory delete drafts --yes
    """
    path = page_path(page)
    if is_asked(yes):
        children = memory.graph().children.get(path, [])
        extent = size(len(memory.read(path).encode()))
        moving = f"; {len(children)} below it will move to its parent" if children else ""
        if not confirmed(f"Delete {plain(path)} ({extent}){moving}?", yes, "nothing was deleted"):
            return
    result = memory.delete(page)
    lines = [f"  {plain(one.path)} moved to {plain(str(one.parent))}" for one in result.moved]
    report(result, [f"{plain(result.path)} deleted", *lines], as_json)


@click.command(cls=Verb)
@click.argument("page", default=ROOT)
@json_option
@with_memory
def edit(memory: Memory, page: str, as_json: bool) -> None:
    """Edit a page in your editor, which is VISUAL or EDITOR.

    Without PAGE, the root. The edit is an operation of the history, as a write is. If somebody changes the page
    meanwhile, nothing is stored, and a file keeps what you have written.

    \b
    Examples:
      silica memory edit
      EDITOR=nano silica memory edit projects/silica
    """
    path = page_path(page)
    before = memory.storage.read(path).data
    file = Path(tempfile.mkdtemp(prefix="silica-edit-")) / f"{path.rsplit('/', 1)[-1]}.md"
    file.write_bytes(before)
    try:
        _open_editor(file)
        text = _edited(file)
        with working("storing"):
            result = memory.edit(path, decode(text), decode(before))
    except (SilicaError, OSError):
        if file.exists() and file.read_bytes() != before:
            tell(f"what you have written is kept in {file}")
        else:
            _remove(file)
        raise
    _remove(file)
    shown = style(plain(path), fg="cyan")
    told = f"{shown} · {size(memory.storage.get_size(path))}" if result.revisions else f"{shown} not changed"
    report(result, [told], as_json)


def _open_editor(file: Path) -> None:
    """Waits until the editor has been closed. Raises `UsageError` if it cannot be started, or says that it failed."""
    try:
        click.edit(filename=str(file))
    except (click.ClickException, ValueError) as error:  # the latter for quotes that are not closed
        why = "ended with an error"
        if isinstance(cause := error.__cause__, OSError):
            why = f"{cause.filename!r} cannot be started: {cause.strerror}"
        elif isinstance(error, ValueError):
            why = f"cannot be started: its command has {str(error).lower()}"
        raise UsageError(f"the editor {why}; the page is as it was; VISUAL or EDITOR names another one") from error


def _edited(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError as error:
        raise UsageError("the editor has removed its file; the page is as it was") from error


def _remove(file: Path) -> None:
    """Removes the file, and what the editor may have left beside it: backups, a folder of its own."""
    shutil.rmtree(file.parent)
