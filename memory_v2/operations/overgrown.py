"""Splitting overgrown pages after an operation, and their children too, until no page is overgrown."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace

from memory_v2.errors import Cancelled, NotRecorded, PageNotFound, SilicaError, StorageConflict, StorageError
from memory_v2.operations.context import Context, overgrown
from memory_v2.operations.results import SplitResult
from memory_v2.operations.split import split
from memory_v2.storage.base import stored_page
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import ROOT

logger = logging.getLogger(__name__)

MAX_DECISIONS = 2
"""How often a model decides about one page while others keep changing it. Then the planner decides, under the lock."""
MAX_CONFLICTS = 8
"""How many conflicts are allowed for one page before its split is left for later."""


def split_overgrown(context: Context, besides: Iterable[str] = ()) -> tuple[list[SplitResult], str]:
    """Splits the pages that the operation has left overgrown, the overgrown ones among `besides`, and those that a
    split leaves overgrown.

    Returns the splits in order and, if a page could not be split, the reason. That does not raise an error, because the
    operation before it has been stored.
    """
    with context.note.splitting() as unsplit:
        return _settled(context, [*context.note.overgrown, *besides], unsplit)


def _settled(context: Context, paths: Iterable[str], unsplit: list[str]) -> tuple[list[SplitResult], str]:
    done: list[SplitResult] = []
    problem = ""
    queue = deque(dict.fromkeys(paths))
    conflicts: Counter[str] = Counter()
    while queue:
        path = queue.popleft()
        try:
            at_once = conflicts[path] >= MAX_DECISIONS
            with context.storage.lock() if at_once else nullcontext():
                page = _find(context, path)
                if page is None or not overgrown(page, context.threshold):
                    continue
                result = _split_at_once(context, path) if at_once else split(context, path)
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
        queue.extend(p for p in result.changed_pages if p in context.note.overgrown and p not in queue)
    return done, problem


def _split_at_once(context: Context, path: str) -> SplitResult:
    """Splits a page by the planner's decision, which needs no model request. Call it under the lock."""
    result = split(context, path, [context.planner])
    return result if context.model is context.planner else replace(result, degraded="others kept changing the page")


def _find(context: Context, path: str) -> Page | None:
    stored = stored_page(context.storage, path)
    return read_page(path, stored.data) if stored else None


def split_now(context: Context, path: str = ROOT) -> SplitResult:
    """Splits a page on request, then the pages that are overgrown after that. Raises as `split` does."""
    result = split(context, path or ROOT)
    further, problem = split_overgrown(context)
    new_files = result.new_files + tuple(path for split in further for path in split.new_files)
    return replace(result.with_splits(further, problem), new_files=new_files)
