"""What is a link: `[[path]]`, `[[path|words]]`, `[[path#heading]]`, anywhere but in code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory_v2.errors import InvalidPath
from memory_v2.tree.block import Block, markdown, split_lines
from memory_v2.tree.path import fold, page_path

_LINK = re.compile(r"\[\[([^\[\]|#\r\n\\]+)(#[^\[\]|\r\n]*)?(\\?\|[^\[\]\r\n]*)?\]\]")
_TOKEN = re.compile(r"\\[\\`\[]|`+|\[\[")


@dataclass(frozen=True, slots=True)
class Link:
    """One link: what it names, and the characters `start` to `end` of the text in which it stands."""

    target: str
    start: int
    end: int
    heading: str = ""
    words: str = ""

    @property
    def key(self) -> str | None:
        """The folded path under which the target is looked up; `None` if no page may have such a path."""
        return link_key(self.target)

    def to(self, path: str) -> str:
        """The same link, to another page."""
        return f"[[{path}{self.heading}{self.words}]]"

    def unlinked(self) -> str:
        """The words that are left when the page is gone."""
        return self.words.lstrip("\\|").strip() or self.target.strip()


def link_key(target: str) -> str | None:
    """The folded path that a link's target names; `.md` behind it, as some editors write it, is passed over."""
    try:
        return fold(page_path(re.sub(r"\.md\Z", "", target.strip(), flags=re.I)))
    except InvalidPath:
        return None


def find_links(block: Block) -> list[Link]:
    """The links of a block, in order, with their places in its text. What stands in code, or in a piece, is text."""
    if "[[" not in block.text or block.kind in ("fence", "code", "html", "piece"):
        return []
    links = []
    for start, text in _prose(block.text):
        for opening in _open_brackets(text):
            if found := _LINK.match(text, opening):
                target, heading, words = found.groups()
                at = start + found.start()
                links.append(Link(target, at, start + found.end(), heading or "", words or ""))
    return links


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """The runs of lines that hold prose: an item or a quote may hold fences and indented code too."""
    lines = split_lines(text)
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line))
    ranges = {tuple(token.map) for token in markdown(text) if token.type == "inline" and token.map}
    for first, last in sorted(ranges):
        yield offsets[first], text[offsets[first] : offsets[last]]


def _open_brackets(text: str) -> Iterator[int]:
    """Where a `[[` stands that is neither escaped nor inside a code span."""
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
