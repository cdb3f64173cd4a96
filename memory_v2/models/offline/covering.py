"""The words of a catalogue's lines: the fewest by which a reader who looks for a title takes the line that leads there.

A title leads to the line that shares most words with it. So each line gets words of the titles below it, first those
that reach most titles that another line would win, until each title leads to its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from memory_v2.models.offline.naming import common_stems
from memory_v2.text.lists import fillers, stopwords

MIN_GAIN = 0.05
"""What a word must be worth: one that brings a title that leads astray back to its line is worth 1."""
HARM = 0.5
"""What it costs that a word is that of a title below another line, relative to what it is worth to that title there."""
_NEEDS = {-1: 0.6, 0: 1.0, 1: 0.4, 2: 0.1}
"""What another word is worth to a title, by its lead: by how many words it is closer to its line than to any other."""
_FAR, _SAFE = 0.3, 0.02
"""The same for a title that is farther behind, and for one that is farther ahead."""


_YEAR = re.compile(r"(?:19|20)\d\d")


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
        needs = cover.needs()
        everywhere = sum(needs, Counter[str]())
        going = []
        for number in open_lines:
            word = cover.best_word(number, needs[number], everywhere)
            if word and fits(number, [*cover.chosen[number], word]):
                cover.chosen[number].append(word)
                going.append(number)
        open_lines = going
    return cover.chosen


def leads(lines: Sequence[Line]) -> bool:
    """Whether the first of these lines has more words of each of its titles than any other line."""
    having = _having([line.said for line in lines])
    return all(_lead(0, title, having) > 0 for title in lines[0].titles)


class _Cover:
    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        self.chosen: list[list[str]] = [[] for _ in lines]
        self._common, self._ignored = common_stems(), stopwords() | fillers()
        self._titles = [Counter(frozenset(title) for title in line.titles) for line in lines]

    def needs(self) -> list[Counter[str]]:
        """For each line, what each word is worth to the titles that it leads to. Titles of the same words count less,
        as a word brings a reader to one of them."""
        having = _having([line.said.union(words) for line, words in zip(self.lines, self.chosen, strict=True)])
        found = []
        for number, titles in enumerate(self._titles):
            worth: Counter[str] = Counter()
            for title, count in titles.items():
                need = _need(_lead(number, title, having)) * count**0.5
                for word in title:
                    worth[word] += need
            found.append(worth)
        return found

    def best_word(self, number: int, needs: Mapping[str, float], everywhere: Mapping[str, float]) -> str:
        """The word that helps the titles of a line most; empty if none is worth its place."""
        said = self.lines[number].said.union(self.chosen[number])
        worth = {
            word: need * self._worth(word) - HARM * (everywhere[word] - need)
            for word, need in needs.items()
            if word not in said
        }
        word = min(worth, key=lambda word: (-worth[word], word), default="")
        return word if word and worth[word] >= MIN_GAIN else ""

    def _worth(self, word: str) -> float:
        if word[0].isdigit() and not _YEAR.fullmatch(word):
            return 0.0  # an amount is no subject
        return 0.3 if word in self._ignored or word.isdigit() else 0.6 if word in self._common else 1.0


def _having(lines: Sequence[Iterable[str]]) -> dict[str, list[int]]:
    """The places of the lines that have each word."""
    having: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for word in line:
            having.setdefault(word, []).append(number)
    return having


def _lead(own: int, title: Iterable[str], having: Mapping[str, Sequence[int]]) -> int:
    """By how many words a title is closer to its own line than to any other."""
    shared = Counter(number for word in title for number in having.get(word, ()))
    return shared[own] - max((count for number, count in shared.items() if number != own), default=0)


def _need(lead: int) -> float:
    return _NEEDS.get(lead, _FAR if lead < 0 else _SAFE)
