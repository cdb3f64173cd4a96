"""The tree as one operation sees it: each page is read once, changes are staged, and nothing is stored before the
commit. Where a text came from is staged too, and links follow pages: those that an operation moves, and those that were
renamed by hand."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from memory_v2.errors import (
    NotAllowed,
    PageExists,
    PageNotFound,
    StorageConflict,
    StorageError,
    ToolProblem,
    Unreadable,
)
from memory_v2.operations.context import Context
from memory_v2.storage.base import Stored, stored_page
from memory_v2.storage.history import EXTERNAL, History, PageChange
from memory_v2.text.words import composed
from memory_v2.trace.recording import digest
from memory_v2.tree.block import Block
from memory_v2.tree.graph import Graph, edges_of, node_of
from memory_v2.tree.merged import conflicts, is_torn, tidied
from memory_v2.tree.page import Page, new_page, page_source, read_page
from memory_v2.tree.path import ROOT, TakenPaths, child_path, fold, is_entry, is_page_path, link_key, prefixes
from memory_v2.tree.source import NO_SOURCE, NO_TEXT, Source
from memory_v2.tree.source_lines import gathered, left_days, of_one_source, signed, signed_each, with_days


class Draft:
    """One operation's view of the tree. `page` returns the staged page, or the page as it was first read."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.read: dict[str, Stored | None] = {}
        self.staged: dict[str, Page | None] = {}
        self.beside: list[PageChange] = []
        """Changes of entries, which are stored together with the pages and are none."""
        self._pages: dict[str, Page] = {}
        self._listed: frozenset[str] | None = None
        self._new = TakenPaths(())

    def page(self, path: str) -> Page:
        """The page; raises `PageNotFound`."""
        page = self.find(path)
        if page is None:
            raise PageNotFound(path)
        return page

    def find(self, path: str) -> Page | None:
        """The page, or `None`."""
        return self.staged[path] if path in self.staged else self._stored(path)

    def written(self) -> list[tuple[str, Page]]:
        """The staged pages that are not removed, by path."""
        return [(path, page) for path, page in self.staged.items() if page is not None]

    def look_again(self, path: str) -> None:
        """Reads a page anew when it is next asked for, unless it is staged: others may have changed it meanwhile, which
        matters only to what is staged of it from now on."""
        if path not in self.staged:
            self.read.pop(path, None)
            self._pages.pop(path, None)

    def exists(self, path: str) -> bool:
        """Whether there is such a page, even if it cannot be read."""
        try:
            return self.find(path) is not None
        except Unreadable:
            return True

    def find_readable(self, path: str) -> Page | None:
        """The page, or `None` also if it cannot be read."""
        try:
            return self.find(path)
        except Unreadable:
            return None

    def before(self, path: str) -> Page | None:
        """The page as it was when this operation first read it."""
        return self._stored(path)

    def paths(self) -> frozenset[str]:
        """The paths of all pages, including the staged changes."""
        if self._listed is None:
            self._listed = frozenset(self.context.index.graph().pages)
        gone = {path for path, page in self.staged.items() if page is None}
        return (self._listed - gone) | (self.staged.keys() - gone)

    def forget_paths(self) -> None:
        """Makes `paths` ask the index again: others may have added pages."""
        self._listed = None

    def put(self, page: Page) -> None:
        """Stages a page. Raises `PageExists` for a new one whose path differs from another only in case, and
        `NotAllowed` if conflicts of a merge stand where the sections of the stored page should be, and would stay."""
        if page.path not in self.staged and page.path not in self.read:
            self.expect_absent(page.path)
        stored = self.before(page.path)
        if stored and stored.text != page.text and is_torn(stored) and any(conflicts(page.text)):
            raise NotAllowed(
                f"a merge has left two versions of ## Links or ## Metadata in {page.path!r}, and 'silica memory check "
                "--apply' cannot tell which counts; keep that one by hand, without the marks, then try again"
            )
        if self.find(page.path) is None and (taken := self._clash(page.path)):
            hint = f"; rename {taken}.md to {ROOT}.md, and it is the root" if page.path == ROOT else ""
            raise PageExists(f"{page.path!r} would be the same as {taken!r} on a disk that ignores case{hint}")
        self.staged[page.path] = page.told_apart(self.context.now())
        self._new.add(page.path)

    def spelled(self, path: str) -> str | None:
        """The page with this path, whatever its case, in the spelling of the page; `None` if there is none."""
        staged = TakenPaths(path for path, _ in self.written()).page(path)
        stored = self.context.index.graph().known.get(fold(path))
        return staged or (stored if stored not in self.staged else None)

    def is_taken(self, path: str) -> bool:
        """Whether there is such a page, or one from which it differs only in case, as on some disks."""
        return self.spelled(path) is not None or self._clash(path) is not None

    def _clash(self, path: str) -> str | None:
        if None in self.staged.values():  # a path that a removed page has may be free
            return TakenPaths(self.paths()).clash(path)
        return self.context.index.graph().taken.clash(path) or self._new.clash(path)

    def take(self, change: PageChange) -> None:
        """Stages a change of a page or an entry, byte for byte. Raises `StorageConflict` if it is not as it was before
        the change."""
        if is_entry(change.path):
            now = stored_page(self.context.storage, change.path)
            self.beside.append(change)
        else:
            self.before(change.path)
            now = self.read[change.path]
            self.staged[change.path] = None if change.after is None else read_page(change.path, change.after)
        if (now.data if now else None) != change.before:
            raise StorageConflict(f"{change.path!r} has changed since")

    def expect_absent(self, path: str) -> None:
        """Raises `StorageConflict` if there is a page that this operation has never looked at, and would overwrite."""
        if self.before(path) is not None:
            self.context.freshness.expire()  # the index does not know of it yet
            raise StorageConflict(f"the page {path!r} was created by somebody else meanwhile")

    def expect_unchanged(self, paths: Iterable[str]) -> None:
        """Raises `StorageConflict` if one of these pages has changed since this operation read it."""
        for path in paths:
            if stored_page(self.context.storage, path) != self.read.get(path):
                raise StorageConflict(f"the page {path!r} is no longer as it was when it was read")

    def block_count(self, path: str) -> int:
        """The number of blocks on a page; 0 if it does not exist."""
        page = self.find(path)
        return len(page.blocks) if page else 0

    def note_read(self, path: str) -> None:
        """Records the digest of a page in the trace, without parsing the page."""
        reads = self.context.operation.trace.reads
        if path not in reads:
            with suppress(PageNotFound, Unreadable):
                reads[path] = digest(self.context.storage.read(path).data)

    def remove(self, path: str) -> None:
        """Stages the removal of a page."""
        self.page(path)
        self.staged[path] = None

    def graph(self) -> Graph:
        """The pages and their links, including the staged changes."""
        stored = self.context.index.graph()
        if not self.staged:
            return stored
        staged = stored.changed({path: node_of(page) if page else None for path, page in self.staged.items()}, {})
        return staged.changed({}, {path: edges_of(page, staged.known) for path, page in self.staged.items() if page})

    def unreachable(self, graph: Graph | None = None) -> frozenset[str]:
        """The pages to which no link leads from the root, including the staged changes, or in this graph; none while a
        page cannot be read, since that one may lead to them."""
        unknown = self.context.index.unreadable or self.context.storage.unlisted_folders()
        return frozenset() if unknown else frozenset((graph or self.graph()).unreachable)

    def _stored(self, path: str) -> Page | None:
        if path not in self.read:
            reads = self.context.operation.trace.reads
            try:
                self.read[path] = stored = self.context.storage.read(path)
                self._pages[path] = tidied(read_page(path, stored.data))
                reads.setdefault(path, digest(stored.data))
            except PageNotFound:
                self.read[path] = None
                reads.setdefault(path, "")
        return self._pages.get(path)


