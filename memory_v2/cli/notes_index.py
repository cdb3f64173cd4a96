"""The verbs that read a folder of notes and tell whether that is up to date: index, status."""

from __future__ import annotations

from pathlib import Path

import click

from memory_v2.cli.notes import tell_left_out, touched, with_notes
from memory_v2.cli.show import out, out_json, plain, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted


@click.command()
@click.option(
    "--out",
    "place",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where to write index.json and tags.json. Default: the cache.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Look at this file or folder only. May be repeated.")
@json_option
@with_notes
def index(notes: Notes, place: Path | None, only: tuple[str, ...], as_json: bool) -> None:
    """Write an index of a folder of notes: index.json and tags.json.

    Only files that were touched since the last time are opened. The same notes give the same bytes. Nothing is written
    into the folder of notes, unless --out names it.

    \b
    Examples:
      silica notes index ~/agent/memory
      silica notes index ~/agent/memory --out ./report
    """
    with working("reading the notes"):
        done = notes.index(place, only)
    if as_json:
        told = {"folder": str(notes.folder), "out": str(done.folder), "is_new": done.is_new}
        out_json({**told, "stats": done.stats, "found": document(done.found)})
        return
    stats = done.stats
    for line in touched(done.found):
        out(line)
    sizes = [counted(stats[f"total_{what}s"], what) for what in ("file", "section", "item", "word")]
    days = f" · {' to '.join(stats['date_range'])}" if stats["date_range"] else ""
    out(f"{', '.join(sizes)}{days}")
    out(f"{'written to' if done.is_new else 'nothing new; still in'} {plain(str(done.folder))}")
    tell_left_out(done.found)


@click.command()
@json_option
@with_notes
def status(notes: Notes, as_json: bool) -> None:
    """Tell how far the index is behind the folder, without bringing it up to date.

    \b
    Example:
      silica notes status ~/agent/memory
    """
    with working("looking at the notes"):
        found = notes.status()
    if as_json:
        told = {"folder": str(found.folder), "cache": str(found.cache), "is_current": found.is_current}
        out_json({**told, "is_written": found.is_written, "found": document(found.found)})
        return
    for line in touched(found.found):
        out(line)
    if found.is_current:
        out(f"the index is current: {counted(found.found.files, 'file')}")
    elif found.found.is_current:
        out("the notes are read, and index.json is not of them")
    tell_left_out(found.found)
    if not found.is_current:
        tell("'silica notes index' brings the index up to date; the other verbs read what is new by themselves")
