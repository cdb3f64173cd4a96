"""What each line of a document of a migration says under a label, for `contradictions` to compare."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from memory_v2.migrate.source import SourceDocument
from memory_v2.migrate.standing import placed
from memory_v2.text.calendar import named_day
from memory_v2.text.contradictions import Said, Statement, stated, subject_of
from memory_v2.text.own_day import heading_day, own_day
from memory_v2.text.words import normal
from memory_v2.tree.block import parse_blocks, readable, split_lines
from memory_v2.tree.front_matter import read_front_matter


def names_of(documents: Iterable[SourceDocument]) -> frozenset[str]:
    """What the documents are called."""
    return frozenset(normal(name) for document in documents for name in (document.title, _place(document)))


def said_in(document: SourceDocument, names: Collection[str]) -> Iterator[Said]:
    """What each line of a document says that gives a value under a label. `names` is what the documents of its source
    are called."""
    text = readable(document.text)
    told = document.day or read_front_matter(text).date or named_day(document.name)
    headings: list[tuple[int, str]] = []
    for block, lines in placed(parse_blocks(text)):
        if block.kind == "heading":
            headings = [*(one for one in headings if one[0] < block.level), (block.level, block.words)]
        elif block.kind in ("paragraph", "item"):
            for number, line in zip(lines, split_lines(block.content), strict=False):
                if not (found := stated(line)):
                    continue
                above = [words for _, words in headings] or [document.title or _place(document)]
                days = [span.start for span in (own_day(line), *map(heading_day, reversed(above))) if span]
                if subject := subject_of(above, names):
                    statement = Statement(document.name, number, found[1], days[0] if days else told)
                    yield Said(subject, found[0], statement)


def _place(document: SourceDocument) -> str:
    return document.place.rsplit("/", 1)[-1].replace("-", " ")
