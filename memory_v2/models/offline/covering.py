"""The words of a catalogue's lines: the fewest by which a reader who looks for a title takes the line that leads there.

A title leads to the line that shares most words with it. So each line gets words of the titles below it, first those
that reach most titles that another line would win, until each title leads to its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memory_v2.models.offline.naming import common_stems
from memory_v2.text.lists import fillers, stopwords

MIN_GAIN = 0.15
"""What a word must be worth: one title that leads astray without it is worth 1, words of other lines' titles less."""
HARM = 0.2
"""What a word costs for each title below other lines that has it too."""


@dataclass(frozen=True)
class Line:
    """A line of a catalogue: the stems that it has already, the titles that it leads to, as stems, and whether words
    may be added."""

    said: frozenset[str]
    titles: tuple[tuple[str, ...], ...]
    is_open: bool = True


def covering_words(lines: Sequence[Line], fits: Callable[[int, Sequence[str]], bool]) -> list[list[str]]:
    """The stems to add to each line, best first. `fits` tells whether so many words have room on a line."""
    cover = _Cover(lines)
    open_lines = [number for number, line in enumerate(lines) if line.is_open]
    while open_lines:
        rivals = cover.rivals()
        going = []
        for number in open_lines:
            word = cover.best_word(number, rivals)
            if word and fits(number, [*cover.chosen[number], word]):
                cover.chosen[number].append(word)
                going.append(number)
        open_lines = going
    return cover.chosen


class _Cover:
    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.chosen: list[list[str]] = [[] for _ in lines]
        self._common, self._ignored = common_stems(), stopwords() | fillers()
        self._inside = [Counter(word for title in line.titles for word in set(title)) for line in lines]
        self._everywhere = sum(self._inside, Counter[str]())

    def rivals(self) -> list[list[int]]:
        """For each line, by how many words each of its titles is closer to it than to any other line."""
        having: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines):
            for word in line.said.union(self.chosen[number]):
                having.setdefault(word, []).append(number)
        leads = []
        for number, line in enumerate(self.lines):
            leads.append([self._lead(number, title, having) for title in line.titles])
        return leads

    @staticmethod
    def _lead(own: int, title: Sequence[str], having: dict[str, list[int]]) -> int:
        shared = Counter(number for word in set(title) for number in having.get(word, ()))
        return shared[own] - max((count for number, count in shared.items() if number != own), default=0)

    def best_word(self, number: int, leads: Sequence[Sequence[int]]) -> str:
        """The word that helps the titles of a line most; empty if none is worth its place."""
        line = self.lines[number]
        said = line.said.union(self.chosen[number])
        gains: dict[str, float] = {}
        for title, lead in zip(line.titles, leads[number], strict=True):
            need = 1.0 if lead <= 0 else 0.2 if lead == 1 else 0.02
            for word in set(title) - said:
                gains[word] = gains.get(word, 0.0) + need * self._worth(word)
        worth = {word: gain - HARM * self._abroad(number, word) for word, gain in gains.items()}
        word = min(worth, key=lambda word: (-worth[word], word), default="")
        return word if word and worth[word] >= MIN_GAIN else ""

    def _worth(self, word: str) -> float:
        return 0.3 if word in self._ignored or word.isdigit() else 0.6 if word in self._common else 1.0

    def _abroad(self, number: int, word: str) -> float:
        """How many titles of other lines have a word; many more are no worse than four."""
        return min(self._everywhere[word] - self._inside[number][word], 4)
