"""The verbs of `silica notes`: they read a folder of notes, and only `archive` and its `undo` change it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import click

from memory_v2.cli.output import (
    Document,
    Hint,
    Notice,
    Output,
    named,
    plain,
    plain_lines,
    set_off,
    style,
    tell,
    working,
)
from memory_v2.cli.show import confidence, graph_output, label, plan_lines, points
from memory_v2.cli.verb import Declared, GraphForm, Option, verb
from memory_v2.errors import UsageError
from memory_v2.notes.folder import Refreshed
from memory_v2.notes.graph import MOST
from memory_v2.notes.notes import Notes
from memory_v2.text.amounts import counted

if TYPE_CHECKING:
    from memory_v2.notes.search import NoteHit, NoteHits

MOST_TOLD = 5
"""How many of the files that are left out are told by name; --json has all."""
NEAREST = 3
"""How many places are shown if the notes do not answer."""


People: TypeAlias = Annotated[
    Path | None, Option("Who is who: on each line 'Name = another name, @handle'.", metavar="FILE")
]


class NotesVerb(Declared):
    """A verb of `silica notes`: its function works with the folder of notes."""

    epilog = ""

    def parameters(self) -> Iterator[click.Parameter]:
        """Those of every verb, the folder, and where what is read is kept."""
        *own, as_json = super().parameters()
        yield from own
        yield click.Argument(["folder"], default=".", type=click.Path(path_type=Path), metavar="[FOLDER]")
        about = "Where what is read is kept. Default: a folder for these notes in your cache folder."
        yield click.Option(["--cache"], type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER", help=about)
        yield as_json

    @contextmanager
    def opened(self, given: dict[str, Any]) -> Iterator[Notes]:
        """The folder of notes."""
        with Notes.open(given.pop("folder"), given.pop("cache")) as notes:
            if notes.trouble:
                tell(notes.trouble)
            yield notes


notes_verb = partial(verb, kind=NotesVerb)


def left_out(found: Refreshed) -> Iterator[Hint]:
    """Which files are not read, and why."""
    for left in found.left_out[:MOST_TOLD]:
        yield Hint(f"{left.name} is left out: {left.reason}")
    if len(found.left_out) > MOST_TOLD:
        yield Hint(f"{counted(len(found.left_out) - MOST_TOLD, 'other file')} left out too; --json has all")


def touched(found: Refreshed) -> Iterator[str]:
    """What has changed in the folder, in lines."""
    for what, names in {
        "new": found.new,
        "changed": found.changed,
        "removed": found.removed,
        "behind": found.behind,
    }.items():
        if names:
            yield f"{len(names):,} {what}: {plain(named(names))}"


@notes_verb(Notes.index, doing="reading the notes")
def index(
    notes: Notes,
    *,
    out: Annotated[
        Path | None, Option("Where to write index.json and tags.json. Default: the cache.", metavar="FOLDER")
    ],
    only: Annotated[tuple[str, ...], Option("Look at this file or folder only. May be repeated.", metavar="NAME")],
) -> Iterator[Output]:
    """Write an index of a folder of notes: index.json and tags.json.

    Only files that were touched since the last time are opened. The same notes give the same bytes. Nothing is written
    into the folder of notes, unless --out names it.

    \b
    Examples:
      silica notes index ~/agent/memory
      silica notes index ~/agent/memory --out ./report
    """
    done = notes.index(out, only)
    stats, found = done.stats, done.found
    yield Document(folder=str(notes.folder), out=str(done.folder), is_new=done.is_new, stats=stats, found=found)
    yield from touched(found)
    sizes = [counted(stats[f"total_{what}s"], what) for what in ("file", "section", "item", "word")]
    days = f" · {' to '.join(stats['date_range'])}" if stats["date_range"] else ""
    yield f"{', '.join(sizes)}{days}"
    yield f"{'written to' if done.is_new else 'nothing new; still in'} {plain(str(done.folder))}"
    yield from left_out(found)


@notes_verb(Notes.status, doing="looking at the notes")
def status(notes: Notes) -> Iterator[Output]:
    """Tell how far the index is behind the folder, without bringing it up to date.

    \b
    Example:
      silica notes status ~/agent/memory
    """
    state = notes.status()
    found = state.found
    own = {"folder": str(state.folder), "cache": str(state.cache), "is_current": state.is_current}
    yield Document(own, is_written=state.is_written, found=found)
    yield from touched(found)
    if state.is_current:
        yield f"the index is current: {counted(found.files, 'file')}"
    elif found.is_current:
        yield "the notes are read, and index.json is not of them"
    yield from left_out(found)
    if not state.is_current:
        yield Hint("'silica notes index' brings the index up to date; the other verbs read what is new by themselves")


@notes_verb(Notes.search, "query")
def search(
    notes: Notes,
    *,
    query: str,
    limit: Annotated[int, Option("How many at most.", "-n --limit", least=1)] = 5,
    tags: Annotated[tuple[str, ...], "Only in sections with all these tags, which 'index' lists: a,b, or repeated."],
    file: Annotated[str, Option("Only in this file or folder.", metavar="NAME")] = "",
    since: Annotated[date | None, "From this day on. What has no day is left out."],
    until: Annotated[date | None, "Up to this day."],
    context: Annotated[int, Option("Show so many lines before and after.", least=0)] = 0,
    regex: Annotated[bool, "The query is a regular expression; lines that match it, file by file."],
    show_all: Annotated[bool, Option("Also what is closed or superseded, and places that hardly answer.", "--all")],
    explain: Annotated[bool, "Show what each place was ranked by, with its points."],
    as_json: bool,
) -> Iterator[Output]:
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
        hits = notes.search(query, limit, tags, file, since, until, context, regex, show_all)
    yield Document({"query": query, **hits.to_dict()})
    words = "" if regex else " ".join((query, *hits.respelled.values()))
    shown = hits if hits.answered or show_all else hits[:NEAREST]
    for number, hit in enumerate(shown):
        yield ("\n" if number else "") + "\n".join(_hit_lines(hit, words))
        if explain:
            yield "\n".join([confidence(hit.confidence), *points(hit.signs)])
    yield from _notices(hits, notes, len(hits) if as_json else len(shown))


def _hit_lines(hit: NoteHit, query: str) -> Iterator[str]:
    head = [
        label(hit.place),
        str(hit.day or ""),
        f"{hit.score:.2f}",
        style(" › ".join(map(plain, hit.headings)), dim=True),
        ", ".join(hit.marks),
        "(over)" if hit.is_over else "",
    ]
    yield "  ".join(filter(None, head))
    yield from _indented(hit.before, dim=True)
    yield from _indented([set_off(line, query) for line in plain_lines(hit.text).splitlines()])
    yield from _indented(hit.after, dim=True)


def _indented(lines: Sequence[str], dim: bool = False) -> Iterator[str]:
    yield from (f"    {style(plain(line), dim=True) if dim else line}".rstrip() for line in lines)


def _notices(hits: NoteHits, notes: Notes, most: int) -> Iterator[Notice]:
    for typed, word in hits.respelled.items():
        yield Notice(f"no note has {typed!r}; {word!r} was searched for")
    if hits.hidden:
        yield Notice(f"{counted(hits.hidden, 'place')} left out, closed or superseded; --all shows them")
    if not hits.files:
        yield Notice(f"there are no notes in {notes.folder}")
    elif not hits:
        yield Notice("nothing found")
    elif not hits.answered:
        more = " (--all shows more)" if len(hits) > most else ""
        yield Notice(f"the notes do not seem to answer this; these are the nearest places{more}")


@notes_verb(Notes.graph)
def graph(
    notes: Notes,
    *,
    form: GraphForm,
    most: Annotated[int, Option("So many nodes at most: those with most edges.", least=1)] = MOST,
    people: People,
    as_json: bool,
) -> Iterator[Output]:
    """Print files, people and projects with their links and mentions, as JSON, Mermaid or GraphViz.

    \b
    Examples:
      silica notes graph ~/agent/memory
      silica notes graph ~/agent/memory --format dot | dot -Tsvg > notes.svg
    """
    with working("reading the notes"):
        drawn = notes.graph(most, people)
    yield from graph_output(drawn, form, as_json)
    if drawn.nodes_left_out:
        missing = f"{counted(drawn.nodes_left_out, 'node')} and {counted(drawn.edges_left_out, 'edge')}"
        yield Notice(f"{missing} are left out; --most says how many nodes are shown")


@notes_verb(Notes.archive, doing="reading the notes")
def archive(
    notes: Notes,
    *,
    older_than: Annotated[int, Option("How old, in days.", metavar="DAYS", least=0)] = 30,
    apply: Annotated[bool, "Move them. Without it, nothing is changed."],
    force: Annotated[bool, "Also logs that something in the folder still needs."],
) -> Iterator[Output]:
    """Move old daily logs into archive/ beside them. 'undo' takes it back.

    A log stays if it has a decision or lesson that no lasting note has, if something in it is still pending, or if a
    link would lead nowhere. What 'extract --capture' has stored counts as kept. An archived log is found as before.
    This is the one verb that changes the folder of notes, and only with --apply.

    \b
    Examples:
      silica notes archive ~/agent/memory --older-than 30
      silica notes archive ~/agent/memory --older-than 30 --apply
    """
    plan = notes.archive(older_than, apply, force)
    yield Document(plan)
    yield from plan_lines(plan)
    for finding in plan.warnings:
        yield Hint(f"{finding.path}:{finding.line}: {finding.message}")
    if not plan.steps:
        yield Hint(plan.title)
    elif plan.due:
        yield Hint(f"{plan.title}; nothing is moved yet: --apply moves {counted(len(plan.due), 'file')}")
    elif plan.planned:
        yield Hint(f"{counted(len(plan.planned), 'file')} moved; 'silica notes undo' takes it back")


@notes_verb(Notes.undo)
def undo(notes: Notes) -> Iterator[Output]:
    """Take back what 'archive' has moved last.

    Each file gets its old name and place again, to the byte.

    \b
    Example:
      silica notes undo ~/agent/memory
    """
    back = notes.undo()
    yield Document(moved=[{"file": old, "from": new} for old, new in back])
    yield from (f"{plain(new)} → {plain(old)}" for old, new in back)
    if not back:
        yield Hint("nothing is archived that could be taken back")
