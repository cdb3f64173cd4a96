"""The verbs that look after a memory as a whole: checkpoint and its verbs, forget, gc."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_v2.cli.output import (
    Column,
    confirmed,
    is_asked,
    named,
    out,
    out_result,
    plain,
    plan_lines,
    report,
    style,
    table,
    tell,
    tell_plan,
    working,
    yes_option,
)
from memory_v2.cli.verb import GroupOfVerbs, Verb, given_text, json_option, option_for, with_memory, word
from memory_v2.memory import Memory
from memory_v2.memory_checkpoints import Checkpoints
from memory_v2.text.amounts import counted, counted_entries, size

if TYPE_CHECKING:
    from memory_v2.entries.checkpoints import Checkpoint
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


@click.command(cls=Verb)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=word)
@click.option("--file", type=click.Path(path_type=Path), help="Read the text from this file ('-': standard input).")
@option_for(Memory.forget, "path", "--page", "page", metavar="PAGE")
@option_for(Memory.forget, "lines", "--lines", metavar="3-5")
@click.option("--dry-run", is_flag=True, help="Only show where it stands.")
@yes_option
@json_option
@with_memory
def forget(
    memory: Memory,
    words: tuple[str, ...],
    file: Path | None,
    page: str | None,
    lines: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Take a text, a page or lines out of the memory and its past, for good.

    It goes from pages, history, traces, pending notes, index and old versions in a bucket; '(forgotten)' stands in its
    place. This cannot be undone, and needs --yes where nobody can be asked. The history says that something was
    forgotten, not what. What you pass as an argument stays in your shell's history: better use standard input.

    A text is found to the letter: other spellings, which are shown, stay. With --page the page goes, and each line that
    it has or had, unless the line also stands on another page. With --lines only these lines go, wherever they stand.

    \b
    Examples:
      silica memory forget --dry-run "KX-4711"
      silica memory forget --yes < secret.txt
      silica memory forget --page people/ada
      silica memory forget --page projects/silica --lines 3-5
    """
    if page is not None and (words or file is not None):
        raise click.UsageError("name a text or --page, not both", click.get_current_context())
    if not (dry_run or yes or is_asked(yes)):
        raise click.UsageError(
            "what is forgotten cannot be brought back: add --yes to do it, or --dry-run to see where it stands",
            click.get_current_context(),
        )
    text = None if page is not None else given_text(words, file)
    with working("searching the memory and its past"):
        plan = memory.forget(text, page, lines)
    if plan.due and not dry_run:
        if is_asked(yes):
            out("\n".join(plan_lines(plan)))
        if not confirmed("Forget this for good? It cannot be undone.", yes, "nothing was forgotten"):
            return
        with working("forgetting"):
            plan = memory.forget(text, page, lines, apply=True)
    tell_plan(plan, as_json)


@click.command(cls=Verb)
@json_option
@with_memory
def gc(memory: Memory, as_json: bool) -> None:
    """Pack the history into one file.

    Nothing is lost. A large history takes less space afterwards and is read faster.

    \b
    Example:
      silica memory gc
    """
    with working("packing the history"):
        packed = memory.pack_history()
    if as_json:
        out_result(packed)
    elif packed.objects:
        sizes = f"{packed.bytes_before:,} → {size(packed.bytes_after)}"
        out(f"history packed: {sizes}, {counted(packed.objects, 'object')}")
    else:
        out(f"nothing to pack: the history is {size(packed.bytes_after)}")
