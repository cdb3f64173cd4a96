"""A folder of notes: what is read of it, and what can be asked of that. The folder itself is never changed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_v2.errors import StorageError, UsageError
from memory_v2.notes.cache import Kept
from memory_v2.notes.folder import Refreshed, check_folder, look
from memory_v2.notes.note import Note
from memory_v2.settings import DEFAULT_TRACES, Limits, Settings, cache_folder, file_path
from memory_v2.text.calendar import Calendar, days_before, utc_now
from memory_v2.text.slug import slug

if TYPE_CHECKING:
    from memory_v2.index.full_text import FullTextIndex
    from memory_v2.models.base import Model
    from memory_v2.notes.archive import ArchivePlan
    from memory_v2.notes.audit.audit import Audit, Choice
    from memory_v2.notes.audit.policy import Policy
    from memory_v2.notes.digest import Digest
    from memory_v2.notes.extract import Extracted, Wanted
    from memory_v2.notes.folder import NotePages
    from memory_v2.notes.grade import Graded
    from memory_v2.notes.graph import NotesGraph
    from memory_v2.notes.search import NoteHits

_INDEXED = "indexed"
"""The key under which is noted what the written index is of."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """An index that was written: where, the totals of its notes, and what was found in the folder. `is_new`: the files
    have other bytes than before."""

    folder: Path
    stats: dict[str, Any]
    found: Refreshed
    is_new: bool


@dataclass(frozen=True, slots=True)
class Status:
    """How far the index is behind the folder. `found` tells what was touched; `is_written` whether index.json and
    tags.json in the cache are of the notes as they are."""

    folder: Path
    cache: Path | None
    found: Refreshed
    is_written: bool

    @property
    def is_current(self) -> bool:
        """Whether nothing is behind."""
        return self.found.is_current and self.is_written


class Notes:
    """A folder of notes to read: nothing in it is changed, nothing is moved. What is read is kept in a cache folder,
    so that the next look opens only what was touched."""

    def __init__(
        self,
        folder: Path,
        cache: Path | None,
        calendar: Calendar,
        limits: Limits | None = None,
        prices: Path | None = None,
    ) -> None:
        """Notes in a folder; what is read is kept in `cache`, or in memory without one. `calendar` says which day is
        today. `limits` are for a model that grades; `prices` is a file with your own prices."""
        self.folder = folder
        self.cache = cache
        self.calendar = calendar
        self._limits = limits or Limits()
        self._prices = prices
        self._kept = Kept(cache)
        self._found: Refreshed | None = None
        self._index: FullTextIndex | None = None

    @classmethod
    def open(cls, folder: str | Path = ".", cache: str | Path | None = None) -> Notes:
        """Opens a folder of notes. `cache` is the folder for what is read of it; else one for these notes in the user's
        cache folder. `SILICA_MEMORY_TIMEZONE` says where days begin."""
        settings = Settings.from_environment(os.environ)
        now = settings.now
        place = file_path(str(folder), "the folder of notes").absolute()
        kept = file_path(str(cache), "the cache folder") if cache else _cache_of(place)
        calendar = Calendar(settings.timezone, (lambda: now) if now else utc_now)
        return cls(place, kept, calendar, settings.limits, settings.prices)

    @property
    def trouble(self) -> str:
        """Why what is read cannot be kept; empty if all is well."""
        return self._kept.trouble

    def refresh(self, only: Collection[str] = ()) -> Refreshed:
        """Reads what was touched since the last time. With `only`, of the named files and folders; of all others, what
        was read stays. Raises `UsageError`, `StorageError`."""
        self._found = look(self.folder, self._kept, only)
        return self._found

    def status(self) -> Status:
        """How far what was read is behind the folder; nothing is kept."""
        from memory_v2.notes.index_files import INDEX

        found = look(self.folder, self._kept, keeps=False)
        is_there = self.cache is not None and (self.cache / INDEX).is_file()
        is_written = is_there and self._kept.told(_INDEXED) == self._digest()
        return Status(self.folder, self.cache, found, is_written)

    def all(self) -> Iterator[Note]:
        """All notes by name, as they are now."""
        if self._found is None:
            self.refresh()
        yield from self._kept.notes()

    def index(self, out: str | Path | None = None, only: Collection[str] = ()) -> Indexed:
        """Writes `index.json` and `tags.json` into the cache folder, or into `out`. Raises `UsageError`,
        `StorageError`."""
        from memory_v2.notes.index_files import INDEX, TAGS, Tally, index_chunks, tags_chunks, write_document

        place = file_path(str(out), "the folder of the index") if out else self.cache
        if place is None:
            raise UsageError("these notes have no cache folder: say where the index is to be written")
        found = self.refresh(only)
        tally = Tally()
        try:
            is_new = write_document(place / INDEX, index_chunks(self._kept.notes(), tally))
            is_new = write_document(place / TAGS, tags_chunks(tally)) or is_new
        except OSError as error:
            raise StorageError(f"the index cannot be written to {place}: {error.strerror or error}") from error
        if place == self.cache:
            self._kept.tell(_INDEXED, self._digest())
        return Indexed(place, tally.stats, found, is_new)

    def extract(self, wanted: Wanted | None = None, people: str | Path | None = None) -> list[Extracted]:
        """The contacts, decisions, lessons, metrics, issues and pending matters of the notes; `people` is an alias
        file."""
        from memory_v2.notes.extract import Wanted, collected

        wanted = wanted or Wanted()
        return collected(self._extracted(people, wanted), wanted)

    def extracted_of(self, names: Collection[str]) -> Iterator[Extracted]:
        """Everything that is extracted of the named notes as they were read, whatever its grade, closed or not."""
        from memory_v2.notes.judged import judged_notes

        return judged_notes(self._kept, names)

    def grade(self, model: str | Model, wanted: Wanted | None = None, people: str | Path | None = None) -> Graded:
        """As `extract`, but what only a keyword hints at is what a model says it is. It is asked once about each line;
        what it says is kept in the cache. If it fails, the rules' result stays, and `degraded` says why. Raises
        `UsageError`, `InvalidSetting`, `StorageError`."""
        from memory_v2.agent.load import OFFLINE, load_model
        from memory_v2.notes.extract import Wanted
        from memory_v2.notes.grade import Grader, graded
        from memory_v2.notes.people import NO_ALIASES, read_aliases
        from memory_v2.trace.files import Traces

        if model == OFFLINE:
            raise UsageError("the offline planner knows no more than the rules; name a model such as anthropic:<model>")
        asked = load_model(model, self._prices) if isinstance(model, str) else model
        wanted = wanted or Wanted(min_grade="model")
        traces = Traces(self.cache / "traces", DEFAULT_TRACES) if self.cache and not self.trouble else None
        grader = Grader(asked, self._kept, self._limits, traces, self.calendar.now)
        aliases = read_aliases(Path(people)) if people is not None else NO_ALIASES
        return graded(grader, self._extracted(people, wanted), aliases, wanted)

    def digest(self, since: date | None = None, until: date | None = None, people: str | Path | None = None) -> Digest:
        """What happened from `since` to `until`; by default yesterday and today."""
        from memory_v2.notes.digest import make_digest
        from memory_v2.notes.extract import Wanted

        last = until or self.calendar.today
        first = since or days_before(last, 1)
        if first > last:
            raise UsageError(f"the digest would begin on {first} and end before that, on {last}")
        return make_digest(list(self._extracted(people, Wanted(until=last))), self.days(), first, last)

    def audit(self, choice: Choice | None = None, policy: Policy | None = None) -> Audit:
        """What deserves a look: duplicates, numbers that drift, contradictions, broken links, secrets and more. The
        same notes and day give the same findings. Raises `UsageError`, `StorageError`."""
        from memory_v2.notes.audit.audit import Choice, audit_of
        from memory_v2.notes.audit.found import Audited
        from memory_v2.notes.audit.policy import POLICY

        if self._found is None:
            self.refresh()
        today = self.calendar.today
        audited = Audited(self.folder, self._kept, today, policy or POLICY, self._full_text)
        return audit_of(audited, choice or Choice())

    def graph(self, most: int | None = None, people: str | Path | None = None) -> NotesGraph:
        """Files, people and projects, with links and mentions: `most` nodes, those with most edges, by default 200;
        `people` is an alias file."""
        from memory_v2.notes.extract import EVERYTHING
        from memory_v2.notes.graph import MOST, notes_graph
        from memory_v2.notes.links import places_in

        notes = list(self.all())
        return notes_graph(notes, self._extracted(people, EVERYTHING), places_in(self.folder, notes), most or MOST)

    def search(
        self,
        query: str,
        limit: int = 5,
        tag: str = "",
        file: str = "",
        since: date | None = None,
        until: date | None = None,
        context: int = 0,
        regex: bool = False,
        over: bool = False,
    ) -> NoteHits:
        """The places that best answer a query, best first, with so many lines of `context` around each; only in
        sections with a `tag`, in a `file` or folder, from some days. What is closed or superseded is left out unless
        `over`. With `regex`, the lines that match a pattern, file by file. Raises `InvalidText`, `InvalidPattern`,
        `UsageError`, `StorageError`."""
        from memory_v2.notes.search import Folder, Part, found_in, matching_in

        if limit < 1 or context < 0:
            raise UsageError("a search is for one place at least, and shows no lines around it or more")
        part = Part(tag=tag, file=file, since=since, until=until, over=over)
        folder = Folder(self._kept, self._pages, self._full_text())
        return (matching_in if regex else found_in)(folder, query, limit, part, context)

    def note_captured(self, found: Iterable[Extracted]) -> None:
        """Notes that these were captured as entries of a memory, so that `archive` counts them as kept."""
        from memory_v2.notes.archive import CAPTURED

        self._kept.tell_more(CAPTURED, {one.id for one in found})

    def archive(self, older_than: int, apply: bool = False, force: bool = False) -> ArchivePlan:
        """The daily logs that are more than so many days old, and what keeps some of them where they are; with `apply`,
        the others are moved into `archive/` beside them, which `undo` takes back. If it is forced, logs are moved
        though something in them is kept nowhere else, is pending, or is linked. Raises `UsageError`,
        `StorageConflict`, `StorageError`."""
        from memory_v2.notes.archive import alone, apply_plan, archive_plan

        with alone(self.cache if apply and not self.trouble else None):
            self.refresh()
            plan = archive_plan(self.folder, self._kept, self.audit(), self.calendar.today, older_than, force)
            return apply_plan(self.folder, plan) if apply else plan

    def undo(self) -> tuple[tuple[str, str], ...]:
        """Takes back what `archive` has moved last, to the byte; returns each file's old name with the one that it had
        in the archive. Raises `UsageError` if there is no such folder, `StorageConflict`, `StorageError`."""
        from memory_v2.notes.archive import alone, move_back

        check_folder(self.folder)
        with alone(None if self.trouble else self.cache):
            return move_back(self.folder)

    def days(self) -> dict[str, list[date]]:
        """The days that each note speaks from: its own, and those of its items."""
        return {note.name: sorted(_days(note)) for note in self.all()}

    def close(self) -> None:
        """Closes what is kept."""
        self._kept.close()
        if self._index is not None:
            self._index.close()

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _pages(self) -> NotePages:
        from memory_v2.notes.folder import NotePages

        return NotePages(self.folder, self._kept)

    def _full_text(self) -> FullTextIndex:
        """The full-text index of the notes as they are now; each note is a page of it, see `notes.pages`."""
        from memory_v2.index.full_text import FullTextIndex

        self.refresh()
        if self._index is None:
            self._index = FullTextIndex(self._pages, None if self.trouble else self.cache, calendar=self.calendar)
        self._index.refresh()
        return self._index

    def _extracted(self, people: str | Path | None, wanted: Wanted) -> Iterator[Extracted]:
        if people is not None:
            from memory_v2.notes.extract import extracted
            from memory_v2.notes.people import read_aliases

            aliases = read_aliases(Path(people))
            for note in self.all():
                yield from extracted(note, aliases, wanted)
            return
        from memory_v2.notes.judged import judged_notes

        if self._found is None:
            self.refresh()
        yield from (one for one in judged_notes(self._kept) if wanted.is_of(one.day))

    def _digest(self) -> str:
        from memory_v2.notes.index_files import content_digest

        return content_digest((name, row.sha256) for name, row in self._kept.rows().items() if not row.left_out)


def _cache_of(folder: Path) -> Path:
    """The cache folder for a folder of notes: by its name, so that people find it, and its place."""
    real = os.path.realpath(folder)
    name = f"{slug(folder.name) or 'notes'}-{sha256(os.fsencode(real)).hexdigest()[:12]}"
    return cache_folder(os.environ) / "notes" / name


def _days(note: Note) -> set[date]:
    return {*({note.day} if note.day else ()), *(item.day for item in note.items if item.day)}
