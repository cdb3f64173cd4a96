"""Pages that were renamed by hand: the same bytes went away in one place and came in another."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime

from memory_v2.errors import StorageError
from memory_v2.operations.draft import relinked
from memory_v2.storage.history import EXTERNAL, History
from memory_v2.tree.page import Page
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


def followed(page: Page, moved: dict[str, str], now: datetime) -> Page:
    """The page with its links, and the page that it was split from, where they are now."""
    page = relinked(page, moved)
    origin = moved.get(fold(page.properties.get("split_from", "")))
    return page.stamped(now, split_from=origin) if origin else page
