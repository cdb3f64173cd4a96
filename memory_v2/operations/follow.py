"""Links follow pages: those that an operation moves, and those that were renamed by hand."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import datetime

from memory_v2.errors import StorageError
from memory_v2.operations.draft import Draft, page_above, relinked
from memory_v2.storage.base import stored_page
from memory_v2.storage.history import EXTERNAL, History
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, page_source, read_page
from memory_v2.tree.path import TakenPaths, child_path, fold, is_page_path

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
