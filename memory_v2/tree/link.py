"""Links: `[[path]]`, `[[path|words]]` and `[[path#heading]]`, anywhere except in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from memory_v2.errors import InvalidPath
from memory_v2.tree.block import Block, markdown, split_lines
from memory_v2.tree.path import fold, page_path

LINK = re.compile(r"\[\[([^\[\]|#\r\n\\]+)(#[^\[\]|\r\n]*)?(\\?\|[^\[\]\r\n]*)?\]\]")
_PLAIN = re.compile(r"(?: {0,3}(?:[-*+]|\d{1,9}[.)]) {1,4})?(?:[^\W\d_]|\[\[)[^\r\n]*(?:\r\n|\r|\n)?(?=[ \t\r\n]*\Z)")
"""One line that begins with a letter or a link, also as an item: it is prose, and need not be parsed."""
_TOKEN = re.compile(r"\\[\\`\[]|`+|\[\[")


@dataclass(frozen=True, slots=True)
class Link:
    """One link: its target, and its position in the text from `start` to `end`."""

    target: str
    start: int
    end: int
    heading: str = ""
    words: str = ""

    @property
    def key(self) -> str | None:
        """The folded path under which the target is looked up; `None` if the path is not valid for a page."""
        return link_key(self.target)

    def to(self, path: str) -> str:
        """The same link, to another page."""
        return f"[[{path}{self.heading}{self.words}]]"

    def unlinked(self) -> str:
        """The words that replace the link when its page is deleted."""
        return self.words.lstrip("\\|").strip() or self.target.strip()


@lru_cache(maxsize=10_000)
def link_key(target: str) -> str | None:
    """The folded path that a target names, without the `.md` that some editors append; `None` if it is not valid."""
    try:
        return fold(page_path(re.sub(r"\.md\Z", "", target.strip(), flags=re.I)))
    except InvalidPath:
        return None


def find_links(block: Block, place: int = 0) -> list[Link]:
    """The links of a block, in order, with their positions in a text in which the block begins at `place`. Code, front
    matter and pieces have no links."""
    if "[[" not in block.text or block.kind in ("fence", "code", "html", "front matter", "piece"):
        return []
    links = []
    for start, text in _prose(block.text):
        for opening in _open_brackets(text):
            if found := LINK.match(text, opening):
                target, heading, words = found.groups()
                at = place + start
                links.append(Link(target, at + found.start(), at + found.end(), heading or "", words or ""))
    return links


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The runs of lines that are prose: items and quotes may also contain fences and indented code."""
    if plain := _PLAIN.match(text):
        yield 0, plain[0]
        return
    lines = split_lines(text)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    ranges = {tuple(token.map) for token in markdown(text) if token.type == "inline" and token.map}
    for first, last in sorted(ranges):
        yield offsets[first], text[offsets[first] : offsets[last]]


def _open_brackets(text: str) -> Iterator[int]:
    """The positions of each `[[` that is neither escaped nor inside a code span."""
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        mark = token[0]
        if mark[0] == "`":
            closing = re.compile(rf"(?<!`){mark}(?!`)").search(text, position)
            position = closing.end() if closing else position
        elif mark == "[[":
            yield token.start()
            position = token.start() + 1
