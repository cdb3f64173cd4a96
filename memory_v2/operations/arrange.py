"""Merging, renaming and deleting pages. Links to them are updated, and no page is left out of reach."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from memory_v2.agent.operation import operation
from memory_v2.errors import InvalidText, NotAllowed, PageExists
from memory_v2.models.offline.describing import listed_title
from memory_v2.operations.commit import stage_and_commit
from memory_v2.operations.context import Context
from memory_v2.operations.draft import Draft, follow_renamed, linking, move_pages, page_above, turn_links, unlinked
from memory_v2.operations.overgrown import split_overgrown
from memory_v2.operations.results import DeleteResult, MovedPage, Result
from memory_v2.operations.survey import graph
from memory_v2.text.words import plain
from memory_v2.tree import folding
from memory_v2.tree.block import Block, line_end
from memory_v2.tree.page import parse_page
from memory_v2.tree.path import ROOT, TakenPaths, fold, link_key, new_page_path, page_path
from memory_v2.tree.source_lines import gathered
from memory_v2.validate import check_text


@operation("merge", changes="tree", recorded=True)
def merge(context: Context, path: str) -> Result:
    """Folds a page back into its parent, verbatim. Its children move to its parent.

    Raises `PageNotFound`, and `NotAllowed` for the root, for a part of a large block, and if both pages together would
    exceed the threshold.
    """
    path = page_path(path)
    return committed(context, lambda draft: _merge(draft, path))


@operation("rename", changes="tree", recorded=True)
def rename(context: Context, old: str, new: str, title: str | None = None) -> Result:
    """Moves a page and the pages below it to another path, where the nearest page above lists it if that is in another
    folder; a `title` takes the place of its own, also in the line that lists it, and the path may stay then. Raises
    `PageNotFound`, `PageExists`, `NotAllowed`, `InvalidText`."""
    old, new = page_path(old), new_page_path(new)
    if title is not None:
        check_text(title, "a title")
        if not plain(title) or len(title.splitlines()) > 1:
            raise InvalidText(f"a title is one line with words, not {title!r}")

    def stage(draft: Draft) -> str:
        if old != new or title is None:
            _rename(draft, old, new)
        if title is not None:
            _retitle(draft, new, plain(title))
        return new

    return committed(context, stage, look=True)


@operation("delete", changes="tree", recorded=True)
def delete(context: Context, path: str) -> DeleteResult:
    """Deletes a page. Its children move to its parent. Raises `PageNotFound`, `NotAllowed`."""
    path = page_path(path)
    children: list[str] = []

    def stage(draft: Draft) -> str:
        children[:] = draft.graph().children.get(path, [])
        return stage_delete(draft, path)

    result = committed(context, stage)
    parents = graph(context).parents if children else {}
    moved = tuple(MovedPage(child, parents.get(child)) for child in children)
    return DeleteResult(result.path, result.revisions, result.decided_by, result.degraded, moved=moved)


def committed(context: Context, stage: Callable[[Draft], str], look: bool = False) -> Result:
    """Stages and commits, then splits overgrown pages; for `look` see `stage_and_commit`."""
    path, revision = stage_and_commit(context, stage, look=look)
    result = Result(path=path, revisions=(revision,) if revision else ())
    return result.with_splits(*split_overgrown(context))


def _merge(draft: Draft, path: str) -> str:
    follow_renamed(draft, path)
    page = draft.page(path)
    if path == ROOT:
        raise NotAllowed("the root has no page above it to be merged into")
    if page.piece is not None:
        raise NotAllowed(f"{path!r} holds part of a block that is too large for one page")
    parent = draft.page(draft.graph().parents.get(path) or page_above(draft, path))
    merged = folding.merged(unlinked(parent, frozenset({fold(path)})), page, draft.context.now())
    listed = {link_key(child.target) for child in merged.children}
    listed.add(fold(parent.path))
    merged = merged.with_lines(child.line for child in page.children if link_key(child.target) not in listed)
    merged = gathered(parse_page(parent.path, merged.text), [parent, page])
    if merged.size > draft.context.threshold:
        raise NotAllowed(
            f"{parent.path!r} would be {merged.size:,} bytes, more than the {draft.context.threshold:,} of a page"
        )
    draft.put(merged)
    draft.remove(path)
    turn_links(draft, {path: parent.path})
    return parent.path


def _rename(draft: Draft, old: str, new: str) -> None:
    draft.page(old)
    follow_renamed(draft, old)
    if old == ROOT:
        raise NotAllowed("the root keeps its name: it is where every reader starts")
    if old == new:
        raise NotAllowed(f"the page {old!r} has this name already")
    moved = {old: new} | {p: new + p[len(old) :] for p in draft.paths() if p.startswith(f"{old}/")}
    others = TakenPaths(draft.paths() - moved.keys())
    for target in moved.values():
        page_path(target)
        if target in others:
            raise PageExists(f"there is a page {others.page(target) or others.clash(target)!r} already")
    lists, there = _listing(draft, old), _listing_there(draft, old, new, moved.keys())
    move_pages(draft, moved)
    if lists and there and there != lists:
        page, key = draft.page(moved.get(lists, lists)), fold(new)
        lines = [child.line for child in page.children if link_key(child.target) == key]
        draft.put(page.without_children(lambda child: link_key(child.target) == key))
        draft.put(draft.page(there).with_lines(lines))


def _retitle(draft: Draft, path: str, title: str) -> None:
    """Stages the page with another title, and the lines that list it, where they begin with its title."""
    page = draft.page(path)
    follow_renamed(draft, path)
    was, top = listed_title(page.title), page.blocks[: page.top]
    above = top[:-1] if top and top[-1].kind == "heading" else top
    newline = line_end(page.text)
    heading = Block(f"# {title}{newline}{newline}", "heading", 1)
    draft.put(page.with_body([above, (heading,), page.blocks[page.top :]]))
    for source in linking(draft, {path}):
        for link in (link for link in draft.page(source).children if link_key(link.target) == fold(path)):
            if link.description == was or link.description.startswith(f"{was}:"):
                described = listed_title(title) + link.description[len(was) :]
                draft.put(draft.page(source).with_description(link.target, described))


def _listing(draft: Draft, path: str) -> str | None:
    """The page whose `## Links` leads to this one."""
    above = draft.graph().parents.get(path)
    is_listed = above and any(link_key(child.target) == fold(path) for child in draft.page(above).children)
    return above if is_listed else None


def _listing_there(draft: Draft, old: str, new: str, moved: AbstractSet[str]) -> str | None:
    """The page that lists a page at its new path: in another folder the nearest one above it, unless that is reached
    through the page itself; the same as before in its folder, or if only the root is above and it was listed by a
    group."""
    lists, graph = _listing(draft, old), draft.graph()
    above = page_above(draft, new, moved)
    is_same = old.rpartition("/")[0] == new.rpartition("/")[0] or old in graph.breadcrumb(above)
    return lists if is_same or (above == ROOT and lists != page_above(draft, old)) else above


def stage_delete(draft: Draft, path: str) -> str:
    """Stages the removal of a page and of the links to it."""
    draft.page(path)
    follow_renamed(draft, path)
    if path == ROOT:
        raise NotAllowed("the root cannot be deleted; to empty it, write to it with mode replace")
    gone = frozenset({fold(path)})
    for source in linking(draft, {path}):
        draft.put(unlinked(draft.page(source), gone))
    draft.remove(path)
    return path
