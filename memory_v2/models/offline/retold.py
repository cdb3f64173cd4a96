"""Lines that are told again: of a group to which a page was added, and of a page that was divided."""

from __future__ import annotations

from collections.abc import Sequence

from memory_v2.models.offline.covering import Line, leads
from memory_v2.models.offline.describing import describe_page
from memory_v2.models.offline.lines import told_line
from memory_v2.models.offline.listed import said_in, stems_of, title_in
from memory_v2.text.plain import plain
from memory_v2.tree.page import ChildLink, Page

_NO_WORDS = ("",)
"""In place of telling words, which take long to find on a long page."""


def told_again(page: Page, group: Page, title: str) -> str:
    """The description by which `page` is to list the group, so that a reader who looks for this title takes it; the
    present one if it leads there already."""
    link = next(link for link in page.children if link.target == group.path)
    others = [_line(each) for each in page.children if each is not link]
    if leads([Line(said_in(link), (stems_of(title),)), *others]):
        return link.description
    below = [title_in(child) for child in group.children]
    return told_line(plain(group.title), link, [*below, title], others)


def told_divided(line: str, before: Page, after: Page, below: Sequence[tuple[str, str]]) -> str:
    """The description of a page that was divided: by what stayed on it, and then by the pages below it, given by their
    titles and lines. The present line if that was not told of what the page was before, but by somebody else or by
    single words."""
    if line != describe_page(before.title, before.blocks, _NO_WORDS):
        return line
    return describe_page(after.title, after.blocks, _NO_WORDS, below)


def _line(link: ChildLink) -> Line:
    return Line(said_in(link), (tuple(said_in(link)),), is_open=False)
