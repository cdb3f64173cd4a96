"""How text becomes blocks, and how blocks become text again without the loss of a byte.

A block is a top-level piece of Markdown (a heading, a paragraph, one item of a list with what is nested in it, a fence,
a table, a quote) with its exact characters, the blank lines behind it included. Which lines begin a block is decided by
markdown-it's block rules; the characters are always cut from the text itself, so `"".join(b.text) == text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

Kind: TypeAlias = Literal["heading", "paragraph", "item", "fence", "code", "table", "quote", "html", "rule", "piece"]

DEEPEST = 100
"""Levels of lists and quotes in one another; text nested deeper is parted at its blank lines only."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HTML_ENDS = (
    (re.compile(r" {0,3}<(script|pre|style|textarea)(?=\s|>|\Z)", re.I), "</{}>"),
    (re.compile(r" {0,3}<!--"), "-->"),
    (re.compile(r" {0,3}<\?"), "?>"),
    (re.compile(r" {0,3}<!\[CDATA\["), "]]>"),
    (re.compile(r" {0,3}<![A-Z]", re.I), ">"),
)
_KINDS: dict[str, Kind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "list_item_open": "item",
    "fence": "fence",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
}


@dataclass(frozen=True, slots=True)
class Block:
    """One block: its exact `text`, what `kind` it is, and a heading's `level` (0 for what is no heading)."""

    text: str
    kind: Kind = "paragraph"
    level: int = 0

    @property
    def content(self) -> str:
        """The text without the blank lines around it and without its last line end: what two equal blocks share."""
        lines = split_lines(self.text)
        while lines and is_blank(lines[-1]):
            lines.pop()
        while lines and is_blank(lines[0]):
            lines.pop(0)
        return _LINE_END.sub("", "".join(lines))

    @property
    def words(self) -> str:
        """A heading's words, or the content of any other block."""
        if self.kind != "heading":
            return self.content
        first = self.content.removeprefix("\ufeff").splitlines()[0] if self.content else ""
        return re.sub(r"[ \t]+#+[ \t]*\Z", "", re.sub(r"\A {0,3}#{1,6}(?=[ \t]|\Z)", "", first)).strip()

    @property
    def size(self) -> int:
        """Bytes of the text in UTF-8."""
        return len(encode(self.text))


def encode(text: str) -> bytes:
    """UTF-8; characters that stand for bytes which never were UTF-8 become those bytes again."""
    return text.encode("utf-8", "surrogateescape")


def decode(data: bytes) -> str:
    """The text of some bytes; `encode` gives exactly these bytes back, even where they are not UTF-8."""
    return data.decode("utf-8", "surrogateescape")


def readable(text: str) -> str:
    """The text with U+FFFD for each byte that is not UTF-8: for people, models and indexes, never for storing."""
    return encode(text).decode("utf-8", "replace")


def split_lines(text: str) -> list[str]:
    """The lines with their line ends; only CR, LF and CRLF end a line, as in Markdown."""
    return _LINE.findall(text)


def is_blank(line: str) -> bool:
    """Whether Markdown takes the line for blank."""
    return not line.strip(" \t\r\n")


def line_end(text: str) -> str:
    """The line end that the text uses most; LF where it has none."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def parse_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text; joined they are the text. Blank lines belong to the block before them."""
    lines = split_lines(text)
    starts = _starts(lines)
    if not starts:
        return (Block(text),) if text else ()
    first = next(iter(starts))
    if first:  # blank lines at the very top have no block before them
        starts = {0: starts.pop(first), **starts}
    ends = [*list(starts)[1:], len(lines)]
    return tuple(
        Block("".join(lines[start:end]), kind, level)
        for (start, (kind, level)), end in zip(starts.items(), ends, strict=True)
    )


def _starts(lines: Sequence[str]) -> dict[int, tuple[Kind, int]]:
    """The lines on which a block begins, in order, with its kind and level."""
    starts: dict[int, tuple[Kind, int]] = {}
    covered = 0
    tokens = markdown("".join(lines).removeprefix("\ufeff"))
    if any(token.level >= DEEPEST - 2 for token in tokens):  # there the parser gives up on the rest of the text
        return _starts_part_by_part(lines)
    for token in _top_level(tokens):
        assert token.map is not None
        start, end = token.map
        _cover_rest(lines, covered, start, starts)
        kind = _KINDS.get(token.type, "paragraph")
        starts[start] = (kind, int(token.tag[1]) if kind == "heading" else 0)
        covered = end
    _cover_rest(lines, covered, len(lines), starts)
    return starts


