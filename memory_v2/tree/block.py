"""Text into blocks, and blocks back into text without losing a byte.

A block is a top-level piece of Markdown (a heading, a paragraph, one item of a list with what is nested in it, a fence,
a table, a quote, a front matter) with its exact characters, including the blank lines after it. markdown-it's block
rules decide which lines begin a block; the characters are always cut from the text itself, so
`"".join(b.text) == text`.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import accumulate, groupby, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Literal, TypeAlias

from memory_v2.tree.front_matter import front_matter_length

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

Kind: TypeAlias = Literal[
    "heading", "paragraph", "item", "fence", "code", "table", "quote", "html", "rule", "front matter", "piece"
]

MAX_NESTING = 100
"""Limits how deep lists and quotes nest, in levels; markdown-it recurses into each. Text nested deeper than anybody
writes by hand is cut at blank lines only."""
BYTE_ORDER_MARK = "\ufeff"
"""May be the first character of a file. It says how the file is encoded, and is no part of the text."""
MAX_KEPT = 100_000
"""Limits the texts whose blocks are kept for a while, in characters: many times a page, and little memory."""
MAX_KEPT_ALONE = 1_000_000
"""The same for the one text that is kept if it is larger. Its blocks take some ten times as much memory."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BLANK = " \t\r\n"
_LINE_REST = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"(?:\r\n|\r|\n)\Z")
_SIMPLE_LINE = re.compile(
    r"(?:(#{1,6}) |(?:[-*+]|(\d{1,9})[.)]) )?(?:[^\W\d_]|(?<= )\d)(?!\d{0,8}[.)] )[^\r\n\0]*\n?"
    r"|(?:(#{1,6})|([-*+])) *\n|\n"
)
"""A heading, an item or a line of a paragraph that begins with a letter or a digit, a heading or an item without text,
or a blank line: whatever stands around such lines, each begins a block or continues a paragraph, and nothing else. Only
a mark without text below a line of a paragraph may be something else."""
_TITLE = re.compile(r"#{1,6} [^\r\n]*\r?\n(?:[ \t]*\r?\n)+(?=[^\s\ufeff])")
"""A heading at the top with blank lines below it. Whatever follows is parsed as it would be without them."""
_NUMBER_SIGNS = re.compile(r" {0,3}#{1,6}(?=[ \t\r\n]|\Z)")
_CLOSING_SIGNS = re.compile(r"(?<![ \t])[ \t]+#+[ \t]*\Z")
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
    "front_matter": "front matter",
}


@dataclass(frozen=True)
class Block:
    """One block: its exact `text`, its `kind`, and the `level` of a heading (0 for other kinds)."""

    text: str
    kind: Kind = "paragraph"
    level: int = 0

    @cached_property
    def content(self) -> str:
        """The text without surrounding blank lines, without the last line end and without a byte order mark. Compare
        blocks by it."""
        text = self.text.removeprefix(BYTE_ORDER_MARK)
        first = len(text) - len(text.lstrip(_BLANK))
        start = max(text.rfind("\n", 0, first), text.rfind("\r", 0, first)) + 1
        end = _LINE_REST.match(text, len(text.rstrip(_BLANK)))
        return text[start : end.end()].removeprefix(BYTE_ORDER_MARK) if end and first < len(text) else ""

    @property
    def words(self) -> str:
        """The words of a heading in one line, or the content of any other block."""
        return self._heading if self.kind == "heading" else self.content

    @cached_property
    def _heading(self) -> str:
        lines = split_lines(self.content)
        if not lines or (found := _NUMBER_SIGNS.match(lines[0])) is None:
            return _in_one_line("".join(lines[:-1]))  # the last one underlines the others
        return _in_one_line(_CLOSING_SIGNS.sub("", lines[0][found.end() :].rstrip("\r\n")))

    @property
    def size(self) -> int:
        """The size of the text in UTF-8, in bytes."""
        return size_of(self.text)


def _in_one_line(text: str) -> str:
    return " ".join(line.strip() for line in text.splitlines() if line.strip())


def encode(text: str) -> bytes:
    """The text in UTF-8. Placeholders for bytes that were not UTF-8 become those bytes again."""
    return text.encode("utf-8", "surrogateescape")


