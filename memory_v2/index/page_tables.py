"""The tables of the pages: kept in step with the pages, read as their graph, and done without when they have failed.

Pages whose stamps have changed are read again and compared. Answers from the pages themselves are slow and simple.
"""

from __future__ import annotations

import json
import logging
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from memory_v2.errors import PageNotFound, SilicaError, Unreadable
from memory_v2.index.base import Hit, PageRow, PageSource
from memory_v2.index.line_dates import LineDates
from memory_v2.index.places import packed
from memory_v2.index.rows import IncomingPage, Known, page_digest, prepare_page
from memory_v2.index.store import IndexStore
from memory_v2.index.tables import (
    LINK_BITS,
    LINKS_OF,
    CachedValue,
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
from memory_v2.text.days import Calendar
from memory_v2.tree.block import readable, split_lines
from memory_v2.tree.graph import Edge, Graph, Node
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import fold

MANY = 4
"""If more than one of so many pages have changed, the graph is read anew."""

_LINKS = f"SELECT path, target, label, child FROM pages CROSS JOIN links ON {LINKS_OF}"
"""CROSS JOIN reads the pages first. SQLite would else read all links once for each page."""


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link as the tables have it: `target` is the folded path of a page, which need not exist."""

    source: str
    target: str
    label: str
    child: int


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """The graph, and what tells which pages have changed since: each with its digest, as `digested` has them."""

    graph: Graph
    pages: frozenset[str]


@dataclass(frozen=True, slots=True)
class GraphChange:
    """The pages that have changed, `None` for a removed one, and all links from the pages `linking`; and those changed
    as `digested` had them `before` and has them `now`."""

    pages: dict[str, Node | None]
    linking: Collection[str]
    links: Collection[LinkRow]
    before: frozenset[str]
    now: frozenset[str]

    def applied(self, kept: KeptGraph) -> KeptGraph:
        """The graph after the change."""
        graph = kept.graph.changed(self.pages, {})
        edges = _edges(self.links, graph)
        graph = graph.changed({}, {source: edges.get(source, ()) for source in self.linking})
        return KeptGraph(graph, kept.pages - self.before | self.now)


def read_graph(tables: sqlite3.Connection) -> KeptGraph:
    """The pages and their links, as `tree.graph.build_graph` makes them of the pages themselves."""
    rows = tables.execute("SELECT path, size, title FROM pages ORDER BY path")
    nodes = Graph({path: Node(path, size, title) for path, size, title in rows}, {})
    links = _edges(_read_links(tables, f"{_LINKS} ORDER BY links.id"), nodes)
    return KeptGraph(Graph(nodes.pages, links), digested(tables))


def read_graph_again(tables: sqlite3.Connection, kept: KeptGraph) -> KeptGraph:
    """The same, from that of older tables: a tenth of the work if few pages have changed."""
    now = digested(tables)
    unknown = frozenset(page for page in now if page.startswith("/"))  # they have no digest that could change
    before, after = kept.pages - now | (unknown & kept.pages), now - kept.pages | unknown
    if len(before | after) > len(now) // MANY:
        return read_graph(tables)
    return read_change(tables, before, after).applied(kept)


def digested(tables: sqlite3.Connection, paths: Collection[str] | None = None) -> frozenset[str]:
    """All pages, or these as far as they are indexed: the digest of each before its path."""
    some = "" if paths is None else "WHERE path IN (SELECT value FROM json_each(:paths))"
    asked = f"SELECT json_group_array(hex(digest) || '/' || path) FROM pages {some}"
    return frozenset(json.loads(tables.execute(asked, {"paths": packed(paths or ())}).fetchone()[0]))


def read_change(tables: sqlite3.Connection, before: frozenset[str], now: frozenset[str]) -> GraphChange:
    """What has changed on pages that were digested so `before` and are `now`. To those that have come or gone, other
    pages may link."""
    had, has = ({page.partition("/")[2] for page in pages} for pages in (before, now))
    rows = tables.execute(
        "SELECT path, size, title FROM pages WHERE path IN (SELECT value FROM json_each(?))", (packed(has),)
    )
    pages: dict[str, Node | None] = dict.fromkeys(had)
    pages |= {path: Node(path, size, title) for path, size, title in rows}
    linking = {path for path, node in pages.items() if node}
    if keys := [fold(path) for path in had ^ has]:
        target_in = "target IN (SELECT value FROM json_each(?))"
        asked = f"SELECT DISTINCT path FROM links JOIN pages ON pages.id = links.id >> {LINK_BITS} WHERE {target_in}"
        linking |= {path for (path,) in tables.execute(asked, (packed(keys),))}
    asked = f"{_LINKS} WHERE path IN (SELECT value FROM json_each(?)) ORDER BY links.id"
    return GraphChange(pages, linking, _read_links(tables, asked, packed(linking)), before, now)


def _read_links(tables: sqlite3.Connection, query: str, *given: object) -> list[LinkRow]:
    return [LinkRow(*row) for row in tables.execute(query, given)]


def _edges(links: Iterable[LinkRow], graph: Graph) -> dict[str, tuple[Edge, ...]]:
    """The edges from each source: one for each target."""
    found: dict[str, dict[str, Edge]] = {}
    for link in links:
        target = graph.known.get(link.target)
        if target and target != link.source:
            edge = Edge(link.source, target, link.label, bool(link.child))
            found.setdefault(link.source, {}).setdefault(target, edge)
    return {source: tuple(edges.values()) for source, edges in found.items()}


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

    def __init__(self, source: PageSource, store: IndexStore, written: LineDates) -> None:
        self._source = source
        self._store = store
        self._written = written
        self.filled = b""
        """`State.tables` of the tables that have been filled with all pages."""
        self._being_read: set[str] = set()
        """Paths that some thread is reading now. A hint: threads that refresh at the same time share the work."""
        self.unreadable: dict[str, Unreadable] = {}
        """The pages that the last refresh could not read. They are in the index without their text."""
        self._known = CachedValue(read_known)
        self.graph = CachedValue(read_graph, read_graph_again)

    def refresh(self, on_change: OnChange, but: Collection[str] = ()) -> set[str]:
        """Looks at all pages that are not in `but`, and returns the paths of those that have changed. Raises
        `Unreadable` if none can be read."""
        state, known = self.all_known()
        stamps = list(self._source.stamps())
        stale = [stamp for stamp in stamps if is_stale(known, stamp) and stamp.path not in but]
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


_WORD = re.compile(r"\w+")


def read_pages(source: PageSource) -> tuple[list[Page], dict[str, Unreadable]]:
    """Every page, sorted by path, and those that cannot be read: they are among the pages, without their text."""
    pages: list[Page] = []
    unreadable: dict[str, Unreadable] = {}
    for path in sorted(stamp.path for stamp in source.stamps()):
        try:
            pages.append(read_page(path, source.read(path).data))
        except PageNotFound:  # removed meanwhile
            continue
        except Unreadable as error:
            unreadable[path] = error
            pages.append(read_page(path, b""))
    return pages, unreadable


def find_words(
    pages: Iterable[Page], query: str, limit: int, within: Collection[str] | None, calendar: Calendar
) -> list[Hit]:
    """The blocks that have most words of a query, to the letter but for case; best first."""
    asked = frozenset(_words(query))
    found = (hit for page in pages if within is None or page.path in within for hit in _hits(page, asked, calendar))
    return sorted(found, key=lambda hit: (-hit.score, hit.path, hit.first_line))[:limit]


def find_same(pages: Iterable[Page], texts: Iterable[str]) -> dict[str, tuple[str, int]]:
    """The page and block of each of these texts that is in the tree already, regardless of spacing and case."""
    said: dict[str, tuple[str, int]] = {}
    for page in pages:
        for number, block in enumerate(page.blocks, 1):
            said.setdefault(" ".join(_words(block.text)), (page.path, number))
    return {text: said[plain] for text in texts if (plain := " ".join(_words(text))) in said and plain}


def page_day(pages: Iterable[Page], path: str, calendar: Calendar) -> date | None:
    """The day of the last change of a page, according to its metadata."""
    moment = next((page.last_updated for page in pages if page.path == path), None)
    return min(calendar.day(moment), calendar.today) if moment else None


def list_rows(source: PageSource, pages: Iterable[Page]) -> list[PageRow]:
    """The rows of these pages."""
    return [PageRow(page.path, page.title, page.size, last_updated(source, page)) for page in pages]


def _hits(page: Page, asked: frozenset[str], calendar: Calendar) -> Iterator[Hit]:
    line = 1
    for number, block in enumerate(page.blocks, 1):
        text = readable(block.content)
        first = line + len(split_lines(block.text[: block.text.find(block.content)]))
        line += len(split_lines(block.text))
        if matched := asked.intersection(_words(text)):
            last, day = first + len(split_lines(text)) - 1, page_day([page], page.path, calendar)
            score = len(matched) / len(asked)
            yield Hit(page.path, number, first, last, text, score, day, (), ", ".join(sorted(matched)))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
