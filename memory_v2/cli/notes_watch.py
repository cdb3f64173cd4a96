"""The verb that tells what changes in a folder of notes, while it runs."""

from __future__ import annotations

import click

from memory_v2.cli.notes import tell_left_out, touched, with_notes
from memory_v2.cli.notes_extract import extracted_lines
from memory_v2.cli.show import out, out_json, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.notes import Notes
from memory_v2.notes.watch import News, Watch, changes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted


@click.command()
@click.option(
    "--interval",
    type=click.FloatRange(min=0.1),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often to look at the folder if the extra 'watch' is not installed.",
)
@json_option
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
        found = watching.first.found
        tell(f"watching {counted(found.files, 'file')} in {notes.folder}; Ctrl-C ends it")
        tell_left_out(found)
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
