"""A page: a body of blocks, the links to its children, and metadata.

    # title
    body
    ## Links
    - [[path]] - description
    ## Metadata
    last_updated: …

The program writes the last two sections. Their form tells them from a person's text: they are at the end of the page,
each line of the first is an item that begins with a link, and each line of the second is `key: value`. Anything else is
body. A page keeps the exact text of its three parts, so rendering a parsed page gives the same bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import accumulate

from memory_v2.text.days import iso_day, named_day
from memory_v2.text.lists import replacing
from memory_v2.text.words import content_words, has_cjk, shorten, words
from memory_v2.tree.block import (
    BYTE_ORDER_MARK,
    Block,
    decode,
    encode,
    is_blank,
    join_runs,
    line_end,
    parse_blocks,
    readable,
    split_lines,
    to_blank_line,
)
from memory_v2.tree.front_matter import FrontMatter, read_front_matter
from memory_v2.tree.path import ROOT, Link, find_links, link_key
from memory_v2.tree.sections import CHILD_LINK, PROPERTY, Sections, end_sections, misplaced_sections, part
from memory_v2.tree.source import DATE, SOURCE, Source, is_source_line, told_sources


@dataclass(frozen=True, slots=True)
class ChildLink:
    """One line of `## Links`: a child, its description, and the exact line."""

    target: str
    description: str
    line: str


@dataclass(frozen=True, slots=True)
class Piece:
    """Piece `number` of `count` of a block that is too large for one page. The first `size` bytes below the title of
    the page are that piece; the block is of this `kind`."""

    number: int
    count: int
    size: int
    kind: str

    def __str__(self) -> str:
        return f"{self.number} of {self.count}, {self.size} bytes of {self.kind}"


MAX_OPENING = 100
"""The length, in characters, of the beginning of a text that describes its page."""
MOST_COMPARED = 100
"""How many statements, the last ones, are asked whether they say that the beginning has changed."""
MAX_DESCRIPTION = 240
"""Limits the description of a child, in characters: two lines, enough for a reader to choose by."""
MAX_TITLE = 500
"""Limits a heading that stays at the top when its page is split, in bytes. A longer one is text, and may move."""

MAX_FRONT_MATTER = 1_200
"""Limits a front matter that stays at the top when its page is split, in bytes: the smallest page has room for it, a
title, and links. A longer one is text, and may move."""

_LINE_END = re.compile(rb"[\r\n]")
_PIECE = re.compile(r"(\d{1,6}) of (\d{1,6}), (\d{1,9}) bytes of ([a-z]+)")


@dataclass(frozen=True)
class Page:
    """A page: its path and the exact text of its three parts."""

    path: str
    body: str
    links: str = ""
    metadata: str = ""

    @property
    def text(self) -> str:
        """The whole page as it is stored."""
        return self.body + self.links + self.metadata

    @cached_property
    def data(self) -> bytes:
        """The whole page in bytes."""
        return encode(self.text)

    @property
    def size(self) -> int:
        """The size of the page in bytes, which the threshold limits."""
        return len(self.data)

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the body; joined, they are the body after its byte order mark."""
        if self.piece is None:
            return parse_blocks(self.body[len(self._mark) :])
        title, rest = _split_title(self.body)
        piece, below = decode(self.piece_data), decode(encode(rest)[len(self.piece_data) :])
        return (*parse_blocks(title), *([Block(piece, "piece")] if piece else ()), *parse_blocks(below))

    @cached_property
    def children(self) -> tuple[ChildLink, ...]:
        """The children listed under `## Links`, also where a person wrote below it."""
        listed = self.sections.links
        lines = split_lines(self.text)[listed.start : listed.stop] if listed else ()
        found = ((line, CHILD_LINK.match(line)) for line in lines)
        return tuple(ChildLink(m[1].strip(), (m[2] or "").strip(), line) for line, m in found if m)

    @cached_property
    def sections(self) -> Sections:
        """Where the program's sections are, also those below which a person wrote."""
        return self._misplaced or end_sections(self.body, self.links, self.metadata)

    @property
    def is_misplaced(self) -> bool:
        """Whether a person wrote below a section of the program, so that it is in the body."""
        return self._misplaced is not None

    @cached_property
    def _misplaced(self) -> Sections | None:
        if "## Links" not in self.body and "## Metadata" not in self.body:
            return None
        if (found := misplaced_sections(self.text)) is None:
            return None
        lines = split_lines(self.text)
        starts = [len("".join(lines[: each.start])) for each in (found.links, found.metadata) if each]
        headings = {start for start, block in self.placed_blocks() if block.kind == "heading"}
        # In a fence it is an example; at the end of the page it is no part of the body.
        return found if all(start in headings or start >= len(self.body) for start in starts) else None

    @cached_property
    def properties(self) -> dict[str, str]:
        """The keys and values under `## Metadata`."""
        found = (PROPERTY.match(line) for line in split_lines(self.metadata)[1:])
        return {m[1]: (m[2] or "").strip() for m in found if m}

    @cached_property
    def piece(self) -> Piece | None:
        """The piece of a large block that this page holds, if it holds one."""
        found = _PIECE.fullmatch(self.properties.get("piece", ""))
        return Piece(int(found[1]), int(found[2]), int(found[3]), found[4]) if found else None

    @property
    def piece_data(self) -> bytes:
        """The bytes of the piece that this page holds; joined in order, the pieces are the block. An edit by hand
        moves its end; then it ends where the line does, so that no line is torn."""
        assert self.piece is not None
        data, end = encode(_split_title(self.body)[1]), self.piece.size
        if not data[:end].endswith((b"\r", b"\n")):
            following = _LINE_END.search(data, end)
            end = following.start() if following else len(data)
        return data[:end]

    @cached_property
    def front_matter(self) -> FrontMatter:
        """What the front matter at the top of the page says."""
        has_one = self.blocks[:1] and self.blocks[0].kind == "front matter"
        return read_front_matter(self.blocks[0].text) if has_one else FrontMatter()

    @cached_property
    def top(self) -> int:
        """How many blocks stand at the top and stay there: the front matter and the title."""
        return top_of(self.blocks)

    @cached_property
    def title(self) -> str:
        """The words of the heading at the top, or else the title in the front matter, or the last part of the path."""
        if self.top and (last := self.blocks[self.top - 1]).kind == "heading" and last.words:
            return readable(last.words)
        if self.front_matter.title:
            return readable(self.front_matter.title)
        return "Memory" if self.path == ROOT else self.path.rsplit("/", 1)[-1]

    @property
    def said_on(self) -> date | None:
        """The day on which the text of the page was said: as its metadata says, or its front matter, or the name of its
        source, or the last part of its path. Nothing is said here about the lines that have a day of their own."""
        told, last = page_source(self), self.path.rsplit("/", 1)[-1]
        return told.day or self.front_matter.date or named_day(told.name) or named_day(last)

    @cached_property
    def has_source_lines(self) -> bool:
        """Whether a line on it says where some of its text came from."""
        return "*S" in self.body and any(map(is_source_line, self.blocks))

    @cached_property
    def fixed(self) -> frozenset[int]:
        """The numbers of the blocks that no split moves: the front matter unless it is longer than `MAX_FRONT_MATTER`,
        the title unless it is longer than `MAX_TITLE`, and the piece that a page holds."""
        limits = {"front matter": MAX_FRONT_MATTER, "heading": MAX_TITLE}
        top = list(enumerate(self.blocks[: self.top], 1))
        fixed = {n for n, block in top if self.piece is not None or block.size <= limits[block.kind]}
        return frozenset(fixed | {n for n, block in enumerate(self.blocks, 1) if block.kind == "piece"})

    @property
    def last_updated(self) -> datetime | None:
        """When the program last changed the page, according to its metadata."""
        try:
            moment = datetime.fromisoformat(self.properties.get("last_updated", ""))
        except ValueError:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

    @cached_property
    def found_links(self) -> tuple[tuple[Link, bool], ...]:
        """Every link with its position in `text`, and whether it lists a child under `## Links`."""
        if "[[" not in self.text:
            return ()
        places = list(self.placed_blocks())
        start, listing = len(self.body), self._child_starts
        for line in split_lines(self.links):
            places.append((start, Block(line)))
            start += len(line)
        return tuple((link, link.start in listing) for start, block in places for link in find_links(block, start))

    @cached_property
    def link_keys(self) -> frozenset[str]:
        """The folded paths of the pages that it links to, whether they exist or not."""
        return frozenset(link.key for link, _ in self.found_links if link.key is not None)

    @property
    def _child_starts(self) -> frozenset[int]:
        """The positions in `text` of the links that list a child."""
        listed = self.sections.links
        lines = split_lines(self.text)[: listed.stop] if listed else []
        ends = [0, *accumulate(len(line) for line in lines)]
        return frozenset(ends[n] + lines[n].index("[[") for n in listed if CHILD_LINK.match(lines[n]))

    def placed_blocks(self) -> Iterator[tuple[int, Block]]:
        """The blocks, each with its position in `text`."""
        start = len(self._mark)
        for block in self.blocks:
            yield start, block
            start += len(block.text)

    def section_of(self, number: int) -> tuple[str, ...]:
        """The words of the headings above a block (from 1), outermost first."""
        above: list[tuple[int, str]] = []
        for block in self.blocks[: max(number - 1, 0)]:
            if block.kind == "heading":
                above = [one for one in above if one[0] < block.level] + [(block.level, readable(block.words))]
        return tuple(words for _, words in above)

    def line_of(self, place: int) -> int:
        """The number of the line at a position in `text`, from 1."""
        return bisect_right(self._line_starts, place)

    @cached_property
    def _line_starts(self) -> list[int]:
        """The positions at which the lines of `text` begin."""
        lines = split_lines(self.text)
        starts = list(accumulate(map(len, lines), initial=0))
        return starts if lines and lines[-1][-1] in "\r\n" else starts[: max(len(lines), 1)]

    def map_links(self, change: Callable[[Link], str | None]) -> Page:
        """The page with each link replaced by what `change` returns; `None` keeps the link."""
        text, end, parts = self.text, 0, []
        for link, _ in self.found_links:
            if (new := change(link)) is not None:
                parts += [text[end : link.start], new]
                end = link.end
        return parse_page(self.path, "".join(parts) + text[end:]) if parts else self

    def with_body(self, runs: Sequence[Sequence[Block]]) -> Page:
        """The page with another body, after the byte order mark that it may have."""
        newline = line_end(self.text)
        body = join_runs(runs, newline).removeprefix(BYTE_ORDER_MARK)
        return replace(self, body=_closed(self._mark + body if body else "", newline))

    @property
    def _mark(self) -> str:
        """The byte order mark at the top. It stays there, whatever becomes of the first block."""
        return BYTE_ORDER_MARK if self.body.startswith(BYTE_ORDER_MARK) and self.piece is None else ""

    def with_sections_of(self, other: Page) -> Page:
        """The page with the links and metadata of another page."""
        return replace(self, body=_closed(self.body, line_end(self.text)), links=other.links, metadata=other.metadata)

    def told_apart(self, now: datetime) -> Page:
        """The page in a form that is parsed again into the same body. If the body has what looks like one of the
        program's sections, the program's own sections are added below it."""
        page = self if self.metadata or self._is_told_apart else self.stamped(now)
        if not page._is_told_apart:
            page = replace(page, links="## Links" + 2 * line_end(page.text))
        return parse_page(page.path, page.text)

    @property
    def _is_told_apart(self) -> bool:
        stored = parse_page(self.path, self.text)
        return stored.body == self.body and not stored.is_misplaced

    def gathered(self) -> Page:
        """The page with text that a person wrote below the program's sections moved above them; the page itself if
        there is none."""
        if not self.is_misplaced:
            return self
        lines, newline = split_lines(self.text), line_end(self.text)
        links, metadata = (
            "".join(lines[each.start : each.stop]) for each in (self.sections.links, self.sections.metadata)
        )
        body, text = "", ""
        for number, line in enumerate(lines):
            if number in self.sections.links or number in self.sections.metadata:
                body, text = _closed(body + text, newline), ""
            elif text or not body or not is_blank(line):
                text += line
        return Page(self.path, _closed(body + text, newline), _closed(links, newline), metadata)

    def with_child(self, target: str, description: str) -> Page:
        """The page with a child added at the end of `## Links`; a long description is shortened."""
        return self.with_children([(target, description)])

    def with_description(self, target: str, description: str) -> Page:
        """The page with another description of a child; a long one is shortened."""
        lines, key = split_lines(self.links), link_key(target)
        for number, line in enumerate(lines):
            if (found := CHILD_LINK.match(line)) and link_key(found[1].strip()) == key:
                end = line[len(line.rstrip("\r\n")) :]
                lines[number] = f"{line[: line.index(']]') + 2]} - {shorten(description, MAX_DESCRIPTION)}{end}"
        return replace(self, links="".join(lines))

    def with_children(self, described: Iterable[tuple[str, str]]) -> Page:
        """The page with children and their descriptions added."""
        shortened = ((target, shorten(description, MAX_DESCRIPTION)) for target, description in described)
        return self.with_lines(f"- [[{target}]]" + (f" - {told}" if told else "") for target, told in shortened)

    def with_lines(self, added: Iterable[str]) -> Page:
        """The page with exactly these lines added at the end of `## Links`."""
        newline = line_end(self.text)
        listed = [line.rstrip("\r\n") + newline for line in added]
        if not listed:
            return self
        lines = split_lines(self.links) or [f"## Links{newline}"]
        last = max(i for i, text in enumerate(lines) if not is_blank(text))
        lines[last] = lines[last] if lines[last][-1] in "\r\n" else lines[last] + newline
        gap = [newline] if last == 0 else []
        links = "".join([*lines[: last + 1], *gap, *listed, *(lines[last + 1 :] or [newline])])
        return replace(self, body=_closed(self.body, newline), links=links)

    def without_children(self, leave_out: Callable[[ChildLink], bool]) -> Page:
        """The page without some of its children; the section is removed with the last of them."""
        left_out = {child.line for child in self.children if leave_out(child)}
        if self.is_misplaced:
            return self._without_misplaced(left_out) if left_out else self
        kept = [line for line in split_lines(self.links)[1:] if line not in left_out]
        if not any(CHILD_LINK.match(line) for line in kept):
            emptied = replace(self, links="")
            return emptied if emptied._is_told_apart else replace(self, links="## Links" + 2 * line_end(self.text))
        return replace(self, links="".join([split_lines(self.links)[0], *kept]))

    def _without_misplaced(self, left_out: AbstractSet[str]) -> Page:
        """The page without these lines of a `## Links` that has text below it."""
        lines, listed = split_lines(self.text), self.sections.links
        kept = [line for line in lines[listed.start : listed.stop] if line not in left_out]
        section = kept if any(map(CHILD_LINK.match, kept)) else []
        return parse_page(self.path, "".join([*lines[: listed.start], *section, *lines[listed.stop :]]))

    def stamped(self, now: datetime, **more: str) -> Page:
        """The page with current metadata: `last_updated`, `size_bytes` of everything above, and `more`. An empty value
        removes a key; keys that the program does not know are kept."""
        newline = line_end(self.text)
        body = _closed(self.body, newline)
        above = len(encode(body + self.links))
        values = {"last_updated": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "size_bytes": str(above), **more}
        lines = split_lines(self.metadata) or [f"## Metadata{newline}", newline]
        kept = []
        for line in lines:
            found = PROPERTY.match(line)
            if found and found[1] in values:
                value = values.pop(found[1])
                line = f"{found[1]}: {value}{newline}" if value else ""
            kept.append(line)
        if kept[-1] and kept[-1][-1] not in "\r\n":
            kept[-1] += newline
        kept += [f"{key}: {value}{newline}" for key, value in values.items() if value]
        return replace(self, body=body, metadata="".join(kept))


