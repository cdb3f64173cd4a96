"""The verbs of `silica memory checkpoint`: create, list, show, export, load, restore."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_v2.cli.output import (
    Column,
    confirmed,
    named,
    out,
    out_result,
    plain,
    report,
    style,
    table,
    tell,
    working,
    yes_option,
)
from memory_v2.cli.verb import GroupOfVerbs, json_option, option_for, with_memory
from memory_v2.memory_checkpoints import Checkpoints
from memory_v2.text.amounts import counted, counted_entries, size

if TYPE_CHECKING:
    from memory_v2.checkpoints.checkpoint import Checkpoint
    from memory_v2.memory import Memory
    from memory_v2.operations.results import Result

COLUMNS = (Column("checkpoint"), Column("when"), Column("revision", drop=1))
OTHERWISE = "nothing was changed"


@click.group(cls=GroupOfVerbs, subcommand_metavar="VERB ...", invoke_without_command=True)
@click.pass_context
def checkpoint(context: click.Context) -> None:
    """Name a point of the history, export it, and go back to it.

    A checkpoint holds all pages and entries as they are when it is made. Exported, it is a file with a version and a
    checksum, which can be loaded into any memory. With --json, each verb prints one JSON document.

    \b
    Examples:
      silica memory checkpoint create before-the-move
      silica memory checkpoint export before-the-move backup.jsonl
      silica memory --path ./other checkpoint load backup.jsonl
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@checkpoint.command("create")
@click.argument("name")
@json_option
@with_memory
def create(memory: Memory, name: str, as_json: bool) -> None:
    """Give the present state of all pages and entries a name.

    Edits by hand and captured entries are in it. A name has letters, digits, '.', '_' and '-'.

    \b
    Examples:
      silica memory checkpoint create 2026-02
    """
    made = memory.checkpoints.create_checkpoint(name)
    if as_json:
        out_result(made)
    else:
        out(f"checkpoint {style(plain(made.name), fg='cyan')} made, as {made.revision}")


@checkpoint.command("list")
@json_option
@with_memory
def list_verb(memory: Memory, as_json: bool) -> None:
    """List the checkpoints, oldest first.

    \b
    Examples:
      silica memory checkpoint list
    """
    found = memory.checkpoints.list_checkpoints()
    if as_json:
        out_result({"checkpoints": found})
        return
    for line in table(COLUMNS, [[plain(one.name), _when(one), one.revision] for one in found]):
        out(line)
    if not found:
        tell("there is no checkpoint; make one with: silica memory checkpoint create NAME")


@checkpoint.command("show")
@click.argument("name")
@json_option
@with_memory
def show(memory: Memory, name: str, as_json: bool) -> None:
    """Show what a checkpoint holds, and what differs from it now.

    \b
    Examples:
      silica memory checkpoint show 2026-02
    """
    shown = memory.checkpoints.show_checkpoint(name)
    if as_json:
        out_result(shown)
        return
    kept = shown.checkpoint
    out(f"checkpoint {style(plain(kept.name), fg='cyan')} of {_when(kept)}, as {kept.revision}")
    out(f"{counted(shown.pages, 'page')} and {counted_entries(shown.entries)}, {size(shown.size_bytes)}")
    out(f"changed since: {named(shown.changed)}" if shown.changed else "nothing has changed since")


@checkpoint.command("export")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@option_for(Checkpoints.export_checkpoint, "force", "--force")
@json_option
@with_memory
def export(memory: Memory, name: str, file: Path, force: bool, as_json: bool) -> None:
    """Write a checkpoint to a file.

    The file has a line of JSON for each page and entry. Its first line has the version and the checksum, by which
    'load' tells whether the file is whole.

    \b
    Examples:
      silica memory checkpoint export 2026-02 ~/backup/memory-2026-02.jsonl
    """
    with working("exporting"):
        done = memory.checkpoints.export_checkpoint(name, file, force)
    if as_json:
        out_result(done)
    else:
        held = f"{counted(done.pages, 'page')} and {counted_entries(done.entries)}, {size(done.size_bytes)}"
        out(f"{style(plain(done.file), fg='cyan')} · {held}")


@checkpoint.command("load")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@yes_option
@json_option
@with_memory
def load(memory: Memory, file: Path, yes: bool, as_json: bool) -> None:
    """Make all pages and entries those of a checkpoint's file.

    A file that is damaged, or of a newer version, is refused. What was there before stays in the history, and 'silica
    memory undo' brings it back.

    \b
    Examples:
      silica memory checkpoint load ~/backup/memory-2026-02.jsonl --yes
    """
    if not confirmed(f"Make all pages and entries those of {plain(str(file))}?", yes, OTHERWISE):
        return
    with working("loading"):
        result = memory.checkpoints.load_checkpoint(file)
    report(result, _done(result, str(file)), as_json)


@checkpoint.command("restore")
@click.argument("name")
@yes_option
@json_option
@with_memory
def restore(memory: Memory, name: str, yes: bool, as_json: bool) -> None:
    """Make all pages and entries those of a checkpoint.

    What was there before stays in the history, and 'silica memory undo' brings it back.

    \b
    Examples:
      silica memory checkpoint restore 2026-02
    """
    if not confirmed(f"Make all pages and entries those of the checkpoint {plain(name)}?", yes, OTHERWISE):
        return
    with working("restoring"):
        result = memory.checkpoints.restore_checkpoint(name)
    report(result, _done(result, name), as_json)


def _done(result: Result, what: str) -> list[str]:
    name = style(plain(what), fg="cyan")
    if not result.changed_pages:
        return [f"all is as in {name} already"]
    return [f"all is as in {name} now, recorded as {result.revision}", f"  changed: {named(result.changed_pages)}"]


def _when(one: Checkpoint) -> str:
    return f"{one.when:%Y-%m-%d %H:%M} UTC"
