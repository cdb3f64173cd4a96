"""The rows of one page, or of one entry, in the tables.

An entry is one place, so the parser of pages is left out: an index of 100,000 entries is filled in a minute. Only a
long one is cut into passages, as a page is.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from memory_v2.index.passages import LINE_BYTES, Named, Passage, days_in, named_by, passages
from memory_v2.index.places import StoredPassage, pack_texts
from memory_v2.index.terms import camel_parts, terms, terms_of
from memory_v2.storage.base import Stamp
from memory_v2.text.dates import Span
from memory_v2.text.days import unmarked
from memory_v2.text.words import normal
from memory_v2.tree.block import encode, readable, uncollected
from memory_v2.tree.page import Page, read_page
from memory_v2.tree.path import ROOT

logger = logging.getLogger(__name__)


class Known(NamedTuple):
    """The stored stamp and digest of a page, to detect changes."""

    size: int
    mark: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class IncomingPage:
    """A page to be put into the tables, with its stamp. `mark` is empty if the stamp is not known yet. A page that
    is not `is_known` counts as changed at the next refresh, and so does one that `is_divided_next`, of which only the
    links are there."""

    page: Page
    size: int
    mark: str
    last_updated: datetime
    is_divided_next: bool = False
    is_known: bool = True

    @property
    def known(self) -> Known:
        """What the next refresh compares the page with. An empty digest equals none, so the page counts as changed."""
        is_known = self.is_known and not self.is_divided_next
        return Known(self.size, self.mark, page_digest(self.page.data) if is_known else b"")


Row: TypeAlias = tuple[object, ...]
_LONG_AGO = datetime.fromtimestamp(0, UTC).isoformat()


@dataclass(frozen=True, slots=True)
class PageRows:
    """The rows of one page, without the ids that the tables give them."""

    path: str
    known: Known
    head: Row
    length: int
    """The number of terms of the passages."""
    passages: tuple[PassageRow, ...]
    texts: tuple[bytes, ...]
    voices: tuple[Row, ...] = ()
    links: tuple[Row, ...] = ()
    entry: Row = ()
    """The row of an entry in the table of entries."""
    names: tuple[str, ...] = ()
    """What an entry names."""


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """What is looked up of an entry: what it is called and says, where it belongs, and what it names. Names are folded
    as they are compared. `first_line` is the line of the file at which its text begins; `day` is when it was observed,
    `None` if the file is no entry, which is then found by nothing."""

    id: str
    text: str = ""
    first_line: int = 1
    space: str = ""
    home: str = ""
    tags: tuple[str, ...] = ()
    source: str = ""
    confidence: float | None = None
    day: date | None = None
    archived: bool = False
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is called without its space."""
        return self.id.rpartition("/")[2]


def page_digest(data: bytes) -> bytes:
    """The digest of a page's bytes."""
    return blake2b(data, digest_size=16).digest()


def block_digest(text: str) -> bytes | None:
    """The digest of a block's words, without markup and spacing; `None` if it has none. With its eight bytes, two of a
    million blocks are taken for the same once in thirty million memories."""
    plain = normal(readable(text))
    return blake2b(plain.encode(), digest_size=8).digest() if plain else None


@uncollected()
def prepare_page(incoming: IncomingPage) -> PageRows:
    """The rows of a page. This is the slow part of indexing, and needs no connection.

    A page with a text that fails has its links, but no passages: it keeps nobody from itself or from other pages."""
    if incoming.is_divided_next:
        return _prepared(incoming, [], [])
    try:
        page, found = incoming.page, passages(incoming.page)
        above = [(*passage.section, passage.source) for passage in found]
        sections = list(dict.fromkeys(above))
        spelled = terms_of([*(passage.text for passage in found), *(_heading(page, section) for section in sections)])
        contexts = dict(zip(sections, map(_context, spelled[len(found) :]), strict=True))
        digests = _Digests(page)
        rows = [
            _passage_row(passage, contexts[section], said, digests.of(passage.block))
            for passage, section, said in zip(found, above, spelled, strict=False)
        ]
        return _prepared(incoming, found, rows)
    except Exception as error:
        logger.exception("the page %s could not be indexed, so searches do not find it", incoming.page.path)
        return _prepared(incoming, [], [], f"{type(error).__name__}: {error}")


