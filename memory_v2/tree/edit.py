"""Edits of a page: blocks are inserted or removed by number, and all others keep every byte; or its text is changed to
the character, as that of a plain file: the body, without the sections that the program writes and the blank line
before them. And block numbers as models write them: `3`, `"3-5, 8"`, `"n1-n4"`, `[1, "4-6"]`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from memory_v2.errors import NotAllowed, ToolProblem
from memory_v2.tree.block import Block, close_block, line_end, take_runs
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


def appended(page: Page, runs: Iterable[Run]) -> Page:
    """The page with these runs appended to its body."""
    added = tuple(runs)
    if not any(added):
        return page
    return PageEdit({len(page.blocks): added}).apply(page) if page.blocks else page.with_body(added)


def text_of(page: Page) -> str:
    """The text of a page. It ends in a line end, unless the page is empty or a person left the line end out."""
    for separator in ("\r\n\r\n", "\n\n"):
        if page.body.endswith(separator):
            return page.body[: -len(separator) // 2]
    return page.body


def with_text(page: Page, text: str) -> Page:
    """The page with another text. A last line without an end gets one."""
    newline = line_end(text)
    ended = text if not text or text.endswith("\n") else text + newline
    return replace(page, body=ended + newline if ended else "")


def text_lines(text: str) -> list[str]:
    """The lines of a text, without the line feeds that end them."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def inserted(text: str, line: int, new: str) -> str:
    """The text with `new` after so many of its lines. Raises `NotAllowed` if it has fewer."""
    lines = text_lines(text)
    if not 0 <= line <= len(lines):
        raise NotAllowed(f"a text can be inserted after line 0 to {len(lines)}, not after line {line}")
    return "\n".join([*lines[:line], new.rstrip("\n"), *lines[line:]]) + "\n"


def replaced(text: str, old: str, new: str) -> str:
    """The text with `old` replaced by `new`. Raises `NotAllowed` unless `old` occurs exactly once."""
    old, new = with_line_ends_of(text, old, new)
    if (found := text.count(old)) != 1:
        raise NotAllowed(f"the text to replace must occur exactly once; it occurs {found} times")
    return text.replace(old, new)


def with_its_line(text: str, words: str) -> str:
    """The words to take out of a text: with all of their line if only a list mark would be left of it, and with one of
    the blank lines around it; else with the blank before them, if one follows. As given if an item below belongs to
    the line, or if they do not occur once."""
    if not words or text.count(words) != 1:
        return words
    start = text.index(words)
    first, last = text.rfind("\n", 0, start) + 1, start + len(words)
    rest = _LINE_REST.match(text, last - 1 if words.endswith("\n") else last)
    if not _LIST_MARK.fullmatch(text, first, start):
        return f" {words}" if text[start - 1] == " " and (rest or text[last] in " .,;:!?)") else words
    if not rest or _indent(text, rest.end()) > _indent(text, first):
        return words
    end = rest.end()
    above = _BLANK_ABOVE.search(text[:first])
    if above and end == len(text):
        first = above.start()
    elif above and (blank := _LINE_REST.match(text, end)):
        end = blank.end()
    return text[first:end]


def _indent(text: str, start: int) -> int:
    """How many blanks the line has before its first sign; none if it has no other."""
    line = text[start : text.find("\n", start) + 1 or len(text)]
    return len(line) - len(line.lstrip(" \t")) if line.strip() else 0


_LIST_MARK = re.compile(r"[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)?")
_LINE_REST = re.compile(r"[ \t]*(?:\r?\n|\Z)")
_BLANK_ABOVE = re.compile(r"(?:\A|(?<=\n))[ \t]*\r?\n\Z|\A\Z")


def with_line_ends_of(text: str, old: str, new: str) -> tuple[str, str]:
    """Both parts with `\\r\\n` at the ends of their lines, if `old` is in the text only so: a model does not repeat the
    `\\r` of what it was shown."""
    ended = old.replace("\n", "\r\n")
    if old in text or ended not in text:
        return old, new
    return ended, re.sub("\r?\n", "\r\n", new)


def is_bare(page: Page) -> bool:
    """Whether a page has no text but a title."""
    return all(block.kind == "heading" for block in page.blocks)


_RANGE = re.compile(r"\[?([a-zA-Z]?)(\d{1,6})\]?(?:-\[?([a-zA-Z]?)(\d{1,6})\]?)?")
_DASH = re.compile(r"(?<!\s)\s*(?:-|–|\bto\b|\.\.)\s*")


Numbers: TypeAlias = int | str | list[int | str]
"""Numbers of blocks or links in the forms that a tool accepts."""


def parse_numbers(given: int | str | Sequence[int | str], count: int, prefix: str = "") -> list[int]:
    """The numbers that are meant, from 1 to `count`, in the order given. Raises `ToolProblem` for any other number, and
    for one that is named twice."""
    numbers: list[int] = []
    for part in _parts(given):
        numbers += _range(part, count, prefix)
        if len(numbers) > count:  # one is named twice, so stop reading
            break
    if not numbers:
        raise ToolProblem(f"name at least one block, such as {prefix}1 or {prefix}2-{prefix}5")
    first = {number: place for place, number in reversed(list(enumerate(numbers)))}
    if len(first) < len(numbers):
        twice = next(n for place, n in enumerate(numbers) if first[n] < place)
        raise ToolProblem(f"block {prefix}{twice} is named twice; name each block once")
    return numbers


def _parts(given: int | str | Sequence[int | str]) -> list[str]:
    if isinstance(given, int | str):
        given = [given]
    joined = (_DASH.sub("-", str(item)) for item in given)
    return [part for item in joined for part in re.split(r"[,;\s]+", item) if part]


def _range(part: str, count: int, prefix: str) -> list[int]:
    found = _RANGE.fullmatch(part.strip())
    letters = {letter.lower() for letter in (found[1], found[3]) if letter} if found else set()
    if not found or letters - {prefix}:
        raise ToolProblem(
            f"{part[:40]!r} is no block; use numbers such as {prefix}1 or ranges such as {prefix}2-{prefix}5"
        )
    first, last = int(found[2]), int(found[4] or found[2])
    if not 1 <= first <= last <= count:
        raise ToolProblem(f"{part!r} is out of range; the blocks shown are {prefix}1 to {prefix}{count}")
    return list(range(first, last + 1))


def number_runs(numbers: Iterable[int]) -> list[list[int]]:
    """`[1, 2, 3, 7]` → `[[1, 2, 3], [7]]`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def show_numbers(numbers: Iterable[int], prefix: str = "") -> str:
    """`[1, 2, 3, 7]` → `1-3, 7`."""
    return ", ".join(
        f"{prefix}{run[0]}" if len(run) == 1 else f"{prefix}{run[0]}-{prefix}{run[-1]}" for run in number_runs(numbers)
    )
