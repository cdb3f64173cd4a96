"""Links follow pages: those that an operation moves, and those that were renamed by hand."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from memory_v2.errors import NotAllowed, StorageError
from memory_v2.operations.draft import Draft, page_above, relinked
from memory_v2.operations.write import describe_again
from memory_v2.storage.base import stored_page
from memory_v2.storage.history import EXTERNAL, History
from memory_v2.tree.exact import is_bare
from memory_v2.tree.headings import REPEATED
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import TakenPaths, child_path, fold, is_page_path
from memory_v2.tree.source import is_source_line, page_source
from memory_v2.tree.titles import RULES_BELOW, TITLE_LEVEL, repeated_headings, section_blocks

MAX_MOVED = 300
"""Limits the pages that a split moves and changes because children follow their new parent: a rename of more takes
seconds, and nobody has asked for it."""


def move_pages(draft: Draft, moved: dict[str, str]) -> None:
    """Stages these pages at their new paths (old → new), and the links to them."""
    pages = [draft.page(source) for source in moved]
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
        moved = _below(draft, known, child_path(new_parent, name))
        others = TakenPaths(draft.paths() - moved.keys())
        if all(is_page_path(path) and path not in others for path in moved.values()) and _is_cheap(draft, moved):
            move_pages(draft, moved)


def _below(draft: Draft, old: str, new: str) -> dict[str, str]:
    """The page and those below it, each with its new path."""
    return {p: new + p[len(old) :] for p in draft.paths() if p == old or p.startswith(f"{old}/")}


def _is_cheap(draft: Draft, moved: Collection[str]) -> bool:
    sources = draft.context.index.graph().sources
    changed = {*moved, *(source for path in moved for source in sources.get(path, ()))}
    return len(changed | draft.staged.keys()) <= MAX_MOVED and not changed & draft.context.index.unreadable.keys()


def linking(draft: Draft, paths: Collection[str]) -> set[str]:
    """The pages that link to one of these paths, as stored or as staged."""
    keys, sources = {fold(path) for path in paths}, draft.context.index.graph().sources
    stored = {source for path in paths for source in sources.get(path, ()) if draft.find(source) is not None}
    staged = ((path, page.found_links) for path, page in draft.staged.items() if page is not None)
    return stored | {path for path, links in staged if any(link.key in keys for link, _ in links)}


Find = Callable[[str], Page | None]


class Changed(Exception):
    """The page of a document was changed here since it was brought in."""


@dataclass(frozen=True, slots=True)
class Divided:
    """A page with the pages that were split off it. `groups` only list pages, and hold no text."""

    pages: tuple[Page, ...]
    groups: tuple[Page, ...] = ()

    @property
    def text(self) -> Counter[str]:
        """How often each block stands on them, however it was divided."""
        counted: Counter[str] = Counter()
        first = self.pages[0]
        for page in self.pages:
            blocks = [block for block in section_blocks(page) if not is_source_line(block)]
            if page is not first and page.top and TITLE_LEVEL not in page.properties:
                blocks.remove(page.blocks[page.top - 1])  # the split has made it
            counted.update(block.content for block in blocks)
            counted.subtract(block.content for block in repeated_headings(page))
        return +counted


def divided(path: str, find: Find) -> Divided | None:
    """The page with what was split off it, which has the same source; `None` if there is no such page."""
    if (first := find(path)) is None:
        return None
    source = page_source(first).name
    seen, queue = {fold(path): first}, [first]
    groups: list[Page] = []
    while queue:
        page = queue.pop(0)
        for link, is_child in page.found_links:
            if (key := link.key) is None or key in seen or (below := find(link.target.strip())) is None:
                continue
            split_off = "split_from" in below.properties and is_child
            is_group = split_off and is_bare(below)
            if is_group or _holds_pieces(below) or (split_off and page_source(below).name == source):
                seen[key] = below
                queue.append(below)
                groups += [below] if is_group else []
    kept = {fold(group.path) for group in groups}
    return Divided(tuple(page for key, page in seen.items() if key not in kept), tuple(groups))


def _holds_pieces(page: Page) -> bool:
    """Whether a page is a piece of a large block, or lists the pieces."""
    return page.piece is not None or any(child.target.startswith(f"{page.path}/part-") for child in page.children)


def at(history: History, revision: str) -> Find:
    """Finds pages as they were after a revision."""

    def find(path: str) -> Page | None:
        data = history.read(revision, path)
        return None if data is None else read_page(path, data)

    return find


def is_changed(path: str, now: Find, then: Find) -> bool:
    """Whether the text of a page, with what was split off it, is no longer what it was."""
    here, left = divided(path, now), divided(path, then)
    return here is None or left is None or here.text != left.text


def follow(draft: Draft, path: str, left: str, page: Page) -> None:
    """Stages the text of `page` in place of what the last import left on it, after the revision `left`, and on the
    pages that were split off it, which go. Raises `Changed` if the page is not as it was left."""
    history = draft.context.storage.history
    here = divided(path, draft.find)
    if here is None:
        raise Changed("its page was deleted meanwhile")
    try:
        if is_changed(path, draft.find, at(history, left)):
            raise Changed("its page was changed here meanwhile")
    except NotAllowed as error:
        raise StorageError(f"the history cannot tell how {path!r} was: {error}") from error
    old, *split_off = here.pages
    gone = {one.path for one in split_off}
    for group in reversed(here.groups):  # those below others first
        if all(link_key(child.target) in {fold(one) for one in gone} for child in group.children):
            gone.add(group.path)
    keys = {fold(one) for one in gone}
    listed = {link_key(child.target) for child in old.children}
    lines = [
        child.line
        for one in (*split_off, *here.groups)
        if one.path in gone
        for child in one.children
        if (key := link_key(child.target)) not in keys and key not in listed
    ]
    cleared = dict.fromkeys((REPEATED, TITLE_LEVEL, RULES_BELOW), "")
    made = page.with_sections_of(old).without_children(lambda child: link_key(child.target) in keys).with_lines(lines)
    draft.put(made.stamped(draft.context.now(), **cleared))
    for one in sorted(gone):
        draft.remove(one)
    turn_links(draft, dict.fromkeys(gone, path))
    describe_again(draft, old, draft.page(path).blocks)


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
