"""A folder of notes: what is read of it, and what can be asked of that. The folder itself is never changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from memory_v2.errors import UsageError
from memory_v2.notes.archive import CAPTURED, alone, apply_plan, archive_plan, move_back
from memory_v2.notes.audit.audit import Audit, Choice, audit_notes
from memory_v2.notes.audit.context import AuditContext, Policy
from memory_v2.notes.cache import NotesCache
from memory_v2.notes.digest import Digest, make_digest
from memory_v2.notes.extract import Extracted, Wanted, collected, extracted_in
from memory_v2.notes.folder import NotesFolder, Refreshed, note_of, page_of
from memory_v2.notes.graph import MOST, NotesGraph, notes_graph
from memory_v2.notes.index_files import INDEX, Indexed, Status, index_status, write_index
from memory_v2.notes.links import resolver_of
from memory_v2.notes.note import Note
from memory_v2.notes.people import NO_ALIASES, Aliases, read_aliases
from memory_v2.plan import Plan
from memory_v2.settings import Settings, cache_folder, file_path
from memory_v2.text.days import Calendar, days_before, utc_now
from memory_v2.text.slug import slug
from memory_v2.validate import each_tag

if TYPE_CHECKING:
    from memory_v2.index.full_text import FullTextIndex
    from memory_v2.notes.search import NoteHits

MOST_SEARCHED = 500
"""How many notes an audit searches for where nobody asks for that: it takes some milliseconds each."""
FIRST = 10
"""Among how many places a note must be to be found."""


class Notes:
    """A folder of notes to read: nothing in it is changed, nothing is moved. What is read is kept in a cache folder,
    so that the next look opens only what was touched."""

    def __init__(self, folder: Path, cache: Path | None, calendar: Calendar) -> None:
        """Notes in a folder; what is read is kept in `cache`, or in memory without one. `calendar` says which day is
        today."""
        self.folder = folder
        self.cache = cache
        self.calendar = calendar
        self._cached = NotesCache(cache)
        self._files = NotesFolder(folder, self._cached)
        self._is_read = False
        self._index: FullTextIndex | None = None

    @classmethod
    def open(cls, folder: str | Path = ".", cache: str | Path | None = None) -> Notes:
        """Opens a folder of notes. `cache` is the folder for what is read of it; else one for these notes in the user's
        cache folder. `SILICA_MEMORY_TIMEZONE` says where days begin."""
        settings = Settings.from_environment(os.environ)
        now = settings.now
        place = file_path(str(folder), "the folder of notes").absolute()
        cached = file_path(str(cache), "the cache folder") if cache else _cache_of(place)
        calendar = Calendar(settings.timezone, (lambda: now) if now else utc_now)
        return cls(place, cached, calendar)

    @property
    def trouble(self) -> str:
        """Why what is read cannot be kept; empty if all is well."""
        return self._cached.trouble

    def refresh(self, only: Collection[str] = ()) -> Refreshed:
        """Reads what was touched since the last time. With `only`, of the named files and folders; of all others, what
        was read stays. What the notes no longer say leaves all that is kept. Raises `UsageError`, `StorageError`."""
        self._is_read = True
        touched = self._files.look(only)
        before = (*touched.changed, *touched.removed)
        if self._cached.indexed(map(page_of, before)):
            self._indexed()
        if before and self.cache and (self.cache / INDEX).is_file() and not self.trouble:
            write_index(self._files, touched, self.cache)
        return touched

    def status(self) -> Status:
        """How far what was read is behind the folder; nothing is kept."""
        return index_status(self._files, self.cache)

    def all(self) -> Iterator[Note]:
        """All notes by name, as they are now."""
        yield from self._read().notes()

    def index(self, out: str | Path | None = None, only: Collection[str] = ()) -> Indexed:
        """Writes `index.json` and `tags.json` into the cache folder, or into `out`. Raises `UsageError`,
        `StorageError`."""
        place = file_path(str(out), "the folder of the index") if out else self.cache
        if place is None:
            raise UsageError("these notes have no cache folder: say where the index is to be written")
        return write_index(self._files, self.refresh(only), place)

    def extract(self, wanted: Wanted | None = None, people: str | Path | None = None) -> list[Extracted]:
        """The contacts, decisions, lessons, metrics, issues and pending matters of the notes; `people` is an alias
        file."""
        return collected(extracted_in(self._read(), None, _aliases(people)), wanted or Wanted())

    def extracted_of(self, names: Collection[str]) -> Iterator[Extracted]:
        """Everything that is extracted of the named notes as they were read, whatever its grade, closed or not."""
        return extracted_in(self._cached, names)

    def digest(self, since: date | None = None, until: date | None = None, people: str | Path | None = None) -> Digest:
        """What happened from `since` to `until`; by default yesterday and today."""
        last = until or self.calendar.today
        first = since or days_before(last, 1)
        if first > last:
            raise UsageError(f"the digest would begin on {first} and end before that, on {last}")
        extracted = extracted_in(self._read(), None, _aliases(people))
        dated = [one for one in extracted if one.day and one.day <= last]
        return make_digest(dated, self.days(), first, last)

    def audit(self, choice: Choice | None = None, policy: Policy | None = None) -> Audit:
        """What deserves a look: duplicates, numbers that drift, contradictions, broken links, secrets and more. The
        same notes and day give the same findings. Raises `UsageError`, `StorageError`."""
        choice = choice or Choice()
        return audit_notes(self._audited(policy or Policy(), self._search_for(choice)), choice)

    def graph(self, most: int | None = None, people: str | Path | None = None) -> NotesGraph:
        """Files, people and projects, with links and mentions: `most` nodes, those with most edges, by default 200;
        `people` is an alias file."""
        notes = list(self.all())
        resolver = resolver_of(self.folder, self._files.files(), notes)
        return notes_graph(notes, extracted_in(self._cached, None, _aliases(people)), resolver, most or MOST)

    def search(
        self,
        query: str,
        limit: int = 5,
        tags: Iterable[str] = (),
        file: str = "",
        since: date | None = None,
        until: date | None = None,
        context: int = 0,
        regex: bool = False,
        over: bool = False,
    ) -> NoteHits:
        """The places that best answer a query, best first, with so many lines of `context` around each; only in
        sections with all these `tags`, in a `file` or folder, from some days. What is closed or superseded is
        left out unless `over`. With `regex`, the lines that match a pattern, file by file. Raises `InvalidText`,
        `InvalidSetting`, `InvalidPattern`, `UsageError`, `StorageError`."""
        from memory_v2.notes.search import NoteFilter, Places  # start-up that only a search is worth

        if limit < 1 or context < 0:
            raise UsageError("a search is for one place at least, and shows no lines around it or more")
        part = NoteFilter(tags=each_tag(tags), file=file, since=since, until=until, over=over)
        places = Places(self._files, self._full_text())
        return (places.match if regex else places.search)(query, limit, part, context)

    def note_captured(self, found: Iterable[Extracted]) -> None:
        """Notes that these were captured as entries of a memory, so that `archive` counts them as kept."""
        self._cached.add(CAPTURED, {one.id for one in found})

    def archive(self, older_than: int, apply: bool = False, force: bool = False) -> Plan:
        """The daily logs that are more than so many days old, and what keeps some of them where they are; with `apply`,
        the others are moved into `archive/` beside them, which `undo` takes back. If it is forced, logs are moved
        though something in them is kept nowhere else, is pending, or is linked. Raises `UsageError`,
        `StorageConflict`, `StorageError`."""
        with alone(self.folder, self.cache if apply and not self.trouble else None):
            self.refresh()
            plan = archive_plan(self._audited(Policy()), older_than, force)
            return apply_plan(self.folder, plan) if apply else plan

    def undo(self) -> tuple[tuple[str, str], ...]:
        """Takes back what `archive` has moved last, to the byte; returns each file's old name with the one that it had
        in the archive. Raises `UsageError` if there is no such folder, `StorageConflict`, `StorageError`."""
        self._files.check()
        with alone(self.folder, None if self.trouble else self.cache):
            return move_back(self.folder)

    def days(self) -> dict[str, list[date]]:
        """The days that each note speaks from: its own, and those of its items."""
        days = {note.name: {note.day, *(item.day for item in note.items)} for note in self.all()}
        return {name: sorted(filter(None, found)) for name, found in days.items()}

    def close(self) -> None:
        """Closes what is kept."""
        self._cached.close()

    def __enter__(self) -> Notes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> NotesCache:
        """What is kept of the notes, which were read since they were opened."""
        if not self._is_read:
            self.refresh()
        return self._cached

    def _full_text(self) -> FullTextIndex:
        """The full-text index of the notes as they are now."""
        self.refresh()
        return self._indexed()

    def _indexed(self) -> FullTextIndex:
        """The full-text index of the notes as they were read; each note is a page of it, see `NotesFolder`."""
        from memory_v2.index.full_text import FullTextIndex  # start-up that only a search is worth

        if self._index is None:
            self._index = FullTextIndex(self._files, None, calendar=self.calendar, store=self._cached.store)
        cached, told_before = self._cached, set[str]()

        def note(paths: Collection[str]) -> bool:
            told_before.update(cached.indexed(paths))
            return True

        self._index.refresh(note)
        if told_before:
            cached.scrub()
        return self._index

    def _audited(self, policy: Policy, search: Callable[[str], Collection[str]] | None = None) -> AuditContext:
        """What an audit looks at: the notes as they were read."""
        return AuditContext(self.folder, self._read(), self._files.files(), self.calendar.today, policy, search)

    def _search_for(self, choice: Choice) -> Callable[[str], Collection[str]] | None:
        """What searches for notes in an audit, if that is asked for, or there are few."""
        if "dark" not in choice.select and len(self._read().hashes()) > MOST_SEARCHED:
            return None
        index = self._full_text()
        return lambda query: {note_of(hit.path) for hit in index.search(query, FIRST, child_links=True)}


def _aliases(people: str | Path | None) -> Aliases:
    return NO_ALIASES if people is None else read_aliases(Path(people))


def _cache_of(folder: Path) -> Path:
    """The cache folder for a folder of notes: by its name, so that people find it, and its place."""
    real = os.path.realpath(folder)
    name = f"{slug(folder.name) or 'notes'}-{sha256(os.fsencode(real)).hexdigest()[:12]}"
    return cache_folder(os.environ) / "notes" / name
