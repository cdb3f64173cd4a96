"""The verbs about what changes in a folder of notes: archive and undo, which change it, and watch."""

from __future__ import annotations

import click

from memory_v2.cli.notes import count_option, tell_left_out, touched, with_notes
from memory_v2.cli.notes_working import extracted_lines
from memory_v2.cli.output import out, out_json, plain, plan_lines, tell, working
from memory_v2.notes.notes import Notes
from memory_v2.notes.watch import News, Watch, changes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted


@click.command()
@count_option("--older-than", about="How old, in days.", least=0, default=30, metavar="DAYS")
@click.option("--apply", is_flag=True, help="Move them. Without it, nothing is changed.")
@click.option("--force", is_flag=True, help="Also logs that something in the folder still needs.")
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
    for line in plan_lines(plan):
        out(line)
    for finding in plan.warnings:
        tell(f"{finding.path}:{finding.line}: {finding.message}")
    if not plan.steps:
        tell(plan.title)
    elif plan.due:
        tell(f"{plan.title}; nothing is moved yet: --apply moves {counted(len(plan.due), 'file')}")
    elif plan.planned:
        tell(f"{counted(len(plan.planned), 'file')} moved; 'silica notes undo' takes it back")


@click.command()
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


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to look at the folder if the extra 'watch' is not installed.",
)
@with_notes
def watch(notes: Notes, interval: float, as_json: bool) -> None:
    """Tell what changes in a folder of notes, and what is new in it. Ctrl-C ends it.

    After the names of the files come the contacts, decisions, lessons, numbers, issues and pending matters that no note
    told before. With --json, each change is one JSON document on a line of its own. The extra 'watch' lets the system
    tell of changes at once.

    \b
    Example:
      silica notes watch ~/agent/memory
    """
    try:
        with working("reading the notes"):
            watching = Watch(notes)
        first = watching.first.found
        tell(f"watching {counted(first.files, 'file')} in {notes.folder}; Ctrl-C ends it")
        tell_left_out(first)
        _show(watching.first, as_json)
        for _ in changes(notes.folder, interval, tell):
            _show(watching.look(), as_json)
    except KeyboardInterrupt:
        tell("stopped")


def _show(news: News, as_json: bool) -> None:
    if news.found.is_current:
        return
    if as_json:
        out_json(document(news))
    else:
        out("\n".join((*touched(news.found), *(f"  {line}" for line in extracted_lines(news.told)))))