def size_of(text: str) -> int:
    """The size of a text in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(encode(text))


def decode(data: bytes) -> str:
    """The text of some bytes, with a placeholder for each byte that is not UTF-8; `encode` restores the bytes
    exactly."""
    return data.decode("utf-8", "surrogateescape")


def readable(text: str) -> str:
    """The text with U+FFFD for each byte that is not UTF-8: for people, models and indexes; never store it."""
    return text if text.isascii() else encode(text).decode("utf-8", "replace")


def split_lines(text: str) -> list[str]:
    """The lines with their line ends. As in Markdown, only CR, LF and CRLF end a line."""
    if "\r" in text:
        return _LINE.findall(text)
    if text.find("\n") == len(text) - 1 >= 0:  # most blocks are one line
        return [text]
    *ended, last = text.split("\n")
    lines = [line + "\n" for line in ended]
    return [*lines, last] if last else lines


def is_blank(line: str) -> bool:
    """Whether the line is blank in Markdown."""
    return not line.strip(_BLANK)


def filled_lines(text: str) -> range:
    """The numbers of the lines, from 0, from the first to the last that is not blank; the first line if all are."""
    full = [number for number, line in enumerate(split_lines(text)) if not is_blank(line)] or [0]
    return range(full[0], full[-1] + 1)


def line_end(text: str) -> str:
    """The most frequent line end of the text; LF if it has none."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf > text.count("\n") - crlf else "\n"


def parse_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text; joined, they are the text. Blank lines belong to the block before them."""
    # A text is often parsed by itself, and then below the title of its page and with a blank line behind it.
    title = _TITLE.match(text)
    start, end = title.end() if title else 0, len(text.rstrip("\n")) + 1
    blocks = (*_kept(text[:start]), *_kept(text[start:end]))
    return (*blocks[:-1], replace(blocks[-1], text=blocks[-1].text + text[end:])) if text[end:] else blocks


def _kept(text: str) -> tuple[Block, ...]:
    if len(text) <= MAX_KEPT:
        return _parsed_lately(text)
    return _parsed_last(text) if len(text) <= MAX_KEPT_ALONE else _parsed(text)


@contextmanager
def uncollected() -> Iterator[None]:
    """Pauses the collector of cycles while much is made of a large text, of which nothing is a cycle. To walk it all
    again and again, as there is more of it, takes as long as to make it."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_on:
            gc.enable()


@uncollected()
def _parsed(text: str) -> tuple[Block, ...]:
    starts = _simple_starts(text)
    if starts is None:
        lines = split_lines(text)
        of_lines = list(accumulate(map(len, lines), initial=0))
        starts = [(of_lines[number], *found) for number, found in _starts(lines).items()]
    if not starts:
        return (Block(text),) if text else ()
    places = [0, *(place for place, _, _ in starts[1:]), len(text)]  # blank lines at the top belong to the first block
    return tuple(
        Block(text[start:end], kind, level)
        for (_, kind, level), (start, end) in zip(starts, pairwise(places), strict=True)
    )


_parsed_lately = lru_cache(maxsize=64)(_parsed)
"""The blocks of a text that an operation may parse several times: when a page is staged, stored, indexed, read."""
_parsed_last = lru_cache(maxsize=1)(_parsed)
"""The same for a large text, of which only one is kept: it is staged, indexed and split."""


def _simple_starts(text: str) -> list[tuple[int, Kind, int]] | None:
    """Where blocks begin in a text of simple lines only, with kind and level, in a twentieth of the time that `_starts`
    takes; `None` for any other text."""
    starts: list[tuple[int, Kind, int]] = []
    open_: Kind | None = None
    place = 0
    while place < len(text):
        if (line := _SIMPLE_LINE.match(text, place)) is None:
            return None
        signs, counted, bare_signs, bare_mark = line.groups()
        if signs := signs or bare_signs:
            open_ = None
            starts.append((place, "heading", len(signs)))
        elif bare_mark:
            if open_ == "paragraph":
                return None
            open_ = None
            starts.append((place, "item", 0))
        elif text[place] == "\n":
            open_ = None
        elif counted or text[place] in "-*+":
            # Within a paragraph only the number 1 begins a list.
            if open_ != "paragraph" or counted is None or int(counted) == 1:
                open_ = "item"
                starts.append((place, open_, 0))
        elif open_ is None:
            open_ = "paragraph"
            starts.append((place, open_, 0))
        place = line.end()
    return starts


