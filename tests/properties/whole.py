"""What must hold of a tree after every operation, checked on the stored bytes themselves."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from memory_v2.memory import Memory
from memory_v2.storage.base import MemoryStorage
from memory_v2.text.words import normal
from memory_v2.tree.block import decode
from memory_v2.tree.graph import build_graph
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import ROOT, fold, is_page_path, link_key
from memory_v2.tree.titles import section_blocks


def clock() -> datetime:
    """Moments a millisecond apart, so that no test ends on another day than it began; no two runs see others."""
    return datetime(2026, 3, 1, tzinfo=UTC) + timedelta(milliseconds=next(_ticks))


_ticks = itertools.count()


def pages_of(storage: MemoryStorage) -> dict[str, Page]:
    """Every page, as its bytes say."""
    return {path: read_page(path, storage.read(path).data) for path in storage.list_files()}


def faults(pages: dict[str, Page], threshold: int) -> list[str]:
    """What is not whole: pages out of reach, entries that lead nowhere, pages too large or not equal to themselves."""
    if not pages:
        return []
    if ROOT not in pages:
        return ["there is no root"]
    found = [f"{path} is out of reach" for path in build_graph(pages.values()).unreachable]
    known = {fold(path) for path in pages}
    if len(known) < len(pages):
        found.append("two paths differ only in case")
    for path, page in pages.items():
        if not is_page_path(path):
            found.append(f"{path!r} is no path")
        if page.size > threshold:
            found.append(f"{path} has {page.size} bytes")
        if read_page(path, page.data) != page or "".join(block.text for block in page.blocks) != page.body:
            found.append(f"{path} is not what it parses to")
        if page.piece is not None and len(page.piece_data) != page.piece.size:
            found.append(f"{path} holds {len(page.piece_data)} of {page.piece.size} bytes of its piece")
        found += [
            f"{path} lists {e.target!r}, which is no page" for e in page.children if link_key(e.target) not in known
        ]
    return found


def joined_pieces(pages: dict[str, Page]) -> list[str]:
    """The blocks that were too large for a page: their pieces in order."""
    cut: dict[tuple[str, int], list[tuple[int, bytes]]] = {}
    for path, page in pages.items():
        if page.piece is not None:
            key = (path.rsplit("/part-", 1)[0], page.piece.count)
            cut.setdefault(key, []).append((page.piece.number, page.piece_data))
    return [decode(b"".join(data for _, data in sorted(parts))) for parts in cut.values()]


def texts_of(pages: dict[str, Page]) -> list[str]:
    """All that is kept: the bodies of the pages, and the blocks put together again. A description is no copy; a title
    that was the heading of a section still is one."""
    bodies = ("".join(block.text for block in section_blocks(page)) for page in pages.values())
    return [*bodies, *joined_pieces(pages)]


def missing(contents: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Which of these contents stand nowhere to the letter."""
    everything = list(texts)
    return [content for content in contents if not any(content in text for text in everything)]


def says(pages: dict[str, Page], content: str) -> bool:
    """Whether a block says the same but for its dress."""
    wanted = normal(content)
    blocks = (block.content for page in pages.values() for block in page.blocks)
    return any(normal(text) == wanted for text in (*blocks, *joined_pieces(pages)))


def stands(memory: Memory, text: str) -> bool:
    """Whether the text stands in the tree to the letter."""
    return not missing([text], texts_of(pages_of(memory.storage)))
