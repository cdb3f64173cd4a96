"""The lines by which pages are listed: how they follow a page that changes, is divided, or is added to a group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from memory_v2.errors import Unreadable
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import told_again
from memory_v2.operations.draft import Draft
from memory_v2.storage.history import History, HistoryDamaged
from memory_v2.tree.graph import Graph
from memory_v2.tree.link import link_key
from memory_v2.tree.page import ChildLink, Page, opening, read_page
from memory_v2.tree.path import ROOT, fold
from memory_v2.tree.quoted import Quotable

Line: TypeAlias = tuple[Page, ChildLink]
"""A page that lists another one, and the line."""

MAX_REVISIONS = 1_000
"""How many revisions of pages whose lines may be out of date a check reads, the newest ones."""


def tell_changed(draft: Draft, before: Page, after: Page) -> None:
    """Stages the lines of a page that quote what stood on it and is gone. What another page has now was only moved."""
    now, was = Quotable.of(after.body), Quotable.of(before.body)

    def find(path: str) -> Page | None:
        with suppress(Unreadable):
            return draft.find(path)
        return None

    for above, link in listing(draft.graph(), find, after.path):
        gone = [clause for clause in now.lacks(link.description) if was.has(clause)]
        others = [page for path, page in draft.staged.items() if gone and page and path not in (after.path, above.path)]
        if gone and not all(any(Quotable.of(page.body).has(clause) for page in others) for clause in gone):
            line = opening(after.blocks) if link.description == opening(before.blocks) else described(draft, after)
            draft.put(draft.page(above.path).with_description(link.target, line))


def described(draft: Draft, page: Page) -> str:
    """The line of a page, from its text and the titles of the pages that it lists."""
    below = (draft.spelled(link.target) for link in page.children)
    return describe_page(page.title, page.blocks, (), [draft.page(path).title for path in below if path])


def outdated_lines(history: History, pages: Mapping[str, Page], graph: Graph) -> dict[str, list[Line]]:
    """The lines that quote what their pages said once, by the history, and neither they nor pages below them say now:
    by page, each with the page that lists it."""
    lacking: dict[str, dict[str, list[Line]]] = {}
    for path in pages.keys() & graph.descriptions.keys():
        now = Quotable.of("\n".join(pages[one].body for one in (path, *graph.below(path)) if one in pages))
        for line in listing(graph, pages.get, path):
            for clause in now.lacks(line[1].description):
                lacking.setdefault(path, {}).setdefault(clause, []).append(line)
    found: dict[str, list[Line]] = {}
    with suppress(HistoryDamaged):  # a finding of its own
        revisions = history.revisions() if lacking and history.begun else ()
        for revision in islice((one for one in revisions if lacking.keys() & set(one.paths)), MAX_REVISIONS):
            for change in history.difference(history.before(revision.id), revision.id):
                if change.before and (clauses := lacking.get(change.path)):
                    was = Quotable.of(read_page(change.path, change.before).body)
                    if lines := [line for clause in clauses if was.has(clause) for line in clauses[clause]]:
                        found[change.path] = list(dict.fromkeys(lines))
                        del lacking[change.path]
    return found


def listing(graph: Graph, find: Callable[[str], Page | None], path: str) -> Iterator[Line]:
    """The pages that list a page, each with the line."""
    for source in graph.sources.get(path, ()):
        if source in graph.pages and (above := find(source)):
            yield from ((above, link) for link in above.children if link_key(link.target) == fold(path))


def tell_groups_again(draft: Draft, group: str, title: str) -> None:
    """Stages the line of a group that was made by a split and lists a page with this title now, and those of the groups
    above it, where they would not lead a reader to the page."""
    tree = draft.context.index.graph()
    while group != ROOT and tree.lists_only(group) and (above := tree.parents.get(group)):
        page, listed = draft.page(above), draft.page(group)
        if "split_from" not in listed.properties or all(link.target != group for link in page.children):
            return
        draft.put(page.with_description(group, told_again(page, listed, title)))
        group = above


def tell_divided(draft: Draft, before: Page, children: Sequence[str]) -> None:
    """Stages the line of a page that was divided into these children, if it was told of the page as it was before."""
    above = draft.graph().parents.get(before.path)
    if above is None:
        return
    page, after = draft.page(above), draft.page(before.path)
    below = [draft.page(child).title for child in children]
    line = describe_page(before.title, before.blocks)
    for link in page.children:
        if link_key(link.target) == fold(before.path) and link.description == line:
            page = page.with_description(link.target, describe_page(after.title, after.blocks, (), below))
    if page != draft.page(above):
        draft.put(page)


def tell_extended(draft: Draft, above: str, told: Mapping[str, str]) -> None:
    """Stages the lines of children that have taken in more notes."""
    page = draft.page(above)
    for path, description in told.items():
        page = page.with_description(path, description)
    if page != draft.page(above):
        draft.put(page)
