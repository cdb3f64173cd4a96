"""The line of a group to which a page was added: it is told again where it would not lead a reader there."""

from __future__ import annotations

from memory_v2.models.offline.covering import Line, leads
from memory_v2.models.offline.lines import told_line
from memory_v2.models.offline.listed import said_in, stems_of, title_in
from memory_v2.text.plain import plain
from memory_v2.tree.page import ChildLink, Page


def told_again(page: Page, group: Page, title: str) -> str:
    """The description by which `page` is to list the group, so that a reader who looks for this title takes it; the
    present one if it leads there already."""
    link = next(link for link in page.children if link.target == group.path)
    others = [_line(each) for each in page.children if each is not link]
    if leads([Line(said_in(link), (stems_of(title),)), *others]):
        return link.description
    below = [title_in(child) for child in group.children]
    return told_line(plain(group.title), link, [*below, title], others)


def _line(link: ChildLink) -> Line:
    return Line(said_in(link), (tuple(said_in(link)),), is_open=False)
