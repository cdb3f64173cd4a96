"""A page as it leaves a memory: as a file of a folder, as a part of one file, as a line of JSON; and the folder read
again.

The text of a page is exported to the letter. In a file of a folder, what the program knows beside it is in the front
matter, behind the key `silica_page`, and the pages below are listed at the end, behind a comment, as Markdown links
that are relative to the file. Both are told apart from the text, so reading the file gives the text again.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from memory_v2.entries.file import NO_WORDS
from memory_v2.files.listing import LeftOut
from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.scan import Scan
from memory_v2.text.words import plain
from memory_v2.tree.block import (
    BYTE_ORDER_MARK,
    Block,
    filled_lines,
    is_blank,
    join_runs,
    line_end,
    parse_blocks,
    readable,
    split_lines,
    to_blank_line,
)
from memory_v2.tree.edit import text_of
from memory_v2.tree.page import Page
from memory_v2.tree.path import ROOT
from memory_v2.tree.source import Source
from memory_v2.tree.titles import heading_at

PAGE = "silica_page"
"""The first key that the program writes into the front matter: the path of the page. All keys below it are its too."""
LISTED = "silica_below"
"""The key that says how many pages below are listed."""
BELOW = "<!-- silica: the pages below -->"
"""The line above the list of the pages below."""

MAX_LEVEL = 6
"""The lowest level of a heading in Markdown."""
_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LISTED = re.compile(r"(?m)^- \[[^\]\r\n]*\]\(([^)\s]+)\): ([^\r\n]+)")
_MOST_READ = 10_000
"""How much of a file is read to know it, in bytes: a front matter, and more."""


@dataclass(frozen=True)
class ExportedPage:
    """One page: `page` without what the program writes below it, and with a block that was cut into pieces whole again;
    `depth` is 0 for the root. `children` are listed below it, each with path, title and description; `properties` are
    what a person noted there."""

    page: Page
    parent: str
    depth: int
    description: str
    children: tuple[tuple[str, str, str], ...]
    source: str
    day: date | None
    tags: tuple[str, ...]
    links: tuple[str, ...]
    properties: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of the page, to the letter."""
        return text_of(self.page)


def file_text(page: ExportedPage) -> str:
    """The page as a file of a folder."""
    text = page.text.removeprefix(BYTE_ORDER_MARK)
    newline, blocks = line_end(text), parse_blocks(text)
    keys = [f"{key}: {value}{newline}" for key, value in _fields(page)]
    if blocks and blocks[0].kind == "front matter":
        lines, closing = split_lines(text), filled_lines(blocks[0].text).stop - 1
        text = "".join([*lines[:closing], *keys, *lines[closing:]])
    else:
        text = "".join([f"---{newline}", *keys, f"---{newline}{newline}", text])
    if not page.children:
        return text
    listed = (f"- {_link(page.page.path, *child)}{newline}" for child in page.children)
    return "".join([text, to_blank_line(text, newline), BELOW, 2 * newline, *listed])


def read_file(file: str) -> tuple[dict[str, str], str]:
    """The keys that the program has written into such a file, with their values in YAML, and the text of the page in
    it; no keys and all of the text, if the program has not written it."""
    lines = split_lines(file)
    start = next((number for number, line in enumerate(lines) if not is_blank(line)), len(lines))
    if not lines[start:] or lines[start].rstrip() != "---":
        return {}, file
    ends = (number for number in range(start + 1, len(lines)) if lines[number].strip() in ("---", "..."))
    end = next(ends, 0)
    ours = max((number for number in range(start, end) if lines[number].startswith(f"{PAGE}:")), default=0)
    if not ours:
        return {}, file
    pairs = [line.partition(":") for line in lines[ours:end]]
    keys = {key: value.strip() for key, _, value in reversed(pairs)}  # of a key that is there twice, the first counts
    if LISTED in keys:
        below = max((number for number, line in enumerate(lines) if line.strip() == BELOW), default=len(lines))
        del lines[below:]
        if is_blank(lines[-1]):
            lines.pop()
    if ours == start + 1:
        return keys, "".join(lines[end + 2 :])
    return keys, "".join([*lines[:ours], *lines[end:]])


def _said(value: str) -> str:
    """What a value in YAML says that the program has written."""
    return str(json.loads(value)) if value.startswith('"') else value


def part_text(exported: ExportedPage) -> str:
    """The page as a part of one file: its headings are lower by its depth, a front matter is a fence below the title,
    and its source is behind it. It ends in a blank line."""
    page, newline = exported.page, line_end(exported.text)
    blocks = page.blocks
    front = blocks[0] if blocks and blocks[0].kind == "front matter" else None
    has_title = page.top > 0 and blocks[page.top - 1].kind == "heading"
    runs = [[_heading(page.title, 1 + exported.depth, newline)]]
    if has_title:
        runs = [[_at_level(blocks[page.top - 1], 1 + exported.depth, newline)]]
    if front:
        inside = "".join(split_lines(front.content)[1:-1])
        runs.append([Block(f"```yaml{newline}{inside}```{newline}", "fence")])
    rest = blocks[page.top :]
    runs.append([_at_level(one, one.level + exported.depth, newline) if one.kind == "heading" else one for one in rest])
    if source := Source(exported.source, exported.day if exported.source else None):
        runs.append([Block(source.line + newline)])
    text = join_runs(runs, newline)
    return text + to_blank_line(text, newline)


