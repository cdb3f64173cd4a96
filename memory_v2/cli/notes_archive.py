"""The verbs that move old daily logs into an archive, and back: archive, undo."""

from __future__ import annotations

import click

from memory_v2.cli.notes import with_notes
from memory_v2.cli.show import out, out_json, plain, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted


@click.command()
@click.option(
    "--older-than", type=click.IntRange(min=0), default=30, show_default=True, metavar="DAYS", help="How old, in days."
)
@click.option("--apply", is_flag=True, help="Move them. Without it, nothing is changed.")
@click.option("--force", is_flag=True, help="Also logs that something in the folder still needs.")
@json_option
@with_notes
def archive(notes: Notes, older_than: int, apply: bool, force: bool, as_json: bool) -> None:
    """Move old daily logs into archive/ beside them. 'undo' takes it back.

    A log stays if it has a decision or lesson that no lasting note has, if something in it is still pending, or if a
    link would lead nowhere. What 'extract --capture' has stored counts as kept. An archived log is found as before.
    This is the one verb that changes the folder of notes, and only with --apply.

    \b
    Examples:
      silica notes archive ~/agent/memory --older-than 30
      silica notes archive ~/agent/memory --older-than 30 --apply
    """
    with working("reading the notes"):
        plan = notes.archive(older_than, apply, force)
    if as_json:
        out_json(document(plan))
        return
    for move in plan.moves:
        out(f"{plain(move.file)} → {plain(move.to)}  {counted(move.items, 'item')} extracted")
    for stay in plan.stays:
        out(f"{plain(stay.file)} stays: {plain('; '.join(stay.reasons))}")
    for link in plan.broken:
        tell(f"this link {'leads' if plan.applied else 'would lead'} nowhere: {link}")
    if not plan.moves and not plan.stays:
        tell(f"no daily log is from before {plan.before}")
    elif not plan.applied and plan.moves:
        tell(f"nothing is moved yet; --apply moves {counted(len(plan.moves), 'file')}")
    elif plan.moves:
        tell(f"{counted(len(plan.moves), 'file')} moved; 'silica notes undo' takes it back")


@click.command()
@json_option
@with_notes
def undo(notes: Notes, as_json: bool) -> None:
    """Take back what 'archive' has moved last.

    Each file gets its old name and place again, to the byte.

    \b
    Example:
      silica notes undo ~/agent/memory
    """
    back = notes.undo()
    if as_json:
        out_json({"moved": [{"file": old, "from": new} for old, new in back]})
        return
    for old, new in back:
        out(f"{plain(new)} → {plain(old)}")
    if not back:
        tell("nothing is archived that could be taken back")
