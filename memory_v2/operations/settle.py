"""After every operation: each page that has grown too large is split, and so are its children, until none is."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from memory_v2.errors import NotRecorded, PageNotFound, SilicaError, StorageConflict, StorageError
from memory_v2.operations.context import Context, overgrown
from memory_v2.operations.pending import settling
from memory_v2.operations.results import SplitResult
from memory_v2.operations.split import split
from memory_v2.tree.page import Page, read_page

logger = logging.getLogger(__name__)

CONFLICTS = 8


def settle(context: Context, paths: Iterable[str]) -> tuple[list[SplitResult], str]:
    """Splits what is too large among these pages, and what that makes too large.

    Returns the splits in order and, if a page could not be split, why: what was committed before stays true, so that is
    no error of the operation that is settled.
    """
    with settling(context) as unsplit:
        return _settled(context, paths, unsplit)


def _settled(context: Context, paths: Iterable[str], unsplit: list[str]) -> tuple[list[SplitResult], str]:
    done: list[SplitResult] = []
    problem = ""
    queue = deque(dict.fromkeys(paths))
    conflicts = 0
    while queue:
        path = queue.popleft()
        try:
            page = _find(context, path)
            if page is None or not overgrown(page, context.threshold):
                continue
            result = split(context, path)
        except PageNotFound:  # somebody removed it just now
            continue
        except NotRecorded:  # whoever runs on a recording has to know what it does not hold
            raise
        except SilicaError as error:
            if isinstance(error, StorageConflict):
                context.operation.trace.add("conflict", error=str(error))
                conflicts += 1
                if conflicts <= CONFLICTS:
                    queue.appendleft(path)
                    continue
            if isinstance(error, StorageError):  # later there may be room, or nobody else who changes the page
                unsplit.append(path)
            logger.info("the page %s could not be split: %s", path, error)
            problem = f"the page {path!r} could not be split: {error}"
            continue
        done.append(result)
        queue.extend(p for p in result.changed_pages if p not in queue)
    return done, problem


def _find(context: Context, path: str) -> Page | None:
    try:
        return read_page(path, context.storage.read(path).data)
    except PageNotFound:
        return None


def split_now(context: Context, path: str) -> SplitResult:
    """Divides a page because somebody asked for it, and whatever is too large after that. Raises as `split` does."""
    result = split(context, path)
    further, problem = settle(context, result.changed_pages)
    new_files = result.new_files + tuple(path for split in further for path in split.new_files)
    return replace(result.with_splits(further, problem), new_files=new_files)