def known_page(draft: Draft, path: str) -> Page:
    """The page that a model asks for, whatever the case of the path. Raises `ToolProblem` if there is none."""
    known = draft.spelled(composed(path.strip()))
    try:
        page = draft.find(known) if known else None
    except Unreadable as error:
        raise ToolProblem(f"the page {known!r} cannot be read now; ask for other pages") from error
    if page is None:
        raise ToolProblem(f"there is no page {path[:80]!r}; ask for pages that you were shown")
    return page


def page_above(draft: Draft, path: str, besides: AbstractSet[str] = frozenset()) -> str:
    """The nearest page above this path, except those in `besides`; the root if there is none."""
    above = [p for p in prefixes(path)[:-1] if p not in besides and draft.exists(p)]
    return above[-1] if above else ROOT


def leads_to(graph: Graph, path: str, among: Collection[str]) -> set[str]:
    """A page, and those among these that links from it lead to, by way of each other."""
    reached, queue = {path}, [path]
    for page in queue:
        new = {edge.target for edge in graph.links.get(page, ()) if edge.target in among} - reached
        reached |= new
        queue += new
    return reached


def link_orphans(draft: Draft, among: AbstractSet[str] | None = None) -> None:
    """Lists each unreachable page, or those `among` these, on the nearest reachable page above it, unless another such
    page leads to it. Makes the root if there is none."""
    graph = draft.graph()
    lost = set(draft.unreachable(graph))  # a page that others make meanwhile is in another one
    if lost and not draft.exists(ROOT):
        draft.put(new_page(ROOT, "Memory"))
    listed: dict[str, list[str]] = {}
    for orphan in sorted(lost if among is None else lost & among, key=lambda path: (path.count("/"), path)):
        if orphan in lost:
            listed.setdefault(page_above(draft, orphan, lost), []).append(orphan)
            lost -= leads_to(graph, orphan, lost)
    for parent, orphans in listed.items():
        for orphan in orphans:
            draft.note_read(orphan)
        draft.put(draft.page(parent).with_children((orphan, graph.pages[orphan].title) for orphan in orphans))


