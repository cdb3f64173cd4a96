"""Which of the texts that were written to a memory a hit shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from memory_v2 import Memory
from memory_v2.operations.results import SearchResult
from memory_v2.tree.block import split_lines

LOOKED_AHEAD = 30
"""How many lines are compared to tell from which of two texts a line is that both have."""
LONG = 40
"""A line of so many characters that no text has is part of a longer line, if one of them has it."""


class Passages:
    """The lines of the pages of a memory, each with the number of the text that it is from."""

    def __init__(self, memory: Memory, texts: Sequence[str]) -> None:
        self._texts = [[line for line in map(_compared, split_lines(text)) if line] for text in texts]
        self._with: dict[str, list[tuple[int, int]]] = {}
        """Where each line stands: the text, and the number of the line in it."""
        for number, lines in enumerate(self._texts):
            for place, line in enumerate(lines):
                self._with.setdefault(line, []).append((number, place))
        self._lines: dict[tuple[str, int], tuple[str, int]] = {}
        """The line at each place of the memory, and its text."""
        for page in memory.list_files():
            self._read(page.path, memory.read(page.path))

    def shown_by(self, result: SearchResult) -> Iterator[int]:
        """The texts that a result shows a line of, or a part of a line, in order."""
        excerpt = result.excerpt.strip()
        for number in range(result.lines[0], result.lines[1] + 1):
            line, text = self._lines.get((result.path, number), ("", -1))
            if line and (line in excerpt or excerpt in line):
                yield text

    def lost(self) -> int:
        """How many texts have no line in the memory."""
        return len(self._texts) - len({text for _, text in self._lines.values()})

    def _read(self, path: str, page: str) -> None:
        lines = [(number, line) for number, line in enumerate(split_lines(page), 1) if line.strip()]
        compared = [_compared(line) for _, line in lines]
        before = (-1, -1)
        for n, (number, line) in enumerate(lines):
            places = self._with.get(compared[n]) or self._parts(compared[n])
            if not places:
                continue
            following = (before[0], before[1] + 1)
            before = following if following in places else max(places, key=lambda one: self._agrees(one, compared[n:]))
            self._lines[path, number] = (line.strip(), before[0])

    def _agrees(self, place: tuple[int, int], lines: Sequence[str]) -> int:
        """How many of these lines follow each other in a text."""
        text = self._texts[place[0]][place[1] : place[1] + LOOKED_AHEAD]
        return next((n for n, (one, other) in enumerate(zip(text, lines, strict=False)) if one != other), len(text))

    def _parts(self, line: str) -> list[tuple[int, int]]:
        if len(line) < LONG:
            return []
        return [
            (number, place)
            for number, lines in enumerate(self._texts)
            for place, whole in enumerate(lines)
            if len(whole) > len(line) and line in whole
        ]


def _compared(line: str) -> str:
    """A line as it is compared: a heading of any level is the same."""
    return re.sub(r"^#{1,6}[ \t]+(.*?)[ \t#]*$", r"# \1", line.strip())
