"""The lines by which groups are listed, after a page has been added to one."""

from __future__ import annotations

from memory_v2.models.offline.retold import told_again
from memory_v2.operations.draft import Draft
from memory_v2.tree.path import ROOT


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