def relinked(page: Page, moved: dict[str, str]) -> Page:
    """The page with each link to one of `moved` (folded path → new path) pointing to the new path."""
    return page.map_links(lambda link: link.to(moved[link.key]) if link.key in moved else None)


def unlinked(page: Page, gone: frozenset[str]) -> Page:
    """The page without links to the pages `gone` (folded paths). Lines of `## Links` are removed; in the text, the
    words of a link stay."""
    page = page.without_children(lambda child: link_key(child.target) in gone)
    return page.map_links(lambda link: link.unlinked() if link.key in gone else None)


def name_source(draft: Draft, source: Source, replaced: str = "") -> None:
    """Stages the source of a text on each staged page: in the metadata of a page that has nothing else, which is a new
    one or the one that is `replaced`; on the root, and on any other page, in a line behind the text. Text without a
    source gets the day on which it is written, if else it would seem to be from the source of its page. The day in the
    metadata of a page is that of the text that came with it, so later text of a day that is past has a line too; and so
    has text below a heading that was there and names earlier days."""
    now = draft.context.now()
    today = draft.context.calendar.day(now)
    for path, page in draft.written():
        before, has = draft.before(path), page_source(page)
        is_later = before is not None and has.day == source.day and source.day not in (None, today)
        is_new = before is None or path == replaced
        if is_new and path != ROOT and not is_later:
            if source or has:
                draft.put(page.stamped(now, **source.properties))
            continue
        told = source or (Source(day=today) if has else source)
        was = before.blocks if before and not is_new else page.blocks[: page.top]
        late = replace(told, day=told.day or today)
        named = signed(page, was, NO_SOURCE if told == has and not is_later else told, late)
        if named is not page:
            draft.put(named)


def name_sources(draft: Draft, source_of: Callable[[Block], Source]) -> None:
    """Stages a line behind each text that is new on a staged page, which names its source."""
    for path, page in draft.written():
        before = draft.before(path)
        was = before.blocks if before else page.blocks[: page.top]
        named = signed_each(page, was, lambda _, block: source_of(block))
        if named is not page:
            draft.put(named)


def keep_sources(draft: Draft, divided: Page) -> None:
    """Stages the sources of the text of a page that was divided, on each staged page that has some of it. A new page
    has the day of the page that was divided, which it may know from its front matter or its path, and that of a heading
    that did not come along."""
    now, source = draft.context.now(), Source(page_source(divided).name, divided.said_on)
    whole = divided.stamped(now, **source.properties) if source else divided
    new = (page for path, page in draft.written() if draft.before(path) is None)
    parts = [page for page in new if page.piece is None and _has_text(page)]
    days_of = dict(zip((part.path for part in parts), left_days(divided, parts), strict=True))
    for path, page in draft.written():
        before = draft.before(path)
        if before is None:
            own = Source(source.name, page_source(page).day or source.day)
            kept = page.stamped(now, **own.properties) if own else page
            if path in days_of:
                kept, days = gathered(kept, [whole]), days_of[path]
                kept = of_one_source(with_days(kept, days) if any(days) else kept)
        elif page.piece is not None:
            continue
        else:
            kept = gathered(page, [divided] if path == divided.path else [before, divided])
        if kept is not draft.staged[path]:
            draft.put(kept)


def _has_text(page: Page) -> bool:
    """Whether a page has text of its own: one that only lists the pieces of a large block has none."""
    return any(block.kind not in NO_TEXT for block in page.blocks[page.top :])


MAX_MOVED = 300
"""Limits the pages that a split moves and changes because children follow their new parent: a rename of more takes
seconds, and nobody has asked for it."""


def move_pages(draft: Draft, moved: dict[str, str]) -> None:
    """Stages these pages at their new paths (old → new), and the links to them. Raises `StorageConflict` if a page has
    come to a new path since the index looked."""
    pages = [draft.page(source) for source in moved]
    for target in moved.values():
        if target not in moved:
            draft.expect_absent(target)
    for source in moved:
        draft.remove(source)
    for page in pages:
        draft.staged[moved[page.path]] = replace(page, path=moved[page.path])
    turn_links(draft, moved)


