"""The pages of a tree, and which of them has each block, so that the blocks of documents can be found, each once."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence

from memory_v2.errors import PageNotFound, Unreadable
from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.progress import with_progress
from memory_v2.tree.block import Block, close_block, decode, encode, filled_lines, parse_blocks, split_lines
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
    """The pages that have each block of a tree. Each can be taken once, since a text that two documents have must be
    there twice; but a heading is there for every section below it."""

    def __init__(self, pages: Iterable[Page]) -> None:
        self._free: dict[bytes, list[str]] = {}
        self._first: dict[bytes, str] = {}
        self._lines: dict[str, str] = {}
        cut: list[Page] = []
        for page in pages:
            self._lines[page.path] = _in_lines(page.body)
            cut += [page] if page.piece else []
            for block in page.blocks:
                if block.kind != "piece" and is_text(block):
                    self._add(block, page.path)
        for path, pieces in cut_blocks(cut).items():
            text = decode(b"".join(piece.piece_data for piece in pieces))
            is_heading = any(page.piece and page.piece.kind == "heading" for page in pieces)
            self._add(Block(text, "heading" if is_heading else "piece"), path)

    def take_all(self, sought: Sequence[tuple[Block, str] | None]) -> list[str]:
        """Takes each block: on the page that its document was brought to, else below that, else anywhere, so that
        equal blocks of several documents are told apart. Returns the page of each, empty if it has none."""
        places = [""] * len(sought)
        for is_near in (str.__eq__, _is_below, _is_anywhere):
            for number, one in enumerate(sought):
                if one and not places[number]:
                    places[number] = self._take(*one, is_near)
        return [place or (self._in_another(*one) if one else "") for place, one in zip(places, sought, strict=True)]

    def find(self, block: Block) -> str:
        """A page that has the block, taken or not; empty if none has."""
        return next((self._first[key] for key in keys_of(block) if key in self._first), "")

    def _take(self, block: Block, own: str, is_near: Callable[[str, str], bool]) -> str:
        for key in keys_of(block):
            free = self._free.get(key, [])
            if page := next((page for page in free if is_near(page, own)), ""):
                if block.kind != "heading" or len(free) > 1:
                    free.remove(page)
                return page
        return ""

    def _in_another(self, block: Block, page: str) -> str:
        """The page, if no block of the tree has this text but its lines follow each other there: what is indented code
        in one place may belong to an item in another."""
        is_there = not self.find(block) and _in_lines(block.content) in self._lines.get(page, "")
        return page if is_there else ""

    def _add(self, block: Block, page: str) -> None:
        key = key_of(block)
        self._first.setdefault(key, page)
        self._free.setdefault(key, []).append(page)


def _is_below(page: str, own: str) -> bool:
    return page.startswith(f"{own}/")


def _is_anywhere(_page: str, _own: str) -> bool:
    return True


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in split_lines(text)]


def _in_lines(text: str) -> str:
    """The text with a line end before and after each line, whatever the ends were."""
    return "\n".join(["", *_lines(text), ""])
