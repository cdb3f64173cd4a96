"""The lines by which pages are listed, after a page has been added to a group or a page has been divided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.grouping import told_again
from memory_v2.operations.draft import Draft
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT, fold


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
