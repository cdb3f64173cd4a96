"""Edits of a page: blocks are inserted or removed by number, and all others keep every byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from memory_v2.tree.block import BYTE_ORDER_MARK, Block, close_block, line_end, parse_blocks, take_runs
from memory_v2.tree.page import Page

Run = Sequence[Block]


@dataclass(frozen=True, slots=True)
class PageEdit:
    """An edit of one page: runs to insert after a block (0: at the top), and numbers of blocks to remove."""

    inserted: Mapping[int, Sequence[Run]] = field(default_factory=dict)
    removed: AbstractSet[int] = frozenset()

    def apply(self, page: Page) -> Page:
        """The edited page. Blocks that stay neighbours keep every byte between them. What is inserted above a front
        matter, or between it and the title, goes below both."""
        top = page.top if page.blocks[:1] and page.blocks[0].kind == "front matter" else 0
        inserted: dict[int, list[Run]] = {}
        for place in sorted(self.inserted):
            inserted.setdefault(max(place, top), []).extend(self.inserted[place])
        runs: list[Run] = list(inserted.get(0, ()))
        kept: list[int] = []
        for number in range(1, len(page.blocks) + 1):
            if number not in self.removed:
                kept.append(number)
            if put_in := inserted.get(number):
                runs += [*_closed(take_runs(page.blocks, kept)), *put_in]
                kept = []
        return page.with_body([*runs, *take_runs(page.blocks, kept)])


def _closed(runs: Sequence[Run]) -> list[Run]:
    """The runs with the last block closed, in case a person left a fence open that would swallow what follows."""
    if not runs:
        return []
    *before, last = runs
    return [*before, (*last[:-1], close_block(last[-1], line_end(last[-1].text)))]


def new_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text that enters the tree, without its byte order mark. The last one is closed, so that it
    swallows nothing after it."""
    blocks = parse_blocks(text.removeprefix(BYTE_ORDER_MARK))
    return (*blocks[:-1], close_block(blocks[-1], line_end(text))) if blocks else ()


def appended(page: Page, runs: Iterable[Run]) -> Page:
    """The page with these runs appended to its body."""
    added = tuple(runs)
    if not any(added):
        return page
    return PageEdit({len(page.blocks): added}).apply(page) if page.blocks else page.with_body(added)
