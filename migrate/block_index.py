"""The pages of a tree, and where each of their blocks is, so that the blocks of documents can be found, each once."""

from __future__ import annotations

import hashlib
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.progress import with_progress
from memory_v2.tree.block import Block, close_block, decode, encode, filled_lines, parse_blocks, split_lines
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import prefixes

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Lines of a page (from 1) that hold a block, or from its line `skipped` (from 0) on a piece of it."""

    page: str
    first: int
    last: int
    skipped: int = 0


Places = tuple[Place, ...]
"""Where one block is: in one place, or in several in order if it was too large for a page."""


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


def is_text(block: Block) -> bool:
    """Whether a block holds something that could be lost. A rule between texts does not."""
    return block.kind != "rule" and bool(block.content.strip())


def key_of(block: Block) -> bytes:
    """What a block is found by: its text, whatever its line ends; of a heading its words, since a heading may become a
    title or get another level."""
    is_heading = block.kind == "heading" and bool(block.words)
    said = block.words if is_heading else "\n".join(_lines(block.content))
    return hashlib.blake2b(encode(said), digest_size=16, person=b"heading" if is_heading else b"").digest()


def keys_of(block: Block) -> list[bytes]:
    """All that a block may be found by: a fence at the end of a text may have been left open, and is closed when
    something comes below it."""
    closed = close_block(block)
    return [key_of(block)] if closed is block else [key_of(block), key_of(closed)]


def texts_of(text: str) -> list[tuple[Block, range]]:
    """The blocks of a text that hold something, each with its lines (from 1)."""
    return [(block, lines) for block, lines in placed(parse_blocks(text)) if is_text(block)]


def placed(blocks: Iterable[Block], first: int = 1) -> Iterator[tuple[Block, range]]:
    """The blocks that follow each other, each with its lines, the blank ones around it left out."""
    for block in blocks:
        filled = filled_lines(block.text)
        yield block, range(first + filled.start, first + filled.stop)
        first += len(split_lines(block.text))


class BlockIndex:
    """The blocks of a tree. Each can be taken once, since a text that two documents have must be there twice; but a
    heading is there for every section below it."""

    def __init__(self, pages: Iterable[Page], owners: Iterable[str] = ()) -> None:
        """`owners` are the pages that documents were brought to. The pages below such a page belong to it too."""
        self._owners = frozenset(owners)
        self._free: dict[bytes, dict[str, deque[Places]]] = {}
        self._first: dict[bytes, Places] = {}
        self._bodies: dict[str, str] = {}
        self._taken: set[tuple[str, int]] = set()
        cut: list[Page] = []
        for page in pages:
            self._bodies[page.path] = page.body
            cut += [page] if page.piece else []
            for block, lines in placed(page.blocks):
                if block.kind != "piece" and is_text(block):
                    self._add(block, (Place(page.path, lines.start, lines.stop - 1),))
        for pieces in cut_blocks(cut).values():
            self._add_pieces(pieces)

    def take(self, block: Block, owner: str | None = None) -> Places:
        """Takes the block where it is on the page `owner` or on one that belongs to it, or anywhere if there is no
        owner; empty if it is nowhere or was taken already."""
        for key in keys_of(block):
            by_owner = self._free.get(key, {})
            name = owner if owner is not None else next(iter(by_owner), "")
            if not (free := by_owner.get(name)):
                continue
            if block.kind == "heading" and len(free) == 1:
                return free[0]
            places = free.popleft()
            if not free:
                del by_owner[name]
            self._taken |= {(place.page, line) for place in places for line in range(place.first, place.last + 1)}
            return places
        return ()

    def find(self, block: Block) -> Places:
        """Where the block is, taken or not."""
        return next((self._first[key] for key in keys_of(block) if key in self._first), ())

    def take_lines(self, block: Block, page: str) -> Places:
        """Takes the lines of the block where they follow each other on this page, though they are not one block there:
        what is indented code in one place may belong to an item in another."""
        wanted = _lines(block.content)
        lines = _lines(self._bodies.get(page, ""))
        for start in range(len(lines) - len(wanted) + 1):
            if lines[start] != wanted[0] or lines[start : start + len(wanted)] != wanted:
                continue
            covered = {(page, number) for number in range(start + 1, start + len(wanted) + 1)}
            if not covered & self._taken:
                self._taken |= covered
                return (Place(page, start + 1, start + len(wanted)),)
        return ()

    def blocks_with(self, is_sought: Callable[[str], bool]) -> Iterator[str]:
        """The blocks of the tree whose text is sought."""
        for body in filter(is_sought, self._bodies.values()):
            yield from (block.content for block in parse_blocks(body) if is_sought(block.content))

    def _add(self, block: Block, places: Places) -> None:
        key = key_of(block)
        self._first.setdefault(key, places)
        self._free.setdefault(key, {}).setdefault(self._owner(places[0].page), deque()).append(places)

    def _add_pieces(self, pages: Sequence[Page]) -> None:
        """Adds the block that was cut into these pieces."""
        places, skipped, data = [], 0, b""
        for page in pages:
            data += page.piece_data
            lines = split_lines(decode(page.piece_data))
            places.append(Place(page.path, 3, 2 + len(lines), skipped))
            skipped += sum(line.endswith(("\r", "\n")) for line in lines)
        is_heading = any(page.piece and page.piece.kind == "heading" for page in pages)
        self._add(Block(decode(data), "heading" if is_heading else "piece"), tuple(places))

    def _owner(self, page: str) -> str:
        return next((path for path in reversed(prefixes(page)) if path in self._owners), "")


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)]