def _starts(lines: Sequence[str]) -> dict[int, tuple[Kind, int]]:
    """The lines on which blocks begin, in order, each with kind and level of its block."""
    starts: dict[int, tuple[Kind, int]] = {}
    covered = 0
    tokens = markdown("".join(lines).removeprefix(BYTE_ORDER_MARK))
    if _is_too_deep(tokens):
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


def _is_too_deep(tokens: Iterable[Token]) -> bool:
    """Whether the parser has ignored the rest of a text, as it is nested too deep."""
    return max(map(attrgetter("level"), tokens), default=0) >= MAX_NESTING - 2


def _starts_part_by_part(lines: Sequence[str]) -> dict[int, tuple[Kind, int]]:
    """The same for text nested too deep to parse as a whole: the parts between blank lines that are too deep are parsed
    alone, and the text between them as a whole, so that its blocks are the same without them."""
    firsts = [n for n in range(len(lines)) if not is_blank(lines[n]) and (n == 0 or is_blank(lines[n - 1]))]
    if len(firsts) < 2:
        return dict.fromkeys(firsts, ("paragraph", 0))
    parts = list(zip(firsts, [*firsts[1:], len(lines)], strict=True))
    deep = {first for first, end in parts if _is_too_deep(markdown("".join(lines[first:end])))}
    starts: dict[int, tuple[Kind, int]] = {}
    # If no part is too deep alone, each is parsed alone.
    for is_alone, group in groupby(parts, key=lambda part: not deep or part[0] in deep):
        together = list(group)
        for first, end in together if is_alone else [(together[0][0], together[-1][1])]:
            starts |= {first + n: found for n, found in _starts(lines[first:end]).items()}
    return starts


def _cover_rest(lines: Sequence[str], start: int, end: int, starts: dict[int, tuple[Kind, int]]) -> None:
    """Link reference definitions have no token; non-blank lines between two tokens belong to them."""
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
    """markdown-it's block tokens with their line ranges; inline content is not parsed."""
    with uncollected():
        return _parser().parse(text)


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable("table")
    parser.block.ruler.before("table", "front_matter", _front_matter)
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _front_matter(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The parser's rule for a front matter: at the start of the text, or behind a blank line where no list, quote or
    fence is open."""
    is_at_top = state.level == state.blkIndent == state.sCount[start] == 0
    if not is_at_top or not state.src.startswith("---", state.bMarks[start]):
        return False
    if start > 0 and not state.isEmpty(start - 1):
        return False
    length = front_matter_length(state.src[state.bMarks[n] : state.eMarks[n]] for n in range(start, end))
    if length and not silent:
        state.push("front_matter", "", 0).map = [start, start + length]
        state.line = start + length
    return length > 0


def join_runs(runs: Iterable[Sequence[Block]], newline: str = "\n") -> str:
    """The runs as one text. No byte is added inside a run. A blank line is added between two runs if their blocks would
    otherwise merge.
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
    """The blocks with these numbers (from 1), in the order given; neighbours form one run."""
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
    """What to append so that a text ends in a blank line: nothing, one line end, or two."""
    lines = split_lines(text)
    if not lines or (is_blank(lines[-1]) and _LINE_END.search(lines[-1])):
        return ""
    if lines[-1].endswith("\r"):
        return "\r"  # a line feed would turn CR into one CRLF
    return newline if _LINE_END.search(lines[-1]) else 2 * newline


def close_block(block: Block, newline: str = "\n") -> Block:
    """The block; a fence or HTML that was left open is closed, so that it does not swallow the text after it."""
    closing = _closing(block)
    if closing is None:
        return block
    ended = block.text if _LINE_END.search(block.text) else block.text + newline
    return Block(ended + closing + newline, block.kind, block.level)


def new_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a text that enters the tree, without its byte order mark. The last one is closed, so that it
    swallows nothing after it."""
    blocks = parse_blocks(text.removeprefix(BYTE_ORDER_MARK))
    return (*blocks[:-1], close_block(blocks[-1], line_end(text))) if blocks else ()


def _closing(block: Block) -> str | None:
    content = block.content
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
