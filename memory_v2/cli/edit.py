"""The verb that opens a page in an editor."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import click

from memory_v2.cli.report import report
from memory_v2.cli.show import plain, style, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import Verb, json_option, with_memory
from memory_v2.errors import SilicaError, UsageError
from memory_v2.memory import Memory
from memory_v2.text.amounts import size
from memory_v2.tree.block import decode
from memory_v2.tree.path import ROOT, page_path


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
        _open(file)
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


def _open(file: Path) -> None:
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
