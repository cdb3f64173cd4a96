"""The verb that searches notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

import click

from memory_v2.cli.hits import confidence, points, set_off
from memory_v2.cli.notes import day_option, with_notes
from memory_v2.cli.show import has_colours, out, out_json, plain, plain_lines, style, tell
from memory_v2.cli.spinner import working
from memory_v2.cli.verb import json_option
from memory_v2.errors import UsageError
from memory_v2.notes.notes import Notes
from memory_v2.notes.search import NoteHit, NoteHits
from memory_v2.serialize import document
from memory_v2.text.amounts import counted

NEAREST = 3
"""How many places are shown if the notes do not answer."""


@click.command()
@click.argument("query")
@click.option(
    "--limit", "-n", type=click.IntRange(min=1), default=5, show_default=True, metavar="COUNT", help="How many at most."
)
@click.option("--tag", default="", metavar="TAG", help="Only in notes and sections with this tag; 'index' lists them.")
@click.option("--file", "name", default="", metavar="NAME", help="Only in this file or folder.")
@day_option("--since", "From this day on. What has no day is left out.")
@day_option("--until", "Up to this day.")
@click.option(
    "--context", type=click.IntRange(min=0), default=0, metavar="COUNT", help="Show so many lines before and after."
)
@click.option("--regex", is_flag=True, help="The query is a regular expression; lines that match it, file by file.")
@click.option(
    "--all", "show_all", is_flag=True, help="Also what is closed or superseded, and places that hardly answer."
)
@click.option("--explain", is_flag=True, help="Show what each place was ranked by, with its points.")
@json_option
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
        found = notes.search(query, limit, tag, name, since, until, context, regex, show_all)
    if as_json:
        out_json({"query": query, **document(found)})
    else:
        words = "" if regex else " ".join((query, *found.respelled.values()))
        shown = found if found.answered or show_all else found[:NEAREST]
        for number, hit in enumerate(shown):
            out(("\n" if number else "") + "\n".join(_lines(hit, words)))
            if explain:
                out("\n".join([confidence(hit.confidence), *points(hit.signs)]))
    for sentence in _notices(found, notes, len(found) if as_json or show_all else NEAREST):
        tell(sentence)


def _lines(hit: NoteHit, query: str) -> Iterator[str]:
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


def _notices(found: NoteHits, notes: Notes, most: int) -> Iterator[str]:
    for typed, word in found.respelled.items():
        yield f"no note has {typed!r}; {word!r} was searched for"
    if found.hidden:
        yield f"{counted(found.hidden, 'place')} left out, closed or superseded; --all shows them"
    if not found.files:
        yield f"there are no notes in {notes.folder}"
    elif not found:
        yield "nothing found"
    elif not found.answered:
        more = " (--all shows more)" if len(found) > most else ""
        yield f"the notes do not answer this; these are the nearest places{more}"
