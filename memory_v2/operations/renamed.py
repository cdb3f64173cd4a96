"""Pages that were renamed by hand: the same bytes went away in one place and came in another."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime

from memory_v2.errors import StorageError
from memory_v2.operations.draft import Draft, page_above, relinked
from memory_v2.storage.base import stored_page
from memory_v2.storage.history import EXTERNAL, History
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import fold

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
