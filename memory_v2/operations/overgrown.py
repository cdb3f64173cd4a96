"""Splitting overgrown pages after an operation, and their children too, until no page is overgrown."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memory_v2.agent.operation import operation
from memory_v2.errors import Cancelled, NotRecorded, PageNotFound, SilicaError, StorageConflict, StorageError
from memory_v2.models.base import Model
from memory_v2.operations.context import Context, overgrown
from memory_v2.operations.results import SplitResult
from memory_v2.progress import tell_progress
from memory_v2.storage.base import stored_page
from memory_v2.tree.page import read_page
from memory_v2.tree.path import ROOT

logger = logging.getLogger(__name__)

MAX_DECISIONS = 2
"""How often a model decides about one page while others keep changing it. Then the planner decides, under the lock."""
QUICK_PAGES = 8
"""Up to how many pages' worth of text the planner divides under the lock at once: that takes it milliseconds, and
nobody is then faster."""
MAX_CONFLICTS = 8
"""How many conflicts are allowed for one page before its split is left for later."""


def split_overgrown(context: Context, besides: Iterable[str] = ()) -> tuple[list[SplitResult], str]:
    """Splits the pages that the operation has left overgrown, the overgrown ones among `besides`, and those that a
    split leaves overgrown.

    Returns the splits in order and, if a page could not be split, the reason. That does not raise an error, because the
    operation before it has been stored.
    """
    with context.note.splitting() as unsplit:
        try:
            return _split_all(context, [*context.note.overgrown, *besides], unsplit)
        finally:
            if context.note.overgrown:  # they stay as they are, and the index lacks their text
                context.freshness.expire()


def _split_all(context: Context, paths: Iterable[str], unsplit: list[str]) -> tuple[list[SplitResult], str]:
    done: list[SplitResult] = []
    problem = ""
    queue = deque(dict.fromkeys(paths))
    conflicts: Counter[str] = Counter()
    while queue:
        path = queue.popleft()
        try:
            size = _overgrown_size(context, path)
            is_quick = context.model is context.planner and size <= QUICK_PAGES * context.threshold
            at_once = is_quick or conflicts[path] >= MAX_DECISIONS
            if not size or (result := (_split_at_once if at_once else _split)(context, path)) is None:
                continue
        except Cancelled:
            unsplit.append(path)
            return done, "it was cancelled before all pages were split; the others are split on next use"
        except PageNotFound:  # removed meanwhile
            continue
        except NotRecorded:  # a replay must report what its recording lacks
            raise
        except SilicaError as error:
            if isinstance(error, StorageConflict):
                context.operation.trace.add("conflict", error=str(error))
                conflicts[path] += 1
                if conflicts[path] <= MAX_CONFLICTS:
                    queue.appendleft(path)
                    continue
            if isinstance(error, StorageError):  # it may work later: with more room on the disk, or without conflicts
                unsplit.append(path)
            logger.info("the page %s could not be split: %s", path, error)
            problem = f"the page {path!r} could not be split: {error}"
            continue
        done.append(result)
        tell_progress("pages split", len(done))
        queue.extend(p for p in result.changed_pages if p in context.note.overgrown and p not in queue)
    return done, problem


def _split(context: Context, path: str, models: Sequence[Model] | None = None) -> SplitResult:
    """Splits a page; see `split`."""
    from memory_v2.operations.split import split  # 10 ms of start-up, not for those who split nothing

    return split(context, path, models)


def _split_at_once(context: Context, path: str) -> SplitResult | None:
    """Splits a page by the planner's decision, which needs no model request, under the lock. `None` if it is not
    overgrown."""
    with context.storage.lock():
        return _split_by_the_planner(context, path) if _overgrown_size(context, path) else None


def _split_by_the_planner(context: Context, path: str) -> SplitResult:
    """Splits a page by the planner's decision; under the lock, nobody can be faster."""
    result = _split(context, path, [context.planner])
    return result if context.model is context.planner else replace(result, degraded="others kept changing the page")


def _overgrown_size(context: Context, path: str) -> int:
    """The size of an overgrown page in bytes; 0 if the page is not overgrown, or does not exist."""
    stored = stored_page(context.storage, path)
    page = read_page(path, stored.data) if stored else None
    return page.size if page and overgrown(page, context.threshold, context.index.graph()) else 0


@operation("split", changes="tree", recorded=True)
def split_now(context: Context, path: str = ROOT) -> SplitResult:
    """Splits a page on request, then the pages that are overgrown after that. Raises as `split` does, but not because
    others change the page meanwhile."""
    result = _split_among_others(context, ROOT if path in (None, "") else path)
    further, problem = split_overgrown(context)
    new_files = result.new_files + tuple(path for split in further for path in split.new_files)
    return replace(result.with_splits(further, problem), new_files=new_files)


def _split_among_others(context: Context, path: str) -> SplitResult:
    for _ in range(MAX_DECISIONS):
        try:
            return _split(context, path)
        except StorageConflict as error:
            context.operation.trace.add("conflict", error=str(error))
    with context.storage.lock():
        return _split_by_the_planner(context, path)