def top_of(blocks: Sequence[Block]) -> int:
    """How many blocks at the start of a page or of a text are its front matter and its title. Below a front matter that
    has a title, only a heading of the first level is one."""
    start = 1 if blocks[:1] and blocks[0].kind == "front matter" else 0
    heading = blocks[start] if start < len(blocks) and blocks[start].kind == "heading" else None
    if heading is None or (start and heading.level > 1 and read_front_matter(blocks[0].text).title):
        return start
    return start + 1


def opening(blocks: Sequence[Block]) -> str:
    """The beginning of a text, to describe its page by: what a line leads into rather than the line, and rather than
    what has changed since, the last of its statements that says so."""
    spoken = (block for block in blocks if block.kind not in ("heading", "front matter") and not is_source_line(block))
    texts = [block.words for block in spoken if block.content.strip()]
    said = next((text for text in texts if not text.rstrip().endswith((":", "："))), next(iter(texts), ""))
    about = frozenset(content_words(said))
    said = next((text for text in reversed(texts[-MOST_COMPARED:]) if _changes(text, about)), said)
    return shorten(said or own_title(blocks) or "".join(block.words for block in blocks[:1]), MAX_OPENING)


def _changes(text: str, about: frozenset[str]) -> bool:
    """Whether a text says that something has changed, and shares half of these words."""
    folded = text.casefold()
    if not (phrases := [phrase for phrase in replacing() if phrase in folded]):
        return False
    said = f" {' '.join(words(text))} "
    says_so = any((phrase if has_cjk(phrase) else f" {phrase} ") in said for phrase in phrases)
    return says_so and 2 * len(about.intersection(content_words(text))) > max(len(about), 2)


