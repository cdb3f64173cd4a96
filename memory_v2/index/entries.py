"""The entries in the index: their passages, and their files, so that nobody has to read 100,000 of them.

They are in the tables of the index, as a kind of their own. A look for what has changed asks each folder for its mark:
a new name changes it, and so does a file that was replaced. Files that were edited in their place are found by a look
at `everything`, or, some at each look, in time.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar

from memory_v2.errors import PageNotFound, StorageError, Unreadable
from memory_v2.index.lookup import Facts, read_facts
from memory_v2.index.places import ENTRIES, packed
from memory_v2.index.postings import Only
from memory_v2.index.rows import Known, PageRows, ParsedEntry, page_digest, prepare_entry
from memory_v2.index.store import IndexStore
from memory_v2.index.tables import CachedValue, check_rows, drop_pages, put_pages, raise_state, read_state
from memory_v2.progress import tell_progress
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.tree.path import ENTRIES as ENTRIES_FOLDER

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
    """The entries of a storage, as they are read."""

    def stamps(self, below: str) -> Iterable[Stamp]:
        """The stamps of all entries, or of those below a folder."""

    def reader(self) -> Callable[[str], bytes]:
        """Gives the bytes of entries by path, for one scan; it raises `PageNotFound`, `Unreadable`."""

    def parse(self, path: str, data: bytes) -> ParsedEntry:
        """What is looked up of an entry."""


class File(NamedTuple):
    """An entry's file as it was when it was indexed."""

    path: str
    data: bytes


