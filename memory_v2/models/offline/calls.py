"""The calls by which the planner files a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memory_v2.models.base import ToolCall
from memory_v2.models.offline.documents import Document
from memory_v2.tree.numbers import show_numbers


def create_page(document: Document, numbers: Sequence[int]) -> ToolCall:
    """Creates a page of these new blocks."""
    arguments = {
        "path": document.path,
        "parent": document.parent,
        "title": document.title,
        "description": document.description,
        "blocks": show_numbers(numbers, "n"),
    }
    return ToolCall("create_page", arguments)


def place(path: str, numbers: Sequence[int], after: int | None) -> ToolCall:
    """Puts these new blocks behind a block of a page; `None` is its end."""
    arguments: dict[str, Any] = {"blocks": show_numbers(numbers, "n"), "page": path}
    return ToolCall("place", arguments if after is None else {**arguments, "after": after})


def nothing_new(numbers: Sequence[int], path: str, block: int) -> ToolCall:
    """Names the block of a page that says what these new blocks say."""
    return ToolCall(
        "nothing_new", {"blocks": show_numbers(numbers, "n"), "said_in": [{"page": path, "blocks": str(block)}]}
    )