def _link(here: str, path: str, title: str, description: str) -> str:
    """A link to a child, relative to the file of the page, and what is said of the child."""
    target = posixpath.relpath(f"{path}.md", posixpath.dirname(here) or ".")
    words = re.sub(r"[ ()%]", lambda sign: quote(sign[0], safe=""), target)
    return f"[{plain(title)}]({words})" + (f": {plain(description)}" if description else "")


def _at_level(heading: Block, level: int, newline: str) -> Block:
    level = min(level, MAX_LEVEL)
    shifted = heading_at(heading, level)
    return shifted if shifted.level == level else _heading(heading.words, level, newline)


def _heading(words: str, level: int, newline: str) -> Block:
    level = min(level, MAX_LEVEL)
    return Block(f"{'#' * level} {words}{newline}{newline}", "heading", level)


def row_line(row: Mapping[str, Any]) -> str:
    """A line of JSON. What some programs take for the end of a line is escaped, and so is half a pair."""
    line = json.dumps(row, ensure_ascii=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def json_row(page: ExportedPage) -> dict[str, Any]:
    """The page as JSON."""
    return {
        "path": page.page.path,
        "title": page.page.title,
        "description": page.description,
        "parent": page.parent or None,
        "text": page.text,
        "source": page.source or None,
        "date": page.day.isoformat() if page.day else None,
        "tags": list(page.tags),
        "links": list(page.links),
        **({"properties": page.properties} if page.properties else {}),
    }


def _fields(page: ExportedPage) -> Iterator[tuple[str, str]]:
    """The keys that the program writes, and their values in YAML. The keys of a person's front matter stay theirs."""
    blocks = page.page.blocks[:1]
    lines = split_lines(blocks[0].content) if blocks and blocks[0].kind == "front matter" else []
    theirs = {line.partition(":")[0].strip().lower() for line in lines}
    values = {"source": page.source and _yaml(page.source), "date": page.day.isoformat() if page.day else ""}
    values["tags"] = f"[{', '.join(map(_yaml, page.tags))}]" if page.tags else ""
    values |= {key: _yaml(value) for key, value in page.properties.items() if key not in (PAGE, LISTED)}
    yield PAGE, _yaml(page.page.path)
    yield from ((key, value) for key, value in values.items() if value and key.lower() not in theirs)
    if page.children:
        yield LISTED, str(len(page.children))


def _yaml(value: str) -> str:
    """A value in YAML: as it is, if nothing in it could be taken for something else."""
    is_plain = re.fullmatch(r"[A-Za-z][\w./-]*(?: [\w./-]+)*", value, re.ASCII) and value.lower() not in NO_WORDS
    return value if is_plain else json.dumps(readable(value), ensure_ascii=False)


# reading an exported folder


def detect(folder: Path) -> str:
    """By the key that the export writes into the front matter of the root."""
    try:
        with (folder / f"{ROOT}.md").open("rb") as file:
            keys, _ = read_file(file.read(_MOST_READ).decode("utf-8", "surrogateescape"))
    except OSError:
        return ""
    return f"{PAGE} in {ROOT}.md" if _said(keys.get(PAGE, "")) == ROOT else ""


def scan(folder: Path) -> Scan:
    """Each page is a document; files that were put beside them are documents too. A root without a text of its own is
    left out."""
    found = scan_folder(folder)
    read = [(document, *read_file(document.text)) for document in found.documents]
    pages = {document.name: _said(keys[PAGE]) for document, keys, _ in read if keys}
    described: dict[str, str] = {}
    for document in found.documents:
        for path, words in _listed(pages.get(document.name, ""), document.text):
            described.setdefault(path, words)
    documents, left_out = [], list(found.left_out)
    for document, keys, text in read:
        if not (page := pages.get(document.name)):
            documents.append(document)
        elif page == ROOT and all(block.kind == "heading" for block in parse_blocks(text)):
            left_out.append(LeftOut(document.name, "it only lists the pages below", is_expected=True))
        else:
            source, about = _said(keys.get("source", "")), described.get(page, document.description)
            documents.append(replace(document, text=text, place=page, source=source, description=about, links=()))
    return replace(found, documents=documents, left_out=sorted(left_out, key=lambda left: left.name))


def _listed(page: str, file: str) -> Iterator[tuple[str, str]]:
    """The pages that the file of a page lists, each with what it says of them; none, if it is of no page."""
    _, _, listed = file.rpartition(BELOW)
    for target, words in _LISTED.findall(listed) if page else ():
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(target)))
        yield path.removesuffix(".md"), words
