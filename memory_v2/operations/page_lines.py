"""The lines by which pages are listed: how they follow a page that changes, is divided, or is added to a group."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeAlias

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import told_again
from memory_v2.models.offline.naming import is_of_subjects, subjects
from memory_v2.operations.draft import Draft
from memory_v2.storage.history import History, HistoryDamaged
from memory_v2.text.words import words
from memory_v2.tree.block import readable
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import ChildLink, Page, opening, read_page
from memory_v2.tree.path import ROOT, fold, link_key

Line: TypeAlias = tuple[Page, ChildLink]
"""A page that lists another one, and the line."""

_CLAUSE_END = re.compile(r"[;；…]|:(?=\s)")
MAX_REVISIONS = 1_000
"""How many revisions of pages whose lines may be out of date a check reads, the newest ones."""


class Quotable:
    """The words of a page's text, in order, of which the line by which it is listed may quote whole clauses."""

    def __init__(self, text: str) -> None:
        self._words = f" {' '.join(words(readable(text)))} "

    def lacks(self, line: str) -> list[str]:
        """The clauses of a line that do not stand in the text word for word, each as its words."""
        clauses = (" ".join(words(clause)) for clause in _CLAUSE_END.split(readable(line)))
        return [clause for clause in clauses if clause and f" {clause} " not in self._words]

    def has(self, clause: str) -> bool:
        """Whether the words of a clause stand in the text, one after the other."""
        return f" {clause} " in self._words


def tell_changed(draft: Draft, graph: Graph, before: Page, after: Page, grown: bool) -> None:
    """Stages the lines of a page that quote what stood on it and is gone; what another page has now was only moved.
    With `grown`, also those that the program has told of a page that has twice as much now, and those that were its
    opening, which is another one now."""
    now, has_grown = Quotable(after.body), grown and _grown(before, after)
    was_opening, is_opening = opening(before.blocks), opening(after.blocks)
    for above, link in _listing(draft, graph, after.path):
        quotes_opening, lacking = link.description == was_opening, now.lacks(link.description)
        is_gone = (grown and quotes_opening and is_opening != was_opening) or (
            lacking and _is_gone(draft, lacking, before, {after.path, above.path})
        )
        if not (is_gone or has_grown):
            continue
        is_own = quotes_opening or is_of_subjects(link.description, before.blocks)
        if is_gone or is_own:
            line = (subjects(after.title, after.blocks) or is_opening) if is_own else described(draft, after)
            draft.put(draft.page(above.path).with_description(link.target, line).stamped(draft.context.now()))


def _grown(before: Page, after: Page) -> bool:
    """Whether a page has passed 2, 4, 8, … statements. Were its line told anew each time that a text comes, whoever
    writes to another page would change the same page above."""
    was, now = (len(page.blocks) - page.top for page in (before, after))
    return now.bit_length() > was.bit_length() >= 1


def _is_gone(draft: Draft, lacking: Sequence[str], before: Page, but: Collection[str]) -> bool:
    """Whether one of the clauses that a page lacks stood on it, and stands on no other page that is staged."""
    was = Quotable(before.body)
    elsewhere = [Quotable(page.body) for path, page in draft.staged.items() if page and path not in but]
    return any(was.has(clause) and not any(text.has(clause) for text in elsewhere) for clause in lacking)


def described(draft: Draft, page: Page) -> str:
    """The line of a page, from its text and the titles of the pages that it lists."""
    below = (draft.spelled(link.target) for link in page.children)
    return describe_page(page.title, page.blocks, (), [draft.page(path).title for path in below if path])


def outdated_lines(history: History, pages: Mapping[str, Page], graph: Graph) -> dict[str, list[Line]]:
    """The lines that quote what their pages said once, by the history, and neither they nor pages below them say now:
    by page, each with the page that lists it."""
    listed: dict[str, list[Line]] = {}
    for above in pages.values():
        for link in above.children:
            path = graph.known.get(link_key(link.target) or "")
            if path and path in pages and path != above.path:
                listed.setdefault(path, []).append((above, link))
    lacking: dict[str, dict[str, list[Line]]] = {}
    for path, lines in listed.items():
        now, clauses = Quotable(pages[path].body), dict[str, list[Line]]()
        for line in lines:
            for clause in now.lacks(line[1].description):
                clauses.setdefault(clause, []).append(line)
        below = [Quotable(pages[child].body) for child in graph.below(path) if clauses and child in pages]
        clauses = {clause: told for clause, told in clauses.items() if not any(text.has(clause) for text in below)}
        if clauses:
            lacking[path] = clauses
    found: dict[str, list[Line]] = {}
    with suppress(HistoryDamaged):  # a finding of its own
        revisions = history.revisions() if lacking and history.begun else ()
        touching = (revision for revision in revisions if not lacking.keys().isdisjoint(revision.paths))
        for revision in islice(touching, MAX_REVISIONS):
            for change in history.difference(history.before(revision.id), revision.id):
                if change.before and (gone := lacking.get(change.path)):
                    was = Quotable(read_page(change.path, change.before).body)
                    if lines := [line for clause in gone if was.has(clause) for line in gone[clause]]:
                        found[change.path] = list(dict.fromkeys(lines))
                        del lacking[change.path]
    return found


def _listing(draft: Draft, graph: Graph, path: str) -> Iterator[Line]:
    """The lines that list a page, on pages that can be read."""
    for source in graph.sources.get(path, ()):
        with suppress(Unreadable, PageNotFound):
            draft.look_again(source)
            for link in draft.page(source).children:
                if link_key(link.target) == fold(path):
                    yield draft.page(source), link


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