def _starts_part_by_part(lines: Sequence[str]) -> dict[int, tuple[Kind, int]]:
    """The same for text that is nested too deep to be read as a whole: each part between blank lines by itself."""
    firsts = [n for n in range(len(lines)) if not is_blank(lines[n]) and (n == 0 or is_blank(lines[n - 1]))]
    if len(firsts) < 2:
        return dict.fromkeys(firsts, ("paragraph", 0))
    starts: dict[int, tuple[Kind, int]] = {}
    for first, end in zip(firsts, [*firsts[1:], len(lines)], strict=True):
        starts |= {first + n: found for n, found in _starts(lines[first:end]).items()}
    return starts


def _cover_rest(lines: Sequence[str], start: int, end: int, starts: dict[int, tuple[Kind, int]]) -> None:
    """Link reference definitions give no token; the lines between two tokens that are not blank are theirs."""
    for number in range(start, end):
        if lines[number].strip(" \t\r\n\ufeff"):
            starts[number] = ("paragraph", 0)
            return


def _top_level(tokens: Iterable[Token]) -> Iterable[Token]:
    for token in tokens:
        if token.map is None or token.nesting < 0:
            continue
        if token.level == 0 and token.type in ("bullet_list_open", "ordered_list_open"):
            continue
        if token.level == 0 or (token.level == 1 and token.type == "list_item_open"):
            yield token


def markdown(text: str) -> list[Token]:
    """markdown-it's block tokens with their line ranges; the inside of lines is left unread."""
    return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def join_runs(runs: Iterable[Sequence[Block]], newline: str = "\n") -> str:
    """The runs as one text. Inside a run not a byte is added; between two runs a blank line is put where the last block
    of the one and the first of the other would otherwise run together.
    """
    parts: list[str] = []
    before: Block | None = None
    for run in runs:
        for position, block in enumerate(run):
            if before is not None and position == 0:
                parts.append(_gap(before, block, newline))
            parts.append(block.text)
            before = block
    return "".join(parts)


def take_runs(blocks: Sequence[Block], numbers: Iterable[int]) -> list[tuple[Block, ...]]:
    """The blocks with these numbers (from 1), in the order given, those that stood together as one run."""
    runs: list[list[Block]] = []
    last = None
    for number in numbers:
        if last is not None and number == last + 1:
            runs[-1].append(blocks[number - 1])
        else:
            runs.append([blocks[number - 1]])
        last = number
    return [tuple(run) for run in runs]


def _gap(before: Block, after: Block, newline: str) -> str:
    if before.kind == after.kind == "item":
        return "" if _LINE_END.search(before.text) else newline
    return to_blank_line(before.text, newline)


def to_blank_line(text: str, newline: str) -> str:
    """What is missing behind a text for it to end in a blank line: nothing, one line end, or two."""
    lines = split_lines(text)
    if not lines or (is_blank(lines[-1]) and _LINE_END.search(lines[-1])):
        return ""
    if lines[-1].endswith("\r"):
        return "\r"  # a line feed would make one line end of two
    return newline if _LINE_END.search(lines[-1]) else 2 * newline


def close_block(block: Block, newline: str = "\n") -> Block:
    """The block, closed if it is a fence or HTML that would swallow whatever comes to stand behind it."""
    closing = _closing(block)
    if closing is None:
        return block
    ended = block.text if _LINE_END.search(block.text) else block.text + newline
    return Block(ended + closing + newline, block.kind, block.level)


def _closing(block: Block) -> str | None:
    content = block.content.removeprefix("\ufeff")
    if block.kind == "fence":
        opening = _FENCE.match(content)
        assert opening is not None
        mark = opening[1]
        closed = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")
        lines = split_lines(content)
        return None if len(lines) > 1 and closed.fullmatch(lines[-1].rstrip("\r\n")) else mark
    if block.kind == "html":
        for opening_mark, ending in _HTML_ENDS:
            if found := opening_mark.match(content):
                end = ending.format(found[1]) if found.groups() else ending
                return None if end in content[found.end() :].lower() or end in content[found.end() :] else end
    return None
