"""The top and the end of a page that a split has made, and how a merge brings both back.

A section that becomes a page has its heading as the title, so `## Testing` becomes `# Testing`; all other blocks keep
every byte. A rule with nothing below it divides nothing, so it is taken off the end of a page. The page notes the level
of the heading and the rules in its metadata.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from memory_v2.tree.block import Block, close_block, is_blank, line_end, parse_blocks, split_lines
from memory_v2.tree.edit import Run
from memory_v2.tree.headings import digest, repeated_on
from memory_v2.tree.page import Page

TITLE_LEVEL = "title_level"
"""The key in the metadata: the level that the title had as the heading of a section."""
RULES_BELOW = "rules_below"
"""The key in the metadata: the rules that were taken off the end, in order."""
MAX_RULES = 100
"""Limits the noted rules of a page, in characters: its metadata has little room."""

_LEVELS = frozenset("23456")
_SIGNS = re.compile(r"\A((?:[ \t]*+(?:\r\n|\n|\r))*+ {0,3})#{1,6}(?=[ \t\r\n]|\Z)")
_UNDERLINE = re.compile(r"(?<=[\r\n])( {0,3})(=+|-+)(?=[ \t]*(?:\r\n|\n|\r)?\s*\Z)")


def heading_at(block: Block, level: int) -> Block:
    """The heading at another level; the same block if its form has no such level."""
    if _SIGNS.match(block.text):
        text = _SIGNS.sub(lambda found: found[1] + "#" * level, block.text)
    else:
        sign = {1: "=", 2: "-"}.get(level, "")
        text = _UNDERLINE.sub(lambda found: found[1] + sign * len(found[2]), block.text) if sign else block.text
    changed = Block(text, "heading", level)
    return changed if parse_blocks(text) == (changed,) else block


def page_of(path: str, title: str, runs: Sequence[Run], has_title: bool, now: datetime) -> Page:
    """A page of these blocks. If they begin with a heading that `has_title` or has the words of the title, it becomes
    the title; else the title is above them, below their front matter."""
    page = Page(path, "").with_body(runs)
    above = 1 if page.blocks[:1] and page.blocks[0].kind == "front matter" else 0
    first = page.blocks[above] if above < len(page.blocks) and page.blocks[above].kind == "heading" else None
    if first is None or not (has_title or first.words.casefold() == title.casefold()):
        if page.front_matter.title:
            return page
        newline = line_end(page.text)
        heading = Block(f"# {title}{newline}{newline}", "heading", 1)
        return page.with_body([page.blocks[:above], (heading,), page.blocks[above:]])
    made = page.with_body([page.blocks[:above], (heading_at(first, 1),), page.blocks[above + 1 :]])
    return made.stamped(now, **{TITLE_LEVEL: str(first.level)}) if made.body != page.body else page


def trimmed(page: Page, now: datetime) -> Page:
    """The page without rules and blank lines at its end."""
    blocks, noted = list(page.blocks), [*filter(None, page.properties.get(RULES_BELOW, "").split(", "))]
    while len(blocks) > 1 and blocks[-1].kind == "rule" and blocks[-1].content == blocks[-1].content.strip():
        rules = ", ".join([blocks[-1].content, *noted])
        if len(rules) > MAX_RULES:
            break
        noted.insert(0, blocks.pop().content)
    if not blocks or blocks[-1].kind == "piece":
        return page
    blocks[-1] = _without_blank_lines(blocks[-1])
    page = page.with_body([blocks])
    rules = ", ".join(noted)
    return page.stamped(now, **{RULES_BELOW: rules}) if rules != page.properties.get(RULES_BELOW, "") else page


def as_section(page: Page, now: datetime) -> Page:
    """The page as it was before its title was one and its rules were taken off; of an edited page, what is left of
    that."""
    if TITLE_LEVEL in page.properties:
        page = page.with_body([section_blocks(page)]).stamped(now, **{TITLE_LEVEL: "", RULES_BELOW: ""})
    return with_rules(page, now)


def with_rules(page: Page, now: datetime) -> Page:
    """The page with the rules that were taken off its end."""
    if RULES_BELOW not in page.properties:
        return page
    return page.with_body([page.blocks, *((rule,) for rule in _rules(page))]).stamped(now, **{RULES_BELOW: ""})


def section_blocks(page: Page) -> tuple[Block, ...]:
    """The blocks of `as_section`."""
    blocks = list(page.blocks)
    if (heading := noted_heading(page)) is not None:
        blocks[page.top - 1] = heading
    return (*blocks, *_rules(page))


def repeated_headings(page: Page) -> list[Block]:
    """The headings that are repeated on a page, as they are in `section_blocks`."""
    if not (repeated := repeated_on(page)):
        return []
    return [block for block in section_blocks(page) if block.kind == "heading" and digest(block) in repeated]


def noted_heading(page: Page) -> Block | None:
    """The title as the heading of a section that it was; `None` if it was none."""
    level = page.properties.get(TITLE_LEVEL, "")
    title = page.blocks[page.top - 1] if page.top else None
    return heading_at(title, int(level)) if level in _LEVELS and title and title.level == 1 else None


def _rules(page: Page) -> list[Block]:
    """The rules that were taken off the end of the page."""
    newline = line_end(page.text)
    noted = [f"{rule}{newline}{newline}" for rule in page.properties.get(RULES_BELOW, "").split(", ")]
    return [block for text in noted for block in parse_blocks(text) if block == Block(text, "rule")]


def _without_blank_lines(block: Block) -> Block:
    """The block; blank lines below it are removed, unless they are part of a fence that was left open."""
    if close_block(block) != block:
        return block
    lines = split_lines(block.text)
    while len(lines) > 1 and is_blank(lines[-1]):
        lines.pop()
    return replace(block, text="".join(lines))
