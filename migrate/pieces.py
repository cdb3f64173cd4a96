"""Blocks that were too large for a page, put together again from their pieces."""

from __future__ import annotations

from collections.abc import Iterable

from memory_v2.tree.page import Page


def cut_blocks(pages: Iterable[Page]) -> dict[str, list[Page]]:
    """The pieces of each such block, in order, by the page that lists them; a block of which a piece is missing is left
    out."""
    found: dict[tuple[str, int], dict[int, Page]] = {}
    for page in pages:
        if page.piece is not None:
            folder = page.path.rsplit("/part-", 1)[0]
            found.setdefault((folder, page.piece.count), {})[page.piece.number] = page
    return {
        folder: [pieces[number] for number in range(1, count + 1)]
        for (folder, count), pieces in found.items()
        if pieces.keys() >= set(range(1, count + 1))
    }