def _prepared(
    incoming: IncomingPage,
    found: Sequence[Passage],
    rows: Sequence[PassageRow],
    problem: str = "",
) -> PageRows:
    page, length = incoming.page, sum(row.stored.length for row in rows)
    moment = incoming.last_updated.isoformat()
    return PageRows(
        page.path,
        incoming.known,
        (page.path, *incoming.known, page.title, moment, readable(problem), length),
        length,
        tuple(rows),
        pack_texts([row.stored for row in rows]),
        tuple((name,) for name in sorted({passage.speaker for passage in found if passage.speaker})),
        tuple(_link_rows(page)),
    )


class PassageRow(NamedTuple):
    """The columns of the table of passages, without the id and the slot, and what is stored in the table of texts."""

    block: int
    first_line: int
    speaker: str | None
    since: int | None
    until: int | None
    line: int | None
    """The id of the line that it is a part of, if it is not all of it."""
    digest: bytes | None
    """The digest of its block, if it is the first passage of it."""
    meaning: int | None
    """The key of what it says, if search by meaning may compare it."""
    stored: StoredPassage


STORED = PassageRow._fields.index("stored")
"""The number of columns of the table of passages, without the id and the slot."""


_SPEAKER = re.compile(r"\s*(?:[-*+]\s+)?(?:\[[^\]\n]*\]\s*)?(?:\*\*)?[^:\n]{1,40}:(?:\*\*)?\s*")


def spoken(place: StoredPassage) -> str:
    """What a place says, without the marker of its line and without its speaker, who would be like all they say."""
    return unmarked(_SPEAKER.sub("", place.text, count=1) if place.speaker is not None else place.text)


