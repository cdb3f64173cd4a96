"""The index of the entries: full text, and their files, so that nobody has to read 100,000 of them.

It has a file of its own beside that of the pages, with the same tables and a few more. A look for what has changed asks
each folder for its mark: a new name changes it, and so does a file that was replaced. Files that were edited in their
place are found by a look at `everything`, or, some at each look, in time.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.index.kept import Kept
from memory_v2.index.lookup import Found, look_up, read_facts
from memory_v2.index.observed import TABLES, Observed, ObservedRows, prepare
from memory_v2.index.packed import packed
from memory_v2.index.postings import Only
from memory_v2.index.question import Question
from memory_v2.index.rows import Known, page_digest
from memory_v2.index.store import Store, erase_file
from memory_v2.index.tables import digest_of, drop_pages, put_pages, raise_state, read_state
from memory_v2.index.told import Terms
from memory_v2.progress import tell_progress
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.text.calendar import Calendar

FILE = "recall.sqlite"
BATCH = 500
"""How many entries are indexed in one transaction. Other writers wait for it."""
LOOKED_AT = 500
"""How many files a look at the folders asks besides, of the folders next in turn: some five milliseconds."""
MAX_AGE = 1.0
"""How old, in seconds, the last look may be."""
MAX_WAIT = 1.0
"""How long, in seconds, a thread waits for the look of another one before it looks itself."""
LOOKS_COST = 0.1
"""The share of the time that looks may take, until they are that old."""
LOOK_AGAIN = 60.0
"""After how many seconds, at the earliest, an open memory looks at all files, and then after as many times as long as
that took: a fiftieth of the time."""

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)


class EntrySource(Protocol):
    """Where the entries are."""

    def over(self, storage: MemoryStorage) -> EntrySource:
        """The same for the entries in another storage."""

    def changed_at(self) -> str | None:
        """What is another with each change that the history has; `None` if that is not known."""

    def folder_marks(self) -> dict[str, str] | None:
        """The marks of their folders; `None` if the storage has none."""

    def stamps(self, below: str = "") -> Iterable[Stamp]:
        """The stamps of all entries, or of those below a folder."""

    def reader(self) -> Callable[[str], bytes]:
        """Gives the bytes of entries by path, for one scan; it raises `PageNotFound`, `Unreadable`."""

    def read(self, path: str, data: bytes) -> Observed:
        """What is looked up of an entry."""


class File(NamedTuple):
    """An entry's file as it was when it was indexed."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Proposed:
    """The entries that may answer a question, and their files by the ids of their pages."""

    found: Found
    files: Mapping[int, File]