def own_title(blocks: Sequence[Block]) -> str:
    """The title that a text begins with: a heading of the first level, or else the title in its front matter."""
    top = blocks[: top_of(blocks)]
    if top and top[-1].kind == "heading" and top[-1].level == 1 and top[-1].words:
        return top[-1].words
    return read_front_matter(top[0].text).title if top and top[0].kind == "front matter" else ""


def parse_page(path: str, text: str) -> Page:
    """The page with this text; `parse_page(path, text).text == text`."""
    return Page(path, *part(text))


def read_page(path: str, data: bytes) -> Page:
    """The page with these bytes; bytes that are not UTF-8 are kept."""
    return parse_page(path, decode(data))


def page_source(page: Page) -> Source:
    """Where the text of a page came from, according to its metadata."""
    return Source(page.properties.get(SOURCE, ""), iso_day(page.properties.get(DATE)))


def sources_of(page: Page) -> list[Source]:
    """Where each block of a page came from: as the source line that closes its section says, or else the page."""
    closed, own = told_sources(page.blocks), page_source(page)
    return [closed.get(number) or own for number in range(1, len(page.blocks) + 1)]


def source_at(page: Page, line: int) -> Source:
    """Where the text of a line of a page (from 1) came from. A page without a source line is not taken apart."""
    if "*S" not in page.body:
        return page_source(page)
    start = len("".join(split_lines(page.text)[: line - 1]))
    return sources_of(page)[max(sum(place <= start for place, _ in page.placed_blocks()), 1) - 1]


