"""Merging, renaming and deleting pages: what links to them is mended, and nothing is left out of reach."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from memory_v2.errors import NotAllowed, PageExists
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.environment import Environment
from memory_v2.operations.results import Result
from memory_v2.operations.settle import settle
from memory_v2.operations.workspace import Workspace, relinked, unlinked
from memory_v2.tree.edit import appended
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import ROOT, TakenPaths, fold, page_path


def merge(environment: Environment, path: str) -> Result:
    """Folds a page back into the page it hangs on, to the letter; its children hang there from now on.

    Raises `PageNotFound`, and `NotAllowed` for the root, for a part of a large block, and where both together would
    pass the threshold.
    """
    path = page_path(path)
    return _committed(environment, lambda work: _merge(work, path))


def rename(environment: Environment, old: str, new: str) -> Result:
    """Gives a page another path, and with it the pages below it. Raises `PageNotFound`, `PageExists`, `NotAllowed`."""
    old, new = page_path(old), page_path(new)
    return _committed(environment, lambda work: _rename(work, old, new))


def delete(environment: Environment, path: str) -> Result:
    """Takes a page away. What hung on it hangs on the page above from now on. Raises `PageNotFound`, `NotAllowed`."""
    path = page_path(path)
    return _committed(environment, lambda work: _delete(work, path))


def _committed(environment: Environment, stage: Callable[[Workspace], str]) -> Result:
    """Stages and commits; then splits what has grown too large."""
    path, revision = stage_and_commit(environment, stage)
    splits, problem = settle(environment, [change.path for change in revision.pages])
    result = Result(path=path, revisions=(revision,) if revision else ())
    return result.with_splits(splits, problem)


def _merge(work: Workspace, path: str) -> str:
    page = work.page(path)
    if path == ROOT:
        raise NotAllowed("the root has no page above it to be merged into")
    if page.piece is not None:
        raise NotAllowed(f"{path!r} holds part of a block that is too large for one page")
    parent = work.page(work.graph().parents.get(path, ROOT))
    merged = appended(_unlisted(parent, path), [page.blocks])
    listed = {link_key(entry.target) for entry in merged.entries}
    for entry in page.entries:
        if link_key(entry.target) not in listed | {fold(parent.path)}:
            merged = merged.with_line(entry.line)
    merged = parse_page(parent.path, merged.text)
    if merged.size > work.environment.threshold:
        raise NotAllowed(
            f"{parent.path!r} would be {merged.size:,} bytes, more than the {work.environment.threshold:,} of a page"
        )
    work.put(merged)
    work.remove(path)
    _turn_links(work, {path: parent.path})
    return parent.path


def _rename(work: Workspace, old: str, new: str) -> str:
    work.page(old)
    if old == ROOT:
        raise NotAllowed("the root keeps its name: it is where every reader starts")
    if old == new:
        return new
    moved = {p: new + p[len(old) :] for p in work.paths() if p == old or p.startswith(f"{old}/")}
    others = TakenPaths(work.paths() - moved.keys())
    for target in moved.values():
        page_path(target)
        if target in others:
            raise PageExists(f"there is a page {others.page(target) or others.clash(target)!r} already")
    pages = [work.page(source) for source in moved]
    for source in moved:
        work.remove(source)
    for page in pages:
        work.staged[moved[page.path]] = replace(page, path=moved[page.path])
    _turn_links(work, moved)
    return new


def _delete(work: Workspace, path: str) -> str:
    work.page(path)
    if path == ROOT:
        raise NotAllowed("the root cannot be deleted; to empty it, write to it with mode replace")
    gone = frozenset({fold(path)})
    for source in _linking(work, {path}):
        work.put(unlinked(work.page(source), gone))
    work.remove(path)
    return path


def _turn_links(work: Workspace, moved: dict[str, str]) -> None:
    """Every link to a page that moved leads to its new place."""
    keys = {fold(old): new for old, new in moved.items()}
    for source in _linking(work, moved.keys()) | {new for new in moved.values() if work.find(new) is not None}:
        if work.find(source) is not None:
            work.put(relinked(work.page(source), keys))
    for edge in work.environment.index.graph().edges:
        if edge.source in moved and (child := work.find(moved.get(edge.target, edge.target))) is not None:
            came_from = child.properties.get("split_from", "")
            if came_from in moved:
                work.put(child.stamped(work.environment.now(), split_from=moved[came_from]))


def _linking(work: Workspace, paths: Collection[str]) -> set[str]:
    """The pages with a link to one of these paths, as they are stored."""
    edges = work.environment.index.graph().edges
    return {edge.source for edge in edges if edge.target in paths and work.find(edge.source) is not None}


def _unlisted(page: Page, path: str) -> Page:
    """The page without its entry for a child; where its words link to it, the words stay."""
    return unlinked(page, frozenset({fold(path)}))