def turn_links(draft: Draft, moved: dict[str, str]) -> None:
    """Points every link to a moved page to its new path."""
    keys = {fold(old): new for old, new in moved.items()}
    for source in linking(draft, moved.keys()) | {new for new in moved.values() if draft.find(new) is not None}:
        if draft.find(source) is not None:
            draft.put(relinked(draft.page(source), keys))
    links = draft.context.index.graph().links
    for edge in (edge for source in moved for edge in links.get(source, ())):
        if (child := draft.find(moved.get(edge.target, edge.target))) is not None:
            came_from = child.properties.get("split_from", "")
            if came_from in moved:
                draft.put(child.stamped(draft.context.now(), split_from=moved[came_from]))


def follow_parent(draft: Draft, parent: str, new_parent: str, listed: Iterable[str]) -> None:
    """Stages the children that `parent` has listed, and `new_parent` lists now, below its path, with the pages below
    them. A child keeps its path if that is not the parent's with a name behind it, if it is its source's, if the new
    one is taken or no path, or if too many pages would change."""
    for target in listed:
        known = draft.context.index.graph().taken.page(target)
        if known is None or draft.find(known) is None or page_source(draft.page(known)).name:
            continue
        name = known.rsplit("/", 1)[-1]
        if known != child_path(parent, name) or f"{new_parent}/".startswith(f"{known}/"):
            continue
        below = [path for path in draft.paths() if path == known or path.startswith(f"{known}/")]
        moved = {path: child_path(new_parent, name) + path[len(known) :] for path in below}
        others = TakenPaths(draft.paths() - moved.keys())
        if all(is_page_path(path) and path not in others for path in moved.values()) and _is_cheap(draft, moved):
            move_pages(draft, moved)


def _is_cheap(draft: Draft, moved: Collection[str]) -> bool:
    sources = draft.context.index.graph().sources
    changed = {*moved, *(source for path in moved for source in sources.get(path, ()))}
    return len(changed | draft.staged.keys()) <= MAX_MOVED and not changed & draft.context.index.unreadable.keys()


def linking(draft: Draft, paths: Collection[str]) -> set[str]:
    """The pages that link to one of these paths, as stored or as staged."""
    keys, sources = {fold(path) for path in paths}, draft.context.index.graph().sources
    stored = {source for path in paths for source in sources.get(path, ()) if draft.find(source) is not None}
    return stored | {path for path, page in draft.written() if any(link.key in keys for link, _ in page.found_links)}


logger = logging.getLogger(__name__)


def renamed_by_hand(history: History, known: Collection[str]) -> dict[str, str]:
    """Where pages that are gone are now, by the edits by hand in the history: folded old path → one of the `known`
    paths. A page whose bytes came in more than one place is left out."""
    keys = {fold(path): path for path in known}
    came: dict[bytes, set[str]] = {}
    moved: dict[str, str] = {}
    try:
        for revision in history.revisions() if history.begun else ():
            if revision.kind != EXTERNAL or revision.is_first:
                continue
            changes = history.difference(history.before(revision.id), revision.id)
            for change in changes:
                now = keys.get(fold(change.path)) or moved.get(fold(change.path))
                if change.before is None and change.after is not None and now:
                    came.setdefault(change.after, set()).add(now)
            for change in changes:
                places = came.get(change.before or b"", set())
                if change.after is None and len(places) == 1 and fold(change.path) not in keys:
                    moved.setdefault(fold(change.path), next(iter(places)))
    except StorageError as error:
        logger.warning("the history could not be asked for pages that were renamed by hand: %s", error)
    return moved


def follow_renamed(draft: Draft, path: str) -> None:
    """Stages the links to pages that were renamed by hand, if `path` may be one of them: it is out of reach, or it is
    listed above and is gone. Otherwise it costs nothing; then it reads the history and all pages."""
    if not _may_be_renamed(draft, path):
        return
    known = {fold(there) for there in draft.paths()}
    moved = renamed_by_hand(draft.context.storage.history, draft.paths())
    moved = {old: new for old, new in moved.items() if old not in known}
    for source in sorted(draft.paths() - draft.context.index.unreadable.keys()) if moved else ():
        stored = stored_page(draft.context.storage, source)
        if stored and any(link.key in moved for link, _ in read_page(source, stored.data).found_links):
            draft.put(followed(draft.page(source), moved, draft.context.now()))


def _may_be_renamed(draft: Draft, path: str) -> bool:
    if draft.exists(path):
        return path in draft.unreachable()
    above = draft.find(page_above(draft, path))
    return above is not None and any(link_key(child.target) == fold(path) for child in above.children)


def followed(page: Page, moved: dict[str, str], now: datetime) -> Page:
    """The page with its links, and the page that it was split from, where they are now."""
    page = relinked(page, moved)
    origin = moved.get(fold(page.properties.get("split_from", "")))
    return page.stamped(now, split_from=origin) if origin else page
