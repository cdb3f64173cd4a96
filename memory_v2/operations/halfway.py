"""A change that was interrupted, and a page of it that somebody edited by hand before it could be finished.

The edit stays. What the person saw, the page as it was before the change or after it, is told by what stands on it.
Then the change is finished around the edit, or taken back around it: it stands in the tree wholly or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memory_v2.tree.page import read_page

Way = Literal["forward", "back", "neither"]


@dataclass(frozen=True, slots=True)
class InterruptedPage:
    """A page of the change: its bytes before the change, now, and after it; `None` where it is not there."""

    path: str
    before: bytes | None
    now: bytes | None
    after: bytes | None

    @property
    def is_stored(self) -> bool:
        """Whether the change has come to it."""
        return self.now == self.after

    @property
    def is_open(self) -> bool:
        """Whether the change has not come to it yet."""
        return self.now == self.before


def way_out(pages: Sequence[InterruptedPage]) -> Way:
    """Where the change can go with nothing lost by it and nothing standing twice; else it stays where it is."""
    edited = [page for page in pages if not page.is_stored and not page.is_open]
    if all(page.after is not None and _is_made_of(page, page.before, page.after) for page in edited):
        return "forward"
    return "back" if all(_is_made_of(page, page.after, page.before) for page in edited) else "neither"


def _is_made_of(page: InterruptedPage, one: bytes | None, other: bytes | None) -> bool:
    """Whether what was edited was the `other` and not the `one`: all stands there that only the other has, and nothing
    that only the one has."""
    has, ones, others = (_said(page.path, data) for data in (page.now, one, other))
    return others - ones <= has and not has & (ones - others)


def _said(path: str, data: bytes | None) -> set[str]:
    """The blocks of a page, headings aside, and the pages that it lists."""
    if data is None:
        return set()
    page = read_page(path, data)
    blocks = {block.content.strip() for block in page.blocks if block.kind != "heading"}
    return {*blocks, *(f"[[{entry.target}]]" for entry in page.children)} - {""}
