"""The text of a page as one plain file, and exact changes of it, to the character.

The text is the body, without the sections that the program writes and the blank line that stands before them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from memory_v2.errors import NotAllowed
from memory_v2.tree.block import line_end
from memory_v2.tree.page import Page


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