class EntryIndex:
    """The index of entries, in a file in `folder`, or in memory if that is `None` or not usable. Any number of threads
    and processes may use one folder."""

    def __init__(self, source: EntrySource, folder: Path | None) -> None:
        self._source = source
        self._store = Store(folder, FILE, TABLES)
        self._facts = Kept(read_facts)
        self._folders = Kept(_read_folders)
        self.unreadable: dict[str, Unreadable] = {}
        """The entries that could not be read when they were last looked at. They are not in the index."""
        self._filled = b""
        """`State.tables` of the tables that have been filled with all entries."""
        self._turn = int(time.time())
        self._looking = threading.Lock()
        self._changes = 0
        """How many changes outside the history this program has told of."""
        self._seen: tuple[int, str | None] = (0, None)
        """Those, and the state of the history, that the last look has seen."""
        self._next_look = 0.0
        self._next_full_look = time.monotonic() + LOOK_AGAIN

    @property
    def may_have_entries(self) -> bool:
        """Whether there may be entries; if not, that is known without opening the file."""
        if self._filled:
            return True
        marks = self._source.folder_marks()
        return marks is None or bool(marks)

    def over(self, storage: MemoryStorage) -> EntryIndex:
        """An index of the entries in another storage, in memory."""
        return EntryIndex(self._source.over(storage), None)

    def expire(self) -> None:
        """Makes a look due: this program has changed something."""
        self._changes += 1

    def refresh(self, everything: bool = False) -> None:
        """Indexes what has changed, if a look is due: what others change is seen within a second. If `everything` is to
        be looked at, so is what was edited in its place, and a look is always due."""
        is_mine = self._looking.acquire(timeout=MAX_WAIT)
        try:
            began, seen = time.monotonic(), (self._changes, self._source.changed_at())
            if everything or seen != self._seen or began >= self._next_look:
                self._store.run(lambda: self._refresh(everything))
                ended = time.monotonic()
                self._seen, self._next_look = seen, ended + min((ended - began) / LOOKS_COST, MAX_AGE)
        finally:
            if is_mine:
                self._looking.release()

    def look_up(self, question: Question, limit: int, only: Only, calendar: Calendar) -> Proposed:
        """The entries that may answer a question, of those that a condition admits."""

        def work(tables: sqlite3.Connection) -> Proposed:
            facts = self._facts.of(tables)
            found = look_up(tables, facts, question, limit, calendar=calendar, only=only)
            return Proposed(found, _files_of(tables, found.paths))

        return self._asked(work)

    def terms(self, question: Question) -> Terms:
        """What of a question some entry has."""

        def work(tables: sqlite3.Connection) -> Terms:
            facts = self._facts.of(tables)
            return Terms(list(facts.vocabulary.known_terms(tables, question)), facts.count)

        return self._asked(work)

    def count(self, only: Only, most: int) -> int:
        """How many entries a condition admits, or `most` if they are more."""
        rows = f"SELECT 1 FROM observed WHERE day IS NOT NULL {only.sql} LIMIT {most}"

        def work(tables: sqlite3.Connection) -> int:
            return int(tables.execute(f"SELECT count(*) FROM ({rows})", only.given).fetchone()[0])

        return self._asked(work)

    def files(self) -> dict[str, bytes]:
        """The files of all entries by path, as they were when they were indexed."""

        def work(tables: sqlite3.Connection) -> dict[str, bytes]:
            return dict(tables.execute("SELECT path, data FROM observed JOIN pages ON pages.id = page"))

        return self._asked(work)

    def called(self, names: Collection[str]) -> list[File]:
        """The files of entries by their ids, or their names without a space; folded, as all names here."""
        given = {"names": packed(names)}
        listed = "(SELECT value FROM json_each(:names))"
        return self._some(f"observed.id IN {listed} OR observed.name IN {listed}", given)

    def naming(self, targets: Collection[str]) -> list[File]:
        """The files of entries that name one of these."""
        where = "page IN (SELECT page FROM named WHERE target IN (SELECT value FROM json_each(:names)))"
        return self._some(where, {"names": packed(targets)})

    def holding(self, text: str) -> list[File]:
        """The files of entries with this text in them, to the letter."""
        return self._some("instr(data, :text)", {"text": text.encode("utf-8", "surrogateescape")})

    def close(self) -> None:
        """Closes the file; the next use opens it again."""
        self._store.close()

    def _some(self, where: str, given: Mapping[str, object]) -> list[File]:
        source = "FROM observed JOIN pages ON pages.id = page WHERE day IS NOT NULL"
        rows = f"SELECT path, data {source} AND ({where}) ORDER BY path"

        def work(tables: sqlite3.Connection) -> list[File]:
            return [File(*row) for row in tables.execute(rows, given)]

        return self._asked(work)

    def _asked(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """`work` on tables that have been filled: those in memory, and those of a deleted file, begin empty."""

        def filled_first() -> Answer:
            while True:
                with self._store.reading() as tables:
                    if read_state(tables).tables == self._filled:
                        return work(tables)
                self._refresh(everything=False)

        return self._store.run(filled_first)

    def _refresh(self, everything: bool) -> None:
        marks = self._source.folder_marks()
        with self._store.reading() as tables:
            state, known = read_state(tables), self._folders.of(tables)
        began = time.monotonic()
        if marks is None or not known or everything or began >= self._next_full_look:
            self._look_into("")
            ended = time.monotonic()
            self._next_full_look = ended + max(LOOK_AGAIN, LOOK_AGAIN * (ended - began))
        else:
            changed = _outermost([folder for folder in marks | known if known.get(folder) != marks.get(folder)])
            for folder in dict.fromkeys([*changed, *self._in_turn(marks)]):
                self._look_into(folder)
        new = marks or {}
        if new != known:
            with self._store.writing() as tables:
                tables.execute("DELETE FROM folders")
                tables.executemany("INSERT INTO folders VALUES (?, ?)", new.items())
                raise_state(tables)
        self._filled = state.tables

    def _in_turn(self, marks: Mapping[str, str]) -> Iterator[str]:
        """Folders that are looked into although their marks are what they were."""
        above = {folder.rpartition("/")[0] for folder in marks}
        folders, left = sorted(marks.keys() - above), LOOKED_AT
        first, self._turn = self._turn, self._turn + 1
        for step in range(len(folders)):
            folder = folders[(first + step) % len(folders)]
            with self._store.reading() as tables:
                left -= int(tables.execute(f"SELECT count(*) FROM pages WHERE {_BELOW}", _below(folder)).fetchone()[0])
            if left < 0:
                break
            self._turn = first + step + 1
            yield folder

    def _look_into(self, folder: str) -> None:
        stamps = {stamp.path: stamp for stamp in self._source.stamps(folder)}
        with self._store.reading() as tables:
            rows = tables.execute(f"SELECT path, size, mark, digest FROM pages WHERE {_BELOW}", _below(folder))
            known = {path: Known(*one) for path, *one in rows}
        stale = [one for one in stamps.values() if (known.get(one.path) or _UNKNOWN)[:2] != (one.size, one.mark)]
        gone = [path for path in known if path not in stamps]
        stale.sort()
        for start in range(0, len(stale), BATCH):
            self._take_in(batch := stale[start : start + BATCH], known)
            if len(stale) > BATCH:
                tell_progress("entries indexed", start + len(batch), len(stale))
        if gone:
            with self._store.writing() as tables:
                _drop(tables, gone)
                raise_state(tables)

    def _take_in(self, stamps: Sequence[Stamp], known: Mapping[str, Known]) -> None:
        prepared: list[ObservedRows] = []
        touched: list[tuple[int, str, str]] = []
        gone: list[str] = []
        unreadable: dict[str, Unreadable] = {}
        data_of = self._source.reader()
        for stamp in stamps:
            try:
                data = data_of(stamp.path)
            except PageNotFound:
                gone.append(stamp.path)
                continue
            except Unreadable as error:
                logger.warning("the entry %s is left out: %s", stamp.path, error)
                unreadable[stamp.path] = error
                gone.append(stamp.path)
                continue
            if known.get(stamp.path, _UNKNOWN).digest == page_digest(data):
                touched.append((stamp.size, stamp.mark, stamp.path))
            else:
                prepared.append(prepare(stamp, data, self._source.read(stamp.path, data)))
        looked_at = {stamp.path for stamp in stamps}
        self.unreadable = {path: one for path, one in self.unreadable.items() if path not in looked_at} | unreadable
        with self._store.writing() as tables:
            _drop(tables, [path for path in gone if digest_of(tables, path) is not None])
            tables.executemany("UPDATE pages SET size = ?, mark = ? WHERE path = ?", touched)
            _put(tables, prepared)
            raise_state(tables)


_UNKNOWN = Known(-1, "", b"")
_BELOW = "path >= :first AND path < :last"


def _below(folder: str) -> dict[str, str]:
    """The first path below a folder, and one that is behind the last."""
    return {"first": f"{folder}/", "last": f"{folder}0"} if folder else {"first": "", "last": "\U0010ffff"}


def _outermost(folders: Sequence[str]) -> list[str]:
    found: list[str] = []
    for folder in sorted(folders):
        if not any(folder.startswith(f"{above}/") for above in found):
            found.append(folder)
    return found


def _read_folders(tables: sqlite3.Connection) -> dict[str, str]:
    return dict(tables.execute("SELECT name, mark FROM folders"))


def _files_of(tables: sqlite3.Connection, pages: Collection[int]) -> dict[int, File]:
    rows = tables.execute(
        "SELECT page, path, data FROM observed JOIN pages ON pages.id = page "
        "WHERE page IN (SELECT value FROM json_each(?))",
        (packed(pages),),
    )
    return {page: File(path, data) for page, path, data in rows}


def _drop(tables: sqlite3.Connection, paths: Sequence[str]) -> None:
    for path in paths:
        for table in ("observed", "named"):
            tables.execute(f"DELETE FROM {table} WHERE page = (SELECT id FROM pages WHERE path = ?)", (path,))
    drop_pages(tables, paths)


def _put(tables: sqlite3.Connection, prepared: Sequence[ObservedRows]) -> None:
    _drop(tables, [rows.page.path for rows in prepared])
    put_pages(tables, [rows.page for rows in prepared])
    for rows in prepared:
        [number] = tables.execute("SELECT id FROM pages WHERE path = ?", (rows.page.path,)).fetchone()
        marks = ",".join("?" * len(rows.own))
        tables.execute(f"INSERT INTO observed VALUES (?,{marks})", (number, *rows.own))
        tables.executemany("INSERT INTO named VALUES (?, ?)", [(name, number) for name in dict.fromkeys(rows.names)])


def erase(folder: Path | None) -> None:
    """Removes all that the index in a folder knows, to the last byte."""
    erase_file(folder, FILE, TABLES)
