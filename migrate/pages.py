"""All pages of a memory, and the large blocks that were cut into pieces."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.files.listing import LeftOut
from memory_v2.memory import Memory
from memory_v2.progress import with_progress
from memory_v2.tree.block import Block, decode
from memory_v2.tree.page import Page, read_page

logger = logging.getLogger(__name__)


def read_pages(memory: Memory) -> tuple[dict[str, Page], list[LeftOut]]:
    """All pages by their paths, and those that cannot be read."""
    memory.recover()
    pages, left_out = {}, []
    for path in with_progress(memory.storage.list_files(), "pages read"):
        try:
            pages[path] = read_page(path, memory.storage.read(path).data)
        except PageNotFound:  # removed just now
            continue
        except Unreadable as error:
            logger.warning("the page %r is left out: %s", path, error)
            left_out.append(LeftOut(path, str(error)))
    return pages, left_out


def cut_blocks(pages: Iterable[Page]) -> dict[str, Block]:
    """Each block that was cut, whole again, by the page that lists its pieces; one of which a piece is missing is left
    out."""
    found: dict[tuple[str, int], dict[int, Page]] = {}
    for page in pages:
        if page.piece is not None:
            folder = page.path.rsplit("/part-", 1)[0]
            found.setdefault((folder, page.piece.count), {})[page.piece.number] = page
    blocks = {}
    for (folder, count), pieces in found.items():
        if pieces.keys() >= set(range(1, count + 1)):
            text = decode(b"".join(pieces[number].piece_data for number in range(1, count + 1)))
            is_heading = any(page.piece and page.piece.kind == "heading" for page in pieces.values())
            blocks[folder] = Block(text, "heading" if is_heading else "piece")
    return blocks
