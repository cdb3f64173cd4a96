"""Which lines around some lines of Markdown make them a statement that can be read alone.

A row of a table is read with its head, an item with the item or the label above it, a label with what it names, a
heading with the beginning of its section. All is told by the form of the lines: to parse the pages of ten hits would
take longer than to find them. Lines are counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from memory_v2.text.words import tokens

FOLLOWING = 120
"""How much is read on below a heading or a label, in tokens: a paragraph or a short list."""
LONGEST_ABOVE = 80
"""How long a line above may be to be shown for those below it, in tokens. A longer one is a text of its own."""
FARTHEST = 80
"""How many lines above are looked at."""
GAP = 30
"""Limits the lines that are shown because they stand between others, in tokens: leaving them out would save little."""

_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}([-*_=])(?:[ \t]*\1)*[ \t]*$")
_MARKER = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)(?:\[[ xX]\][ \t]+)?")
_DELIMITER = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?)?$")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_LONGEST_LABEL = 100
"""How long a label may be, in characters."""


class Lines:
    """The lines of a page, without line ends."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = [line.rstrip("\r\n") for line in lines]
        self._code = frozenset(_fenced(self._lines))

    def statement(self, first: int, last: int) -> list[int]:
        """The lines that make `first` to `last` a statement, those included, in order."""
        if last >= len(self._lines):
            return list(range(first, last + 1))
        shown = {*range(first, last + 1), *self._above(first)}
        if all(self._is_bare(number) for number in range(first, last + 1)):
            shown.update(self._below(first, last))
        return self.without_gaps(shown)

    def without_gaps(self, shown: Collection[int]) -> list[int]:
        """These lines and the few that stand between two of them."""
        found: list[int] = []
        for number in sorted(shown):
            between = range(found[-1] + 1, number) if found else range(0)
            if tokens("".join(self._lines[between.start : between.stop])) <= GAP:
                found += between
            found.append(number)
        return found

    def _is_bare(self, number: int) -> bool:
        """Whether a line says nothing alone: it is empty, a rule, a heading or a label."""
        line = self._lines[number]
        return number not in self._code and (
            not _unmarked(line)
            or bool(_RULE.match(line) or _HEADING.match(line) or _is_delimiter(line))
            or self._is_label(number)
        )

    def _is_label(self, number: int) -> bool:
        line = self._lines[number]
        words = _unmarked(line)
        if number in self._code or not words or len(words) > _LONGEST_LABEL or _HEADING.match(line):
            return False
        return words.rstrip("*_ \t").endswith((":", "：")) or bool(_BOLD.match(words))

    def _above(self, first: int) -> Iterator[int]:
        """The lines above that the line `first` belongs to."""
        if first in self._code:
            return
        if self._is_row(first):
            top = first
            while top and self._is_row(top - 1):
                top -= 1
            if top < first and _is_delimiter(self._lines[top + 1]):
                yield from (top, top + 1)
            first = top
        yield from self._parents(first)

    def _parents(self, first: int) -> Iterator[int]:
        """The item that an item belongs to, the label above a list or a paragraph, the heading above a label; then what
        these belong to."""
        child, below, is_next = self._lines[first], _indent(self._lines[first]), True
        for number in range(first - 1, max(first - FARTHEST, 0) - 1, -1):
            line = self._lines[number]
            if not line.strip():
                continue
            is_code, at = number in self._code, _indent(line)
            if not is_code and _HEADING.match(line):
                if is_next and self._is_bare(first) and not _HEADING.match(child):
                    yield number
                return
            is_item = not is_code and bool(_MARKER.match(line))
            if (at < below and is_item) or (at <= below and not is_item and self._is_label(number)):
                if tokens(line) <= LONGEST_ABOVE:
                    yield number
                if not is_item and not at:
                    return
                child, below = line, at
            elif not _MARKER.match(child) or not (is_item or is_code or at > below):
                return
            is_next = False

    def _below(self, first: int, last: int) -> Iterator[int]:
        """What a heading or a label names, as far as it fits, and no heading or label at its end."""
        level = min(self._level(number) for number in range(first, last + 1))
        label, left, taken, is_list, is_said = self._lines[last], FOLLOWING, list[int](), None, False
        for number in range(last + 1, len(self._lines)):
            line = self._lines[number]
            if line.strip() and number not in self._code:
                if level < 7 and self._level(number) <= level:
                    break
                if level == 7 and self._ends(label, number, is_list):
                    break
                is_list = bool(_MARKER.match(line)) if is_list is None else is_list
            left -= tokens(line)
            if left < 0 and is_said:
                break
            taken.append(number)
            is_said = is_said or not self._is_bare(number)
        while taken and self._is_bare(taken[-1]):
            taken.pop()
        yield from taken

    def _ends(self, label: str, number: int, is_list: bool | None) -> bool:
        """Whether a line is no longer what a label names: a list or one paragraph (`None` before the first line)."""
        line = self._lines[number]
        if _HEADING.match(line):
            return True
        if _indent(line) > _indent(label):
            return False
        if is_list is None or _MARKER.match(label):
            return _MARKER.match(label) is not None
        return not _MARKER.match(line) if is_list else self._is_label(number) or not self._lines[number - 1].strip()

    def _level(self, number: int) -> int:
        """The level of a heading; 7 for any other line."""
        found = None if number in self._code else _HEADING.match(self._lines[number])
        return len(found[1]) if found else 7

    def _is_row(self, number: int) -> bool:
        return number not in self._code and self._lines[number].lstrip().startswith("|")


def _unmarked(line: str) -> str:
    """What an item says, or any other line."""
    marker = _MARKER.match(line)
    return line[marker.end() if marker else 0 :].strip()


def _is_delimiter(line: str) -> bool:
    """Whether a line is between the head of a table and its rows."""
    return _DELIMITER.match(line.strip()) is not None


def _indent(line: str) -> int:
    return len(line.expandtabs(4)) - len(line.expandtabs(4).lstrip())


def _fenced(lines: Sequence[str]) -> Iterator[int]:
    """The lines of fenced code, with the fences."""
    fence = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if fence or found:
            yield number
        if found and not fence:
            fence = found[1]
        elif fence and found and found[1].startswith(fence) and not line.strip(" \t`~"):
            fence = ""
