"""Checking the texts that users pass: what is to be written, and what is searched for."""

from __future__ import annotations

import unicodedata

from memory_v2.errors import InvalidText
from memory_v2.tree.block import Block
from memory_v2.tree.edit import new_blocks


def checked_blocks(text: str) -> tuple[Block, ...]:
    """Returns the blocks of a text. Raises `InvalidText` if it is empty or cannot be stored."""
    check_text(text, "a text")
    if all(c.isspace() or unicodedata.category(c) in ("Cc", "Cf") for c in text):
        raise InvalidText("there is nothing to write: the text is empty")
    return new_blocks(text)


def check_question(query: str) -> None:
    """Raises `InvalidText` if a question is empty, or is not valid Unicode."""
    check_text(query, "a question")
    if not query.strip():
        raise InvalidText("there is nothing to search for: the query is empty")


def check_text(text: str, what: str) -> None:
    """Raises `InvalidText` unless it is a string that UTF-8 can encode, which a lone surrogate is not."""
    if not isinstance(text, str):
        raise InvalidText(f"{what} is a string, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidText(f"the text is not valid Unicode: character {error.start} is half of a pair") from error