def key_of(text: str) -> int:
    """The key of a text: one that moves to another page keeps its meaning."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def _row(block: int, stored: StoredPassage, line: int | None = None, digest: bytes | None = None) -> PassageRow:
    """The row of a place."""
    told = stored.first_line, stored.speaker, stored.since, stored.until
    key = key_of(spoken(stored)) if stored.kind != "child link" else None
    return PassageRow(block, *told, line, digest, key, stored)


def _passage_row(passage: Passage, context: str, spelled: Sequence[str], digest: bytes | None) -> PassageRow:
    if passage.kind == "child link" and spelled:  # the description of a child weighs no more than a heading
        context, spelled = f"{context}{' '.join(spelled)} ", []
    place = StoredPassage(
        id=0,
        page=0,
        run=passage.run,
        kind=passage.kind,
        first_line=passage.first_line,
        last_line=passage.last_line,
        speaker=passage.speaker,
        since=passage.date.start.toordinal() if passage.date else None,
        until=passage.date.end.toordinal() if passage.date else None,
        question=int(passage.question),
        length=max(len(spelled) - len(camel_parts(passage.text)), 0),
        text=passage.text,
        own=" ".join(spelled),
        section=_as_json(passage.section),
        context=context,
        named=_named_as_json(passage.named),
    )
    return _row(passage.block, place, passage.line, digest)


def prepare_entry(stamp: Stamp, data: bytes, found: ParsedEntry) -> PageRows:
    """The rows of an entry; this is the slow part of indexing, and needs no connection."""
    known = Known(stamp.size, stamp.mark, page_digest(data))
    passages = _entry_passages(found) if found.day and found.text.strip() else ()
    length = sum(row.stored.length for row in passages)
    who = (found.id.casefold(), found.name.casefold(), found.space.casefold(), found.home.casefold())
    tags, day = f"\n{chr(10).join(found.tags)}\n", found.day.toordinal() if found.day else None
    return PageRows(
        stamp.path,
        known,
        (stamp.path, *known, "", found.day.isoformat() if found.day else _LONG_AGO, "", length),
        length,
        passages,
        pack_texts([row.stored for row in passages]),
        entry=(*who, tags, found.source, found.confidence, day, found.archived, data),
        names=found.names,
    )


def _entry_passages(found: ParsedEntry) -> tuple[PassageRow, ...]:
    assert found.day is not None
    text = readable(found.text)
    lead = len(text) - len(text.lstrip("\r\n"))
    first, body = found.first_line + text.count("\n", 0, lead), text[lead:].rstrip()
    above = " ".join(dict.fromkeys(terms("\n".join((found.space, found.home, *found.tags)))))
    named = _named_as_json((named_by(Span(found.day, found.day)),))
    if len(encode(body)) > LINE_BYTES:
        return _cut_entry(found, above, named)
    [spelled] = terms_of([body])
    own_day, spoken_of = days_in(body, False)
    days = spoken_of or own_day or Span(found.day, found.day)
    place = StoredPassage(
        id=0,
        page=0,
        run=1,
        kind="text",
        first_line=first,
        last_line=first + body.count("\n"),
        speaker=None,
        since=days.start.toordinal(),
        until=days.end.toordinal(),
        question=int("?" in body or "？" in body),
        length=len(spelled) - len(camel_parts(body)),
        text=body,
        own=" ".join(spelled),
        section="[]",
        context=f" {above} ",
        named=named,
    )
    return (_row(1, place),)


def _cut_entry(found: ParsedEntry, above: str, named: str) -> tuple[PassageRow, ...]:
    page = read_page("memory", encode(found.text))
    cut = prepare_page(IncomingPage(page, page.size, "", datetime.fromtimestamp(0, UTC)))
    return tuple(_moved(row, above, named, found) for row in cut.passages)


def _moved(row: PassageRow, above: str, named: str, found: ParsedEntry) -> PassageRow:
    """A passage of a long text, as one of the file of an entry."""
    assert found.day is not None
    place, since = row.stored, found.day.toordinal()
    return _row(
        row.block,
        place._replace(
            kind="text" if place.kind == "child link" else place.kind,
            first_line=place.first_line + found.first_line - 1,
            last_line=place.last_line + found.first_line - 1,
            speaker=None,
            since=since if place.since is None else place.since,
            until=since if place.until is None else place.until,
            context=f"{place.context.rstrip()} {above} ",
            named=named,
        ),
    )


@lru_cache(maxsize=1000)
def _as_json(section: tuple[str, ...]) -> str:
    return json.dumps(section, ensure_ascii=False)


@lru_cache(maxsize=1000)
def _named_as_json(named: tuple[Named, ...]) -> str:
    """The days that a passage names."""
    return json.dumps([one[: 2 if one.line is None else 3] for one in named], separators=(",", ":"))


class _Digests:
    """The digests of a page's blocks, each told once."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._told = {0}  # the child links are no block

    def of(self, block: int) -> bytes | None:
        if block in self._told:
            return None
        self._told.add(block)
        return block_digest(self._page.blocks[block - 1].text)


def _heading(page: Page, section: tuple[str, ...]) -> str:
    """What stands above a passage: its page's title and path, and its headings."""
    place = "" if page.path == ROOT else page.path.replace("/", " ").replace("-", " ").replace("_", " ")
    return " \n ".join([page.title, place, *section])


def _context(above: Sequence[str]) -> str:
    """The terms of what stands above a passage, each once, between blanks."""
    return f" {' '.join(dict.fromkeys(above))} "


def _link_rows(page: Page) -> Iterator[tuple[str, str, bool]]:
    labels = {child.target: child.description for child in page.children}
    for link, child in sorted(page.found_links, key=lambda pair: not pair[1]):
        if link.key:
            yield link.key, readable(labels.get(link.target.strip(), "")) if child else "", child