def new_page(path: str, title: str, runs: Sequence[Sequence[Block]] = ()) -> Page:
    """A page of these blocks, with a title on top unless they begin with a heading of these words. A front matter
    stays above the title, and takes its place if it has one."""
    first = next((run for run in runs if run), ())
    top = first[: top_of(first)]
    newline = line_end("".join(block.text for run in runs for block in run))
    heading = Block(f"# {title}{newline}{newline}", "heading", 1)
    if top and top[0].kind == "front matter":
        is_titled = len(top) > 1 or bool(read_front_matter(top[0].text).title)
        return Page(path, "").with_body(runs if is_titled else [top, (heading,), first[1:], *runs[1:]])
    if top and top[0].words.casefold() == title.casefold():
        return Page(path, "").with_body(runs)
    return Page(path, "").with_body([(heading,), *runs])


def piece_page(path: str, title: str, data: bytes, piece: Piece) -> Page:
    """A page that holds one piece of a block that is too large for a page."""
    return Page(path, _closed(f"# {title}\n\n{decode(data)}", "\n"), metadata=f"## Metadata\n\npiece: {piece}\n")


def _split_title(body: str) -> tuple[str, str]:
    lines = split_lines(body)
    return "".join(lines[:2]), "".join(lines[2:])


def _closed(body: str, newline: str) -> str:
    """The body, ending in the blank line that separates it from the section below."""
    return body + to_blank_line(body, newline)
