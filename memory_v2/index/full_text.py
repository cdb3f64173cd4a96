"""The index of a storage: kept up with whoever changes its pages, and asked for places, links and repetitions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from memory_v2.errors import PageNotFound
from memory_v2.index.base import Hit, PageRow
from memory_v2.index.lookup import Facts, hit_of, look_up, read_facts
from memory_v2.index.question import parse_question
from memory_v2.index.ranking import rank
from memory_v2.index.store import Store
from memory_v2.index.tables import (
    Entered,
    block_digest,
    drop_pages,
    page_digest,
    prepare_page,
    put_page,
    snapshot,
    transaction,
)
from memory_v2.storage.base import MemoryStorage, Stamp
from memory_v2.tree.graph import Edge, Graph, Node
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import ROOT, fold

Result = TypeVar("Result")

BATCH = 50
"""Pages that go in with one transaction: others may wait so long to put in theirs."""


def _unheard(_: Collection[str]) -> bool:
    """Nobody wants to know, and so nobody has to be told again."""
    return True


class FullTextIndex:
    """The `PageIndex` of a storage, in a file in `folder`, or in memory where that is `None` or cannot be used.

    Any number of threads and processes may use it on one folder. What others commit is seen after `refresh`.
    """

    def __init__(self, storage: MemoryStorage, folder: Path | None) -> None:
        self._storage = storage
        self._store = Store(folder)
        self._filled = 0
        self._known: dict[str, tuple[int, str, bytes]] = {}
        self._known_at: tuple[int, int] | None = None
        self._changes = 0
        self._facts: tuple[tuple[int, int, int], Facts] | None = None
        self._graph: tuple[tuple[int, int, int], Graph] | None = None

    def close(self) -> None:
        """Lets go of the file; the next use opens it again."""
        self._store.close()

    def refresh(self, noticed: Callable[[Collection[str]], bool] = _unheard) -> Collection[str]:
        """Takes in whatever was changed outside, told by the storage's stamps; returns the paths that had changed.
        `noticed` is told them before, and says whether that was enough; else they are noticed again."""
        return self._store.run(lambda tables: self._refresh(tables, noticed))

    def update(self, changed: Iterable[Page], removed: Iterable[str]) -> None:
        """Takes in what a commit has just stored; costs what these pages cost, however many there are besides."""
        pages, gone = list(changed), list(removed)

        def work(tables: sqlite3.Connection) -> None:
            # No stamp is asked for: it could be that of an edit made meanwhile. The next refresh reads these once.
            entered = [Entered(page, page.size, "", self._last_updated(page)) for page in pages]
            self._write(tables, entered, gone)

        # Whether other pages are in the tables does not matter here: a commit costs no walk over them.
        self._store.run(work)

    def search(
        self, query: str, limit: int = 10, *, within: Collection[str] | None = None, entries: bool = False
    ) -> list[Hit]:
        """The best places for a query, best first; lines of `## Links` are among them only if `entries` are wanted."""
        if limit < 1 or not query.strip():
            return []

        def work(tables: sqlite3.Connection) -> list[Hit]:
            with snapshot(tables):
                state = self._state(tables)
                if self._facts is None or self._facts[0] != state:
                    self._facts = (state, read_facts(tables))
                question = parse_question(query, self._facts[1].names)
                found = look_up(tables, self._facts[1], question, limit, within, entries=entries)
                return [hit_of(tables, r.place, r.score, r.found_by) for r in rank(question, found, limit)]

        return self._ask(work)

    def same(self, texts: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Which of these texts stand in the tree already, in other dress at most: the page and block of each."""
        wanted = {text: digest for text in texts if (digest := block_digest(text))}

        def work(tables: sqlite3.Connection) -> dict[str, tuple[str, int]]:
            found = {}
            for text, digest in wanted.items():
                place: tuple[str, int] | None = tables.execute(
                    "SELECT path, block FROM blocks JOIN pages ON id = page WHERE blocks.digest = ? "
                    "ORDER BY path, block LIMIT 1",
                    (digest,),
                ).fetchone()
                if place:
                    found[text] = place
            return found

        return self._ask(work)

    def rows(self) -> list[PageRow]:
        """Every page, sorted by path."""

        def work(tables: sqlite3.Connection) -> list[PageRow]:
            rows = tables.execute("SELECT path, title, size, last_updated FROM pages").fetchall()
            return sorted(
                (PageRow(path, title, size, datetime.fromisoformat(moment)) for path, title, size, moment in rows),
                key=lambda row: row.path,
            )

        return self._ask(work)

    def graph(self) -> Graph:
        """The pages and their links."""

        def work(tables: sqlite3.Connection) -> Graph:
            with snapshot(tables):
                state = self._state(tables)
                if self._graph is None or self._graph[0] != state:
                    self._graph = (state, _graph(tables))
                return self._graph[1]

        return self._ask(work)

    def _ask(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """`work` on tables that have been filled: those in memory, and those of a deleted file, begin empty."""

        def filled(tables: sqlite3.Connection) -> Result:
            if self._filled != self._store.generation:
                self._refresh(tables)
            return work(tables)

        return self._store.run(filled)

    def _refresh(
        self, tables: sqlite3.Connection, noticed: Callable[[Collection[str]], bool] = _unheard
    ) -> frozenset[str]:
        known, seen, stale = self._all_known(tables), set(), []
        for stamp in self._storage.stamps():
            seen.add(stamp.path)
            if stamp.path not in known or known[stamp.path][:2] != (stamp.size, stamp.mark):
                stale.append(stamp)
        changed = gone = known.keys() - seen
        for start in range(0, len(stale), BATCH):
            besides = set() if start else gone  # a page that was renamed by hand is told as one edit
            changed = changed | self._take_in(tables, stale[start : start + BATCH], noticed, besides)
        if gone:
            if not stale:
                noticed(gone)
            self._write(tables, [], gone)
        self._filled = self._store.generation
        return frozenset(changed)

    def _all_known(self, tables: sqlite3.Connection) -> dict[str, tuple[int, str, bytes]]:
        """Size, mark and digest of each page; kept, because reading 10,000 rows takes as long as a search."""
        state = (self._store.generation, _version(tables))
        if self._known_at != state:
            rows = tables.execute("SELECT path, size, mark, digest FROM pages")
            self._known = {path: (size, mark, digest) for path, size, mark, digest in rows}
            self._known_at = state
        return self._known

    def _take_in(
        self,
        tables: sqlite3.Connection,
        stamps: Iterable[Stamp],
        noticed: Callable[[Collection[str]], bool],
        besides: set[str],
    ) -> set[str]:
        """Reads pages that do not have the stamp they had; gives the paths of those that are other pages now. `besides`
        are told along with them."""
        entered, gone, same = [], [], []
        seen: dict[str, bytes | None] = {}
        for stamp in stamps:
            known = self._known.get(stamp.path)
            seen[stamp.path] = known[2] if known else None
            try:
                data = self._storage.read(stamp.path).data
                # What is read is at least as new as the stamp, so the stamp can only make it be read once more.
                if known and known[2] == page_digest(data):
                    same.append((stamp.size, stamp.mark, stamp.path, known[2]))
                    self._known[stamp.path] = (stamp.size, stamp.mark, known[2])
                else:
                    page = read_page(stamp.path, data)
                    entered.append(Entered(page, stamp.size, stamp.mark, self._last_updated(page)))
            except PageNotFound:
                gone.append(stamp.path)
        changed = {*(entry.page.path for entry in entered), *gone}
        if changed | besides and not noticed(changed | besides):
            entered = [replace(entry, mark="", is_known=False) for entry in entered]
        self._write(tables, entered, gone, same, seen)
        return changed

    def _write(
        self,
        tables: sqlite3.Connection,
        entered: Collection[Entered],
        gone: Collection[str],
        stamped: Collection[tuple[int, str, str, bytes]] = (),
        seen: Mapping[str, bytes | None] | None = None,
    ) -> None:
        """Puts pages in and takes pages out. With `seen`, only those whose digest is still the one that was seen: what
        another process has put in since then is newer than what was read here, and the next refresh looks at it."""
        prepared = [prepare_page(entry) for entry in entered]  # before the transaction: it is the longer part
        with transaction(tables):
            if seen is not None:
                overtaken = {path for path, digest in seen.items() if _digest_of(tables, path) != digest}
                prepared = [page for page in prepared if page.path not in overtaken]
                gone = [path for path in gone if path not in overtaken]
            drop_pages(tables, gone)
            for page in prepared:
                put_page(tables, page)
            tables.executemany("UPDATE pages SET size = ?, mark = ? WHERE path = ? AND digest = ?", stamped)
        for path in gone:
            self._known.pop(path, None)
        taken = {page.path for page in prepared}
        for entry in entered:
            if entry.page.path in taken:
                self._known[entry.page.path] = (entry.size, entry.mark, entry.digest)
        self._changes += len(entered) + len(gone)

    def _last_updated(self, page: Page) -> datetime:
        try:
            return page.last_updated or self._storage.get_modified_time(page.path)
        except PageNotFound:  # removed meanwhile, as the next refresh will find
            return datetime.fromtimestamp(0, UTC)

    def _state(self, tables: sqlite3.Connection) -> tuple[int, int, int]:
        """Equal as long as nobody, here or in another process, has changed the tables."""
        return (self._store.generation, _version(tables), self._changes)


def _digest_of(tables: sqlite3.Connection, path: str) -> bytes | None:
    row = tables.execute("SELECT digest FROM pages WHERE path = ?", (path,)).fetchone()
    return row[0] if row else None


def _version(tables: sqlite3.Connection) -> int:
    """Another number whenever another connection has changed the file."""
    return int(tables.execute("PRAGMA data_version").fetchone()[0])


def _graph(tables: sqlite3.Connection) -> Graph:
    pages = tables.execute("SELECT path, size, title, id FROM pages").fetchall()
    pages.sort(key=lambda row: (row[0] != ROOT, row[0]))
    known = {fold(path): path for path, *_ in pages}
    edges: dict[int, dict[str, Edge]] = {number: {} for *_, number in pages}
    paths = {number: path for path, _, _, number in pages}
    for page, target, label, child in tables.execute(
        "SELECT page, target, label, child FROM links ORDER BY page, place"
    ):
        path = known.get(target)
        if path and path != paths[page] and path not in edges[page]:
            edges[page][path] = Edge(paths[page], path, label, bool(child))
    nodes = tuple(Node(path, size, title) for path, size, title, _ in pages)
    return Graph(nodes, tuple(edge for *_, number in pages for edge in edges[number].values()))
