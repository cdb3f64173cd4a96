"""Keeping the tables in step with the pages: those whose stamps have changed are read again and compared."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memory_v2.errors import PageNotFound, SilicaError, Unreadable
from memory_v2.index.base import PageSource
from memory_v2.index.kept import Kept
from memory_v2.index.line_dates import LineDates
from memory_v2.index.links import digested, read_change, read_graph, read_graph_again
from memory_v2.index.rows import IncomingPage, Known, page_digest, prepare_page
from memory_v2.index.store import Store
from memory_v2.index.tables import (
    State,
    digest_of,
    drop_pages,
    put_pages,
    raise_state,
    read_known,
    read_known_of,
    read_state,
)
from memory_v2.progress import tell_progress
from memory_v2.storage.base import Stamp
from memory_v2.tree.page import Page, read_page

logger = logging.getLogger(__name__)

BATCH = 50
"""How many pages are indexed in one transaction. Other writers wait for it."""

OnChange = Callable[[Collection[str]], bool]


@dataclass
class Edits:
    """Pages whose content has changed, pages that were removed, pages of which only the stamp has changed, and
    pages that cannot be read."""

    incoming: list[IncomingPage] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    touched: list[tuple[str, Known]] = field(default_factory=list)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)

    @property
    def changed(self) -> set[str]:
        """The paths of the pages that have changed or were removed."""
        return {*(incoming.page.path for incoming in self.incoming), *self.removed}

    def unknown(self) -> Edits:
        """The same edits, put into the tables so that the next refresh notices them again."""
        return replace(self, incoming=[replace(incoming, mark="", is_known=False) for incoming in self.incoming])


class PageTables:
    """The tables of pages, kept in step with their source by any number of threads and processes."""

    def __init__(self, source: PageSource, store: Store, written: LineDates) -> None:
        self._source = source
        self._store = store
        self._written = written
        self.filled = b""
        """`State.tables` of the tables that have been filled with all pages."""
        self._being_read: set[str] = set()
        """Paths that some thread is reading now. A hint: threads that refresh at the same time share the work."""
        self.unreadable: dict[str, Unreadable] = {}
        """The pages that the last refresh could not read. They are in the index without their text."""
        self._known = Kept(read_known)
        self.graph = Kept(read_graph, read_graph_again)

    def refresh(self, on_change: OnChange) -> set[str]:
        """Looks at all pages, and returns the paths of those that have changed. Raises `Unreadable` if none can be
        read."""
        state, known = self.all_known()
        stamps = list(self._source.stamps())
        stale = [stamp for stamp in stamps if is_stale(known, stamp)]
        hidden = tuple(self._source.unlisted_folders())
        gone = {path for path in known.keys() - {stamp.path for stamp in stamps} if not path.startswith(hidden)}
        changed = set(gone)
        if gone and not stale:
            on_change(gone)
        done = 0
        besides = gone  # reported with the first batch, so that a page renamed by hand is one edit
        while stale:
            stale.sort(key=lambda stamp: stamp.path in self._being_read)
            batch, stale = stale[:BATCH], stale[BATCH:]
            changed |= self._take_in(batch, besides, on_change)
            done += len(batch)
            tell_progress("pages indexed", done, done + len(stale))
            besides = set()
        self.write(Edits(removed=list(gone)), known)
        if stamps and all(stamp.path in self.unreadable for stamp in stamps):  # no answer is better than "nothing"
            raise self.unreadable[stamps[0].path]
        if done > len(stamps) // 2 and (done > BATCH or not known):
            self._store.compact()
        self.filled = state.tables
        self._written.follow()
        return changed

    def look(self, paths: Collection[str], on_change: OnChange) -> set[str]:
        """As `refresh`, for these pages. Only a look at all pages notes their stamps, in one transaction."""
        with self._store.reading() as tables:
            is_filled, known = read_state(tables).tables == self.filled, read_known_of(tables, paths)
        try:
            edits = read_edits(self._source, known, [Stamp(path, 0, "") for path in paths])
        except SilicaError:  # such as a link in place of a page, which only a list of all pages leaves out
            is_filled = False
        if not is_filled or edits.unreadable:
            return self.refresh(on_change)
        edits.incoming = [replace(each, size=each.page.size) for each in edits.incoming]
        edits.touched, edits.removed = [], [path for path in edits.removed if path in known]
        if changed := edits.changed:
            self.write(edits if on_change(changed) else edits.unknown(), known)
        return changed

    def _take_in(self, stamps: Iterable[Stamp], besides: Collection[str], on_change: OnChange) -> set[str]:
        """Indexes those of these pages that have changed, and returns their paths. `on_change` gets the paths `besides`
        in the same call."""
        _, known = self.all_known()  # again: another thread may have indexed them meanwhile
        stale = [stamp for stamp in stamps if is_stale(known, stamp)]
        paths = {stamp.path for stamp in stale}
        self._being_read |= paths
        try:
            edits = read_edits(self._source, known, stale)
            self.name_unreadable(paths, edits.unreadable)
            changed = edits.changed
            if edited := changed.union(besides):
                edits = edits if on_change(edited) else edits.unknown()
            self.write(edits, known)
        finally:
            self._being_read -= paths
        return changed

    def name_unreadable(self, paths: Collection[str], unreadable: Mapping[str, Unreadable]) -> None:
        """Notes which of these pages cannot be read, and tells of them in the log."""
        for path in unreadable.keys() - self.unreadable.keys():
            logger.warning("the page %r is left out: %s", path, unreadable[path])
        self.unreadable = {p: error for p, error in self.unreadable.items() if p not in paths} | dict(unreadable)

    def all_known(self) -> tuple[State, Mapping[str, Known]]:
        """Every page as it was when last indexed, and the state of the tables then."""
        with self._store.reading() as tables:
            return read_state(tables), self._known.of(tables)

    def write(self, edits: Edits, seen: Mapping[str, Known] | None = None) -> None:
        """Writes and removes pages in one transaction. With `seen`, it skips pages that differ from what was seen:
        another thread or process has stored something newer, which the next refresh will check."""
        if not (edits.incoming or edits.removed or edits.touched):
            return
        prepared = [prepare_page(incoming) for incoming in edits.incoming]  # before the transaction, as it is slow

        def is_seen(path: str) -> bool:
            return seen is None or digest_of(tables, path) == (seen[path].digest if path in seen else None)

        with self._store.writing() as tables:
            before = read_state(tables)
            prepared = [page for page in prepared if is_seen(page.path)]
            removed = [path for path in edits.removed if is_seen(path)]
            changed = [*(page.path for page in prepared), *removed]
            # While many pages are taken in there is no graph that could follow.
            stood = digested(tables, changed) if self.graph.is_of(before) else None
            touched = [(path, known) for path, known in edits.touched if is_seen(path)]
            drop_pages(tables, removed)
            put_pages(tables, prepared)
            tables.executemany(
                "UPDATE pages SET size = ?, mark = ? WHERE path = ?",
                [(known.size, known.mark, path) for path, known in touched],
            )
            graph = None if stood is None else read_change(tables, stood, digested(tables, changed))
            after = raise_state(tables)

        def taken_in(known: dict[str, Known]) -> dict[str, Known]:
            new = known | {page.path: page.known for page in prepared} | dict(touched)
            return {path: known for path, known in new.items() if path not in removed} if removed else new

        self._known.follow(before, after, taken_in)
        if graph is not None:
            self.graph.follow(before, after, graph.applied)


def is_stale(known: Mapping[str, Known], stamp: Stamp) -> bool:
    """Whether a page may have changed since it was indexed."""
    seen = known.get(stamp.path)
    return seen is None or seen.mark != stamp.mark or seen.size != stamp.size


def read_edits(source: PageSource, known: Mapping[str, Known], stamps: Iterable[Stamp]) -> Edits:
    """Reads the pages with these stamps and compares them with what is known."""
    edits = Edits()
    for stamp in stamps:
        path, size, mark = stamp.path, stamp.size, stamp.mark
        try:
            data = source.read(path).data
            # The data is at least as new as the stamp; if it is newer, the next refresh reads the page once more.
            if path in known and known[path].digest == page_digest(data):
                edits.touched.append((path, Known(size, mark, known[path].digest)))
            else:
                page = read_page(path, data)
                edits.incoming.append(IncomingPage(page, size, mark, last_updated(source, page)))
        except PageNotFound:
            edits.removed.append(path)
        except Unreadable as error:
            edits.unreadable[path] = error
            edits.incoming += _empty(path, known)
    return edits


def _empty(path: str, known: Mapping[str, Known]) -> list[IncomingPage]:
    """A page that cannot be read, as the index has it: without text, and read again by each refresh."""
    page = read_page(path, b"")
    if path in known and known[path] == Known(0, "", page_digest(page.data)):
        return []
    return [IncomingPage(page, 0, "", datetime.fromtimestamp(0, UTC))]


def last_updated(source: PageSource, page: Page) -> datetime:
    """When a page was last changed, by its own metadata or else by the source."""
    try:
        return page.last_updated or source.get_modified_time(page.path)
    except PageNotFound:  # removed meanwhile, as the next refresh will find
        return datetime.fromtimestamp(0, UTC)
