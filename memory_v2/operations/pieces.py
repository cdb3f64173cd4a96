"""Cutting a block that is too large for a page into pieces, which are its bytes in order."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory_v2.models.offline.describing import describe_page
from memory_v2.operations.context import MAX_CHILDREN
from memory_v2.text.calendar import DAY
from memory_v2.text.plain import shorten
from memory_v2.tree.block import Block, decode, encode, split_lines
from memory_v2.tree.page import Page, Piece, new_page, piece_page

ROOM = 1_000
"""How many bytes of a page are kept free for the title and the metadata around a piece, which may hold a long path."""
GROUP = 24
"""How many pieces are listed on one page when there are more than `MAX_CHILDREN`, with room left below that limit."""
_TIMED = re.compile(rf"^[^\w\r\n]*+(?:({DAY})[T ])?([01]?\d|2[0-3]):([0-5]\d)(?!\d)", re.M)


def too_large(block: Block, threshold: int) -> bool:
    """Whether the block is too large for a page."""
    return block.size > threshold - ROOM


def times_of(block: Block, path: str) -> str:
    """From when to when the lines of a block are, if most begin with a time; each with its day, unless the page is
    of that day. Empty otherwise."""
    text = decode(encode(block.content))
    found = sorted((day, f"{hour:0>2}:{minute}") for day, hour, minute in _TIMED.findall(text))
    if len(found) < 2 or 2 * len(found) < len(text.splitlines()):
        return ""
    days = {day for day, _ in found if day}
    is_known = not days or (len(days) == 1 and days <= set(path.split("/")))
    first, last = (clock if is_known else f"{day} {clock}".strip() for day, clock in (found[0], found[-1]))
    return f"{first} to {last} log"


def cut_block(block: Block, path: str, title: str, threshold: int) -> list[Page]:
    """Returns the pages for the block: the first, at `path`, lists the others, which hold its pieces in order."""
    data = list(_cut(encode(block.text), threshold - ROOM))
    digits = len(str(len(data)))
    pieces = [
        piece_page(f"{path}/part-{number:0{digits}}", f"{title} {number}/{len(data)}", part, piece)
        for number, part in enumerate(data, 1)
        for piece in [Piece(number, len(data), len(part), block.kind)]
    ]
    level = [
        (page, _told(number, len(data), part, path))
        for number, (page, part) in enumerate(zip(pieces, data, strict=True), 1)
    ]
    above: list[Page] = []
    while len(level) > MAX_CHILDREN:
        grouped = []
        for start in range(0, len(level), GROUP):
            members = level[start : start + GROUP]
            first, last = (page.path.rsplit("/part-", 1)[-1] for page, _ in (members[0], members[-1]))
            first, last = first.split("-to-")[0], last.split("-to-")[-1]
            page = _index(f"{path}/part-{first}-to-{last}", f"{title} {int(first)}-{int(last)}", members)
            grouped.append((page, f"parts {int(first)} to {int(last)} of {len(data)}"))
        above += [page for page, _ in grouped]
        level = grouped
    return [_index(path, title, level), *above, *pieces]


def _told(number: int, count: int, part: bytes, path: str) -> str:
    """The line of a piece: from when to when its lines are, and what they tell; or else how it begins."""
    text = decode(part)
    times = times_of(Block(text), path).removesuffix(" log")
    shown = f"part {number} of {count}"
    if not times:
        return f"{shown}: {shorten(text[:400], 60)}"
    return describe_page(f"{times}, {shown}", [Block(text)])


def _index(path: str, title: str, members: Iterable[tuple[Page, str]]) -> Page:
    return new_page(path, title).with_children((member.path, description) for member, description in members)


def _cut(data: bytes, limit: int) -> Iterable[bytes]:
    """The bytes in parts of at most `limit`, cut at line ends. A longer line is cut at a space, or else between
    characters."""
    part = b""
    for line in map(encode, split_lines(decode(data))):
        while len(part) + len(line) > limit:
            if part:
                yield part
                part = b""
                continue
            at = _cut_in_line(line, limit)
            yield line[:at]
            line = line[at:]
        part += line
    if part:
        yield part


def _cut_in_line(line: bytes, limit: int) -> int:
    blank = line.rfind(b" ", limit // 2, limit)
    if blank > 0:
        return blank + 1
    at = limit
    while at > limit - 4 and 0x80 <= line[at] < 0xC0:  # never inside a character
        at -= 1
    return at
