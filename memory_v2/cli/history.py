"""The verbs about the past: history, show, diff, blame, undo, restore; checkpoint and its verbs; forget, gc."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memory_v2.cli.output import (
    Column,
    Document,
    Hint,
    Notice,
    Output,
    confirmed,
    diff_lines,
    is_asked,
    moment,
    named,
    older,
    on_terminal,
    out,
    plain,
    plain_lines,
    style,
    table,
    working,
)
from memory_v2.cli.show import changed, label, plan_lines, renders, show
from memory_v2.cli.verb import Most, TextFile, Words, Yes, given_text, misuse, verb
from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.memory_checkpoints import Checkpoints
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries, size
from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.entries.checkpoints import Checkpoint, CheckpointContents, ExportedCheckpoint
    from memory_v2.operations.history import BlamedLine, PackResult, PastOperation
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
CHECKPOINTS = (Column("checkpoint"), Column("when"), Column("revision", drop=1))
SHORT = 12
"""Characters of an id that are shown: with fewer, long histories would have two of the same name."""


@verb(Memory.history, "path")
def history(memory: Memory, path: str | None, most: Most = 20) -> Iterator[Output]:
    """List past operations, newest first.

    Each write, split, merge … with its id, who decided it, and the pages it changed; 'outside' is an edit by hand. With
    PAGE, only operations that changed that page. show, diff, undo and restore take an id, or the beginning of one.

    \b
    Examples:
      silica memory history
      silica memory history projects/silica -n 5
      silica memory history | cut -f1,4
    """
    operations = memory.history(path)
    yield Document(operations=operations[:most])
    yield from table(OPERATIONS, map(_row, operations[:most]))
    yield from older(len(operations), most)
    if not operations:
        yield Notice(f"{memory.storage.where} has no history yet; every write, split, merge … will be listed here")


@verb(Memory.show, "revision")
def show_verb(memory: Memory, revision: str) -> Iterator[Output]:
    """Show a past operation: what, why, who decided, and the diff.

    REVISION is an id that 'silica memory history' lists, the beginning of one, or 'last'. A write is shown with the
    splits that followed it.

    \b
    Examples:
      silica memory show 3fa09c
      silica memory show last
    """
    operation, changes = memory.show(revision)
    yield Document(operation, revisions=operation.revisions[::-1], changes=changes.diff)
    undone = f", undone by {operation.undone_by[:SHORT]}" if operation.undone_by else ""
    yield f"{label(operation.id)}  {operation.when:%Y-%m-%d %H:%M:%S} UTC{style(undone, fg='yellow')}"
    for each in reversed(operation.revisions):
        yield from _revision_lines(each)
    if changes:
        yield ""
    yield from diff_lines(changes.diff)


@verb(Memory.diff, "old", "new")
def diff(memory: Memory, old: str, new: str | None) -> Iterator[Output]:
    """Show what changed between two past operations.

    Compares the pages as they were after the operation OLD with the pages after NEW, or without NEW with the pages as
    they are now. 'silica memory show' shows what one operation changed.

    \b
    Examples:
      silica memory diff 3fa09c
      silica memory diff 3fa09c 77b1e2
    """
    changes = memory.diff(old, new)
    yield Document({"old": old, "new": new} | document(changes))
    yield from diff_lines(changes.diff)
    if not changes:
        yield Hint("no difference")


@verb(Memory.blame, "path")
def blame(memory: Memory, path: str) -> Iterator[Output]:
    """Show which operation brought each line of a page.

    Each line with the id of the commit that brought it, its date, what was done and who decided it. Without PAGE, the
    root.

    \b
    Examples:
      silica memory blame projects/silica
      silica memory blame projects/silica | cut -f1,6
    """
    lines = memory.blame(path)
    yield Document(path=page_path(path or ROOT), lines=lines)
    yield from table(LINES, map(_blamed, lines))


def _row(operation: PastOperation) -> list[str]:
    decided = dict.fromkeys(each.decided_by for each in reversed(operation.revisions) if each.decided_by)
    return [
        operation.id,
        moment(operation.when),
        operation.first.kind,
        operation.first.summary,
        ", ".join(decided),
        str(len(operation.paths)) if on_terminal(sys.stdout) else ", ".join(operation.paths),
        "undone" if operation.undone_by else "",
    ]


def _revision_lines(revision: Revision) -> Iterator[str]:
    """A commit: what, by whom, why, and what did not go as intended."""
    who = f", asked for by {plain(revision.agent)}" if revision.agent else ""
    who += f", decided by {plain(revision.decided_by)}" if revision.decided_by else ""
    yield ""
    yield f"{style(plain(revision.kind), bold=True)}: {plain(revision.summary)}"
    yield style(f"  {revision.id[:SHORT]}{who}", dim=True)
    if revision.undoes:
        yield f"  undoes {plain(revision.undoes[:SHORT])}"
    if revision.degraded:
        yield f"  {style('degraded', fg='yellow')}: {plain(revision.degraded)}"
    for why in revision.why:
        yield f"  {plain(why)}"
    if revision.text and revision.kind != "import":
        yield style("  the text as it was given:", dim=True)
        yield from (f"  > {plain(line)}" for line in plain_lines(revision.text).splitlines())


def _blamed(line: BlamedLine) -> list[str]:
    cells = ["", "", "", ""]
    if by := line.revision:
        day = f"{by.when:%Y-%m-%d}" if on_terminal(sys.stdout) else moment(by.when)
        cells = [by.id[:SHORT], day, by.kind, by.decided_by]
    return [*cells, str(line.number), line.text.rstrip("\r\n")]


@verb(Memory.undo, "revision")
def undo(memory: Memory, revision: str | None, yes: Yes = False) -> Iterator[Output]:
    """Undo an operation.

    The pages that it changed become what they were before it, byte for byte. Without REVISION, or with 'last', the
    newest operation that is not undone. An operation cannot be undone if one of its pages has been changed since. It
    stays in the history, and an undo can be undone.

    \b
    Examples:
      silica memory undo
      silica memory undo 3fa09c --yes
    """
    newest = (one for one in memory.history() if one.is_next)  # what `Memory.undo` undoes if no operation is named
    operation = memory.show(revision)[0] if revision not in (None, "last") else next(newest, None)
    if operation is None:
        raise NotAllowed("there is nothing to undo")
    # What the question named is undone, even if somebody writes meanwhile.
    if not operation.undone_by:
        extent = counted(len(operation.paths), "page")
        if not confirmed(f"Undo {_named(operation)}, with {extent}?", yes, "nothing was undone"):
            return
    with working("undoing"):
        result = memory.undo(operation.id)
    yield from changed(result, f"undone: {_named(operation)}", *_pages(result, "as before"), operation=operation)
    following = next((one for one in memory.history() if one.is_next), None)
    if revision in (None, "last") and following:
        yield Hint(f"another undo would undo {_named(following)}")
    if result.revisions:  # a split that followed is of the same operation
        yield Hint(f"'silica memory undo {result.revisions[0].revision.id[:SHORT]}' takes this back")


@verb(Memory.restore, "revision", "path")
def restore(memory: Memory, revision: str, path: str | None, yes: Yes = False) -> Iterator[Output]:
    """Restore a page, or all pages, to an earlier state.

    The pages become what they were after the operation REVISION. Without PAGE, all do, and pages created since are
    removed. The present state stays in the history, and 'silica memory undo' brings it back.

    \b
    Examples:
      silica memory restore 3fa09c projects/silica
      silica memory restore 3fa09c --yes
    """
    what = page_path(path) if path is not None else "all pages"
    operation = memory.show(revision)[0]
    then = f"after {_named(operation)}"
    if not confirmed(f"Restore {plain(what)} to the state {then}?", yes, "nothing was restored"):
        return
    with working("restoring"):
        result = memory.restore(operation.id, path)
    done = "restored to" if result.changed_pages else "already in"
    sentence = f"{label(what)} {done} the state {then}"
    yield from changed(result, sentence, *_pages(result, "restored"), operation=operation)


def _named(operation: PastOperation) -> str:
    return f"{operation.id} ({plain(operation.first.kind)}: {plain(operation.first.summary)})"


def _pages(result: Result, done: str) -> list[str]:
    """Which pages are `done`, and which are removed."""
    after = {change.path: change.after for revision in result.revisions for change in revision.pages}
    stored = sorted(path for path, text in after.items() if text is not None)
    removed = sorted(path for path, text in after.items() if text is None)
    return [f"  {word}: {named(paths)}" for word, paths in ((done, stored), ("removed", removed)) if paths]


OTHERWISE = "nothing was changed"


@verb(Checkpoints.create_checkpoint, "name")
def checkpoint_create() -> None:
    """Give the present state of all pages and entries a name.

    Edits by hand and captured entries are in it. A name has letters, digits, '.', '_' and '-'.

    \b
    Examples:
      silica memory checkpoint create 2026-02
    """


@renders("Checkpoint")
def _created(made: Checkpoint) -> Iterator[Output]:
    yield f"checkpoint {label(made.name)} made, as {made.revision}"


@verb(Checkpoints.list_checkpoints)
def checkpoint_list(memory: Memory) -> Iterator[Output]:
    """List the checkpoints, oldest first.

    \b
    Examples:
      silica memory checkpoint list
    """
    found = memory.checkpoints.list_checkpoints()
    yield Document(checkpoints=found)
    yield from table(CHECKPOINTS, [[one.name, _when(one), one.revision] for one in found])
    if not found:
        yield Hint("there is no checkpoint; make one with: silica memory checkpoint create NAME")


@verb(Checkpoints.show_checkpoint, "name")
def checkpoint_show() -> None:
    """Show what a checkpoint holds, and what differs from it now.

    \b
    Examples:
      silica memory checkpoint show 2026-02
    """


@renders("CheckpointContents")
def _contents(shown: CheckpointContents) -> Iterator[Output]:
    yield f"checkpoint {label(shown.checkpoint.name)} of {_when(shown.checkpoint)}, as {shown.checkpoint.revision}"
    yield _held(shown)
    yield f"changed since: {named(shown.changed)}" if shown.changed else "nothing has changed since"


@verb(Checkpoints.export_checkpoint, "name", "file", doing="exporting")
def checkpoint_export() -> None:
    """Write a checkpoint to a file.

    The file has a line of JSON for each page and entry. Its first line has the version and the checksum, by which
    'load' tells whether the file is whole.

    \b
    Examples:
      silica memory checkpoint export 2026-02 ~/backup/memory-2026-02.jsonl
    """


@renders("ExportedCheckpoint")
def _exported(done: ExportedCheckpoint) -> Iterator[Output]:
    yield f"{label(done.file)} · {_held(done)}"


def _held(held: CheckpointContents | ExportedCheckpoint) -> str:
    return f"{counted(held.pages, 'page')} and {counted_entries(held.entries)}, {size(held.size_bytes)}"


@verb(Checkpoints.load_checkpoint, "file")
def checkpoint_load(memory: Memory, file: Path, yes: Yes = False) -> Iterator[Output]:
    """Make all pages and entries those of a checkpoint's file.

    A file that is damaged, or of a newer version, is refused. What was there before stays in the history, and 'silica
    memory undo' brings it back.

    \b
    Examples:
      silica memory checkpoint load ~/backup/memory-2026-02.jsonl --yes
    """
    if confirmed(f"Make all pages and entries those of {plain(str(file))}?", yes, OTHERWISE):
        with working("loading"):
            result = memory.checkpoints.load_checkpoint(file)
        yield from _as_in(result, str(file))


@verb(Checkpoints.restore_checkpoint, "name")
def checkpoint_restore(memory: Memory, name: str, yes: Yes = False) -> Iterator[Output]:
    """Make all pages and entries those of a checkpoint.

    What was there before stays in the history, and 'silica memory undo' brings it back.

    \b
    Examples:
      silica memory checkpoint restore 2026-02
    """
    if confirmed(f"Make all pages and entries those of the checkpoint {plain(name)}?", yes, OTHERWISE):
        with working("restoring"):
            result = memory.checkpoints.restore_checkpoint(name)
        yield from _as_in(result, name)


def _as_in(result: Result, what: str) -> Iterator[Output]:
    if result.changed_pages:
        done = f"all is as in {label(what)} now, recorded as {result.revision}"
        yield from changed(result, done, f"  changed: {named(result.changed_pages)}")
    else:
        yield from changed(result, f"all is as in {label(what)} already")


def _when(one: Checkpoint) -> str:
    return f"{one.when:%Y-%m-%d %H:%M} UTC"


@verb(Memory.forget, path="--page")
def forget(
    memory: Memory,
    text: Words,
    file: TextFile,
    path: str | None,
    lines: str | None,
    dry_run: Annotated[bool, "Only show where it stands."],
    yes: Yes,
) -> Iterator[Output]:
    """Take a text, a page or lines out of the memory and its past, for good.

    It goes from pages, history, traces, pending notes, index and old versions in a bucket; '(forgotten)' is in its
    place. This cannot be undone, and needs --yes where nobody can be asked. The history says that something was
    forgotten, not what. What you pass as an argument stays in your shell's history: better use standard input.

    A text is found to the letter: other spellings, which are shown, stay. With --page the page goes, and each line that
    it has or had, unless the line is also on another page. With --lines only these lines go, wherever they stand.

    \b
    Examples:
      silica memory forget --dry-run "KX-4711"
      silica memory forget --yes < secret.txt
      silica memory forget --page people/ada
      silica memory forget --page projects/silica --lines 3-5
    """
    if path is not None and (text or file is not None):
        raise misuse("name a text or --page, not both")
    if not (dry_run or yes or is_asked(yes)):
        raise misuse(
            "what is forgotten cannot be brought back: add --yes to do it, or --dry-run to see where it stands"
        )
    given = None if path is not None else given_text(text, file)
    with working("searching the memory and its past"):
        plan = memory.forget(given, path, lines)
    if plan.due and not dry_run:
        if is_asked(yes):
            out("\n".join(plan_lines(plan)))
        if not confirmed("Forget this for good? It cannot be undone.", yes, "nothing was forgotten"):
            return
        with working("forgetting"):
            plan = memory.forget(given, path, lines, apply=True)
    yield from show(plan)


@verb(Memory.pack_history, doing="packing the history")
def gc() -> None:
    """Pack the history into one file.

    Nothing is lost. A large history takes less space afterwards and is read faster.

    \b
    Example:
      silica memory gc
    """


@renders("PackResult")
def _packed(packed: PackResult) -> Iterator[Output]:
    if packed.objects:
        sizes = f"{packed.bytes_before:,} → {size(packed.bytes_after)}"
        yield f"history packed: {sizes}, {counted(packed.objects, 'object')}"
    else:
        yield f"nothing to pack: the history is {size(packed.bytes_after)}"