class EntryIndex:
    """The entries in an index. Any number of threads and processes may use its file."""

    def __init__(
        self, storage: MemoryStorage, open_source: Callable[[MemoryStorage], EntrySource], store: IndexStore
    ) -> None:
        self._storage = storage
        self._open_source = open_source
        self._source = open_source(storage)
        self._store = store
        self.facts = CachedValue(read_entry_facts, kind=ENTRIES)
        self._folders = CachedValue(_read_folders, kind=ENTRIES)
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
        marks = self._storage.folder_marks(ENTRIES_FOLDER)
        return marks is None or bool(marks)

    def over(self, storage: MemoryStorage, store: IndexStore) -> EntryIndex:
        """The same for the entries in another storage, and another index."""
        return EntryIndex(storage, self._open_source, store)

    def expire(self) -> None:
        """Makes a look due: this program has changed something."""
        self._changes += 1

    def refresh(self, everything: bool = False) -> None:
        """Indexes what has changed, if a look is due: what others change is seen within a second. If `everything` is to
        be looked at, so is what was edited in its place, and a look is always due."""
        is_mine = self._looking.acquire(timeout=MAX_WAIT)
        try:
            began, seen = time.monotonic(), (self._changes, self._history_stamp())
            if everything or seen != self._seen or began >= self._next_look:
                self._store.run(lambda: self._refresh(everything))
                ended = time.monotonic()
                self._seen, self._next_look = seen, ended + min((ended - began) / LOOKS_COST, MAX_AGE)
        finally:
            if is_mine:
                self._looking.release()

    def _history_stamp(self) -> str | None:
        try:
            return self._storage.history.stamp
        except StorageError:  # damaged, or not readable: the entries are
            return None

    def files(self) -> dict[str, bytes]:
        """The files of all entries by path, as they were when they were indexed."""

        def work(tables: sqlite3.Connection) -> dict[str, bytes]:
            return dict(tables.execute("SELECT path, data FROM entries JOIN entry_pages ON entry_pages.id = page"))

        return self._asked(work)

    def called(self, names: Collection[str]) -> list[File]:
        """The files of entries by their ids, or their names without a space; folded, as all names here."""
        given = {"names": packed(names)}
        listed = "(SELECT value FROM json_each(:names))"
        return self._some(f"entries.id IN {listed} OR entries.name IN {listed}", given)

    def naming(self, targets: Collection[str]) -> list[File]:
        """The files of entries that name one of these."""
        where = "page IN (SELECT page FROM named WHERE target IN (SELECT value FROM json_each(:names)))"
        return self._some(where, {"names": packed(targets)})

    def at_home(self, home: str, most: int, archived: bool) -> list[File]:
        """The newest files of entries whose home is this, so many at most; also `archived` ones if they are wanted."""
        where = (
            "page IN (SELECT page FROM entries WHERE home = :home AND archived <= :archived AND day IS NOT NULL"
            " ORDER BY day DESC, id DESC LIMIT :most)"
        )
        return self._some(where, {"home": home.casefold(), "archived": int(archived), "most": most})

    def holding(self, text: str) -> list[File]:
        """The files of entries with this text in them, to the letter."""
        return self._some("instr(data, :text)", {"text": text.encode("utf-8", "surrogateescape")})

    def is_filled(self, tables: sqlite3.Connection) -> bool:
        """Whether all entries are in these tables: those in memory, and those of a deleted file, begin empty."""
        return read_state(tables, ENTRIES).tables == self._filled

    def fill(self) -> None:
        """Brings the tables up to date, whether a look is due or not. Call it in `IndexStore.run`."""
        self._refresh(everything=False)

    def _some(self, where: str, given: Mapping[str, object]) -> list[File]:
        source = "FROM entries JOIN entry_pages ON entry_pages.id = page WHERE day IS NOT NULL"
        rows = f"SELECT path, data {source} AND ({where}) ORDER BY path"

        def work(tables: sqlite3.Connection) -> list[File]:
            return [File(*row) for row in tables.execute(rows, given)]

        return self._asked(work)

    def _asked(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """`work` on tables that have been filled."""

        def filled_first() -> Answer:
            while True:
                with self._store.reading() as tables:
                    if self.is_filled(tables):
                        return work(tables)
                self.fill()

        return self._store.run(filled_first)

    def _refresh(self, everything: bool) -> None:
        found = self._storage.folder_marks(ENTRIES_FOLDER)
        marks = None if found is None else dict(found)
        with self._store.reading() as tables:
            state, known = read_state(tables, ENTRIES), self._folders.of(tables)
            if state.tables != self._filled:
                check_rows(tables, ENTRIES)
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
                raise_state(tables, ENTRIES)
        self._filled = state.tables

    def _in_turn(self, marks: Mapping[str, str]) -> Iterator[str]:
        """Folders that are looked into although their marks are what they were."""
        above = {folder.rpartition("/")[0] for folder in marks}
        folders, left = sorted(marks.keys() - above), LOOKED_AT
        first, self._turn = self._turn, self._turn + 1
        for step in range(len(folders)):
            folder = folders[(first + step) % len(folders)]
            with self._store.reading() as tables:
                left -= int(
                    tables.execute(f"SELECT count(*) FROM entry_pages WHERE {_BELOW}", _below(folder)).fetchone()[0]
                )
            if left < 0:
                break
            self._turn = first + step + 1
            yield folder

    def _look_into(self, folder: str) -> None:
        stamps = {stamp.path: stamp for stamp in self._source.stamps(folder)}
        with self._store.reading() as tables:
            rows = tables.execute(f"SELECT path, size, mark, digest FROM entry_pages WHERE {_BELOW}", _below(folder))
            known = {path: Known(*one) for path, *one in rows}
        stale = [
            stamp for stamp in stamps.values() if (known.get(stamp.path) or _UNKNOWN)[:2] != (stamp.size, stamp.mark)
        ]
        gone = [path for path in known if path not in stamps]
        stale.sort()
        for start in range(0, len(stale), BATCH):
            self._take_in(batch := stale[start : start + BATCH], known)
            if len(stale) > BATCH:
                tell_progress("entries indexed", start + len(batch), len(stale))
        if gone:
            with self._store.writing() as tables:
                drop_pages(tables, gone, ENTRIES)
                raise_state(tables, ENTRIES)

    def _take_in(self, stamps: Sequence[Stamp], known: Mapping[str, Known]) -> None:
        prepared: list[PageRows] = []
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
                prepared.append(prepare_entry(stamp, data, self._source.parse(stamp.path, data)))
        looked_at = {stamp.path for stamp in stamps}
        self.unreadable = {path: one for path, one in self.unreadable.items() if path not in looked_at} | unreadable
        with self._store.writing() as tables:
            drop_pages(tables, gone, ENTRIES)
            tables.executemany("UPDATE entry_pages SET size = ?, mark = ? WHERE path = ?", touched)
            put_pages(tables, prepared, ENTRIES)
            raise_state(tables, ENTRIES)


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


def read_entry_facts(tables: sqlite3.Connection) -> Facts:
    """The facts about all passages of entries."""
    return read_facts(tables, ENTRIES)


def read_files(tables: sqlite3.Connection, pages: Collection[int]) -> dict[int, File]:
    """The files of entries by their ids in the tables."""
    source = "entries JOIN entry_pages ON entry_pages.id = page WHERE page IN (SELECT value FROM json_each(?))"
    rows = tables.execute(f"SELECT page, path, data FROM {source}", (packed(pages),))
    return {page: File(path, data) for page, path, data in rows}


def count_entries(tables: sqlite3.Connection, only: Only, most: int) -> int:
    """How many entries a condition admits, or `most` if they are more."""
    rows = f"SELECT 1 FROM entries WHERE day IS NOT NULL {only.sql} LIMIT {most}"
    return int(tables.execute(f"SELECT count(*) FROM ({rows})", only.given).fetchone()[0])
