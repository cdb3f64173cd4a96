"""What a decision about new text tells the history: each sentence that is not in the tree is named, with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from memory_v2.tree.block import Block, filled_lines, split_lines
from memory_v2.tree.numbers import show_numbers
from memory_v2.tree.page import Page


@dataclass(frozen=True)
class SaidAlready:
    """New blocks, by number, that these blocks of the tree say already: word for word, or else `retold`."""

    numbers: Sequence[int]
    by: Sequence[tuple[Page, int]]
    is_retold: bool


class Account:
    """The sentences about one decision on these new blocks."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._ends = list(accumulate(len(split_lines(block.text)) for block in blocks))

    def said(self, said: SaidAlready) -> str:
        """Names the new blocks and the blocks that say the same, to the letter if it takes reading to see it."""
        parts = []
        for path, group in groupby(said.by, lambda named: named[0].path):
            named = list(group)
            numbers = [number for _, number in named]
            words = f", {_quoted(page.blocks[n - 1] for page, n in named)}" if said.is_retold else ""
            parts.append(f"{_blocks_of(path, numbers)}{words}")
        return f"said already: {self._new(said.numbers)}, by {' and '.join(parts)}"

    def retold(self, numbers: Sequence[int]) -> str:
        """Names the new blocks of which only the words of the model are in the tree."""
        return f"in other words, with all names, numbers and dates: {self._new(numbers)}"

    def left_out(self, numbers: Sequence[int]) -> str:
        """Names the headings that are not in the tree."""
        headings = (self._blocks[number - 1] for number in numbers)
        return f"left out: {self._new(numbers)}, {_quoted(headings)}, because the parts went to different pages"

    def _new(self, numbers: Sequence[int]) -> str:
        """The new blocks by number, and by their lines in the text as it was given."""
        lines = [line for number in numbers for line in self._lines(number)]
        return f"{show_numbers(numbers, 'n')} ({'line' if len(lines) == 1 else 'lines'} {show_numbers(lines)})"

    def _lines(self, number: int) -> range:
        """The lines of a new block, from the first that is not blank to the last."""
        text = self._blocks[number - 1].text
        filled, before = filled_lines(text), self._ends[number - 1] - len(split_lines(text))
        return range(before + filled.start + 1, before + filled.stop + 1)


def taken_out(page: Page, removed: Mapping[int, str]) -> list[str]:
    """Names each block that was taken out of a page, to the letter, with the reason."""
    return [
        f"{_blocks_of(page.path, [number])} was taken out, {_quoted([page.blocks[number - 1]])}, because: {reason}"
        for number, reason in removed.items()
    ]


def redescribed(path: str, lines: Mapping[str, str], description: str) -> str:
    """Names the page that is described anew, with the old descriptions (by the page that lists it) and the new one."""
    before = " and ".join(f"{json.dumps(line, ensure_ascii=False)} on {on}" for on, line in lines.items())
    return f"{path} is described as {json.dumps(description, ensure_ascii=False)}, before as {before}"


def _blocks_of(path: str, numbers: Sequence[int]) -> str:
    return f"{'block' if len(numbers) == 1 else 'blocks'} {show_numbers(numbers)} of {path}"


def _quoted(blocks: Iterable[Block]) -> str:
    """The words of these blocks on one line, as a JSON string: nothing in them can end the quotation."""
    return json.dumps(" ".join(" ".join(block.content.split()) for block in blocks), ensure_ascii=False)
