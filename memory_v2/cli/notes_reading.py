"""The verbs that tell what a folder of notes has: index, status, search, graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_v2.cli.notes import count_option, day_option, file_option, people_option, tell_left_out, touched, with_notes
from memory_v2.cli.output import (
    confidence,
    has_colours,
    out,
    out_graph,
    out_json,
    plain,
    plain_lines,
    points,
    set_off,
    style,
    tell,
    working,
)
from memory_v2.cli.verb import format_option
from memory_v2.errors import UsageError
from memory_v2.notes.graph import MOST
from memory_v2.notes.notes import Notes
from memory_v2.serialize import document
from memory_v2.text.amounts import counted

if TYPE_CHECKING:
    from memory_v2.notes.search import NoteHit, NoteHits

NEAREST = 3
"""How many places are shown if the notes do not answer."""


@click.command()
@file_option(
    "--out",
    "Where to write index.json and tags.json. Default: the cache.",
    metavar="FOLDER",
    variable="place",
)
@click.option("--only", multiple=True, metavar="NAME", help="Look at this file or folder only. May be repeated.")
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
    stats = done.stats
    if as_json:
        own = {"folder": str(notes.folder), "out": str(done.folder), "is_new": done.is_new}
        out_json({**own, "stats": stats, "found": document(done.found)})
        return
    for line in touched(done.found):
        out(line)
    sizes = [counted(stats[f"total_{what}s"], what) for what in ("file", "section", "item", "word")]
    days = f" · {' to '.join(stats['date_range'])}" if stats["date_range"] else ""
    out(f"{', '.join(sizes)}{days}")
    out(f"{'written to' if done.is_new else 'nothing new; still in'} {plain(str(done.folder))}")
    tell_left_out(done.found)


@click.command()
@with_notes
def status(notes: Notes, as_json: bool) -> None:
    """Tell how far the index is behind the folder, without bringing it up to date.

    \b
    Example:
      silica notes status ~/agent/memory
    """
    with working("looking at the notes"):
        state = notes.status()
    if as_json:
        own = {"folder": str(state.folder), "cache": str(state.cache), "is_current": state.is_current}
        out_json({**own, "is_written": state.is_written, "found": document(state.found)})
        return
    for line in touched(state.found):
        out(line)
    if state.is_current:
        out(f"the index is current: {counted(state.found.files, 'file')}")
    elif state.found.is_current:
        out("the notes are read, and index.json is not of them")
    tell_left_out(state.found)
    if not state.is_current:
        tell("'silica notes index' brings the index up to date; the other verbs read what is new by themselves")


@click.command()
@click.argument("query")
@count_option("--limit", "-n", about="How many at most.", default=5)
@click.option("--tag", default="", metavar="TAG", help="Only in notes and sections with this tag; 'index' lists them.")
@click.option("--file", "name", default="", metavar="NAME", help="Only in this file or folder.")
@day_option("--since", "From this day on. What has no day is left out.")
@day_option("--until", "Up to this day.")
@count_option("--context", about="Show so many lines before and after.", least=0, default=0)
@click.option("--regex", is_flag=True, help="The query is a regular expression; lines that match it, file by file.")
@click.option(
    "--all", "show_all", is_flag=True, help="Also what is closed or superseded, and places that hardly answer."
)
@click.option("--explain", is_flag=True, help="Show what each place was ranked by, with its points.")
@with_notes
def search(
    notes: Notes,
    query: str,
    limit: int,
    tag: str,
    name: str,
    since: date | None,
    until: date | None,
    context: int,
    regex: bool,
    show_all: bool,
    explain: bool,
    as_json: bool,
) -> None:
    """Search notes for an answer.

    The best places come first, each verbatim, with its file, lines and day, and how well it answers. New places, what
    is kept in MEMORY.md and what is marked as a decision, lesson or the like come before others that answer as well.
    Typing errors are forgiven. What is closed or superseded is left out.

    \b
    Examples:
      silica notes search "post quality feedback" ~/agent/memory
      silica notes search karma ~/agent/memory --since 2026-02-08 --json
      silica notes search "captcha|login" ~/agent/memory --regex --context 2
    """
    if not notes.folder.exists():
        raise UsageError(f"the folder of notes {notes.folder} does not exist; put a query of several words in quotes")
    with working("searching"):
        hits = notes.search(query, limit, tag, name, since, until, context, regex, show_all)
    if as_json:
        out_json({"query": query, **document(hits)})
    else:
        words = "" if regex else " ".join((query, *hits.respelled.values()))
        for number, hit in enumerate(hits if hits.answered or show_all else hits[:NEAREST]):
            out(("\n" if number else "") + "\n".join(_hit_lines(hit, words)))
            if explain:
                out("\n".join([confidence(hit.confidence), *points(hit.signs)]))
    for sentence in _notices(hits, notes, len(hits) if as_json or show_all else NEAREST):
        tell(sentence)


def _hit_lines(hit: NoteHit, query: str) -> Iterator[str]:
    head = [
        style(plain(hit.place), fg="cyan"),
        str(hit.day or ""),
        f"{hit.score:.2f}",
        style(" › ".join(map(plain, hit.headings)), dim=True),
        ", ".join(hit.marks),
        "(over)" if hit.is_over else "",
    ]
    yield "  ".join(filter(None, head))
    yield from _indented(hit.before, dim=True)
    lines = plain_lines(hit.text).splitlines()
    yield from _indented([set_off(line, query) for line in lines] if query and has_colours() else lines)
    yield from _indented(hit.after, dim=True)


def _indented(lines: Sequence[str], dim: bool = False) -> Iterator[str]:
    yield from (f"    {style(plain(line), dim=True) if dim else line}".rstrip() for line in lines)


def _notices(hits: NoteHits, notes: Notes, most: int) -> Iterator[str]:
    for typed, word in hits.respelled.items():
        yield f"no note has {typed!r}; {word!r} was searched for"
    if hits.hidden:
        yield f"{counted(hits.hidden, 'place')} left out, closed or superseded; --all shows them"
    if not hits.files:
        yield f"there are no notes in {notes.folder}"
    elif not hits:
        yield "nothing found"
    elif not hits.answered:
        more = " (--all shows more)" if len(hits) > most else ""
        yield f"the notes do not answer this; these are the nearest places{more}"


@click.command()
@format_option
@count_option("--most", about="So many nodes at most: those with most edges.", default=MOST)
@people_option
@with_notes
def graph(notes: Notes, form: str | None, most: int, people: Path | None, as_json: bool) -> None:
    """Print files, people and projects with their links and mentions, as JSON, Mermaid or GraphViz.

    \b
    Examples:
      silica notes graph ~/agent/memory
      silica notes graph ~/agent/memory --format dot | dot -Tsvg > notes.svg
    """
    with working("reading the notes"):
        drawn = notes.graph(most, people)
    out_graph(drawn, form, as_json)
    if drawn.nodes_left_out:
        left_out = f"{counted(drawn.nodes_left_out, 'node')} and {counted(drawn.edges_left_out, 'edge')}"
        tell(f"{left_out} are left out; --most says how many nodes are shown")
