"""What is to be forgotten, and what becomes of pages, paths and revisions without it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from memory_v2.errors import InvalidSetting, InvalidText, NotAllowed, PageNotFound
from memory_v2.operations.draft import unlinked
from memory_v2.storage.base import MemoryStorage, stored_page
from memory_v2.storage.history import Revision
from memory_v2.text.redaction import MARKER, LineRedaction, Redaction, TextRedaction, line_core, redacted_json
from memory_v2.tree.block import decode, encode, split_lines
from memory_v2.tree.link import link_key
from memory_v2.tree.page import Page, parse_page, read_page
from memory_v2.tree.path import ROOT, fold, is_page_path
from memory_v2.tree.redacted import redacted
from memory_v2.tree.sections import CHILD_LINK, OURS

MIN_BYTES = 3
"""The shortest text that can be forgotten, in bytes: a shorter one stands everywhere."""
MAX_MARKERS = 1000
"""How many markers are tried for the paths of pages, so that no two pages get the same one."""
_NEEDED = ("## Links", "## Metadata", *(f"{key}:" for key in OURS), ROOT)
"""What the program itself writes on pages, and reads again."""


@dataclass(frozen=True)
class Forgetting:
    """The rules by which a `redaction` is taken out of a memory, and the pages `gone` (folded paths) are removed."""

    redaction: Redaction
    gone: frozenset[str] = frozenset()

    def path(self, path: str) -> str | None:
        """See `Rules`."""
        return None if fold(path) in self.gone else self.redaction.path(path)

    def page(self, data: bytes) -> bytes:
        """See `Rules`. Other files of the history are treated like pages."""
        text = decode(data)
        left = self.redaction.text(text)  # first: the description of a child is a line of its own only behind the link
        if self.gone:
            left = self.redaction.text(unlinked(parse_page(ROOT, left), self.gone).text)
        return data if left == text else redacted(parse_page(ROOT, text), left, self.redaction).data

    def revision(self, revision: Revision) -> Revision:
        """See `Rules`."""
        text = self.redaction.text
        return replace(
            revision,
            summary=self.redaction.summary(revision.summary),
            why=tuple(map(text, revision.why)),
            degraded=text(revision.degraded),
            text=text(revision.text),
        )

    def note(self, data: bytes) -> bytes:
        """A note of the program, as JSON if it is."""
        try:
            noted = json.loads(data)
        except (ValueError, RecursionError):
            return encode(self.redaction.text(decode(data)))
        left = redacted_json(noted, self.redaction)
        return data if left == noted else json.dumps(left, indent=1).encode()

    def is_held(self, data: bytes) -> bool:
        """Whether the bytes of any file, perhaps of JSON, hold what is to be forgotten."""
        text = decode(data)
        return self.redaction.text(text) != text or self.note(data) != data

    def is_told(self, value: Any) -> bool:
        """Whether JSON data, such as an event of a trace, hold what is to be forgotten."""
        return bool(redacted_json(value, self.redaction) != value)


def text_forgetting(text: str, paths: Collection[str]) -> Forgetting:
    """The rules for a text, wherever it stands. `paths` are those that pages have or had. Raises `InvalidText` if it is
    too short, and `NotAllowed` if the memory needs it."""
    text = text.strip()
    if len(encode(text)) < MIN_BYTES:
        raise InvalidText(f"a text to be forgotten has at least {MIN_BYTES} bytes; a shorter one stands everywhere")
    if needed := next((word for word in _NEEDED if text in word), ""):
        raise NotAllowed(f"{text!r} cannot be forgotten: it is part of {needed!r}, which every memory needs")
    markers = (MARKER, *(f"{MARKER[:-1]} {number})" for number in range(2, MAX_MARKERS)), "-")
    for marker in markers:
        redaction = TextRedaction(text, marker)
        if redaction.is_possible and _are_apart(redaction, paths):
            return Forgetting(redaction)
    raise NotAllowed(f"the paths of pages that hold {text!r} would not be valid without it; rename these pages first")


def _are_apart(redaction: TextRedaction, paths: Collection[str]) -> bool:
    """Whether all paths are valid without the text, and no two of them are the same."""
    left = [redaction.path(path) for path in paths]
    return all(map(is_page_path, left)) and len({fold(path) for path in left}) == len({fold(path) for path in paths})


def lines_forgetting(storage: MemoryStorage, path: str, lines: str) -> Forgetting:
    """The rules for lines of a page (`3-5, 8`), wherever they stand as whole lines. Raises `InvalidSetting`,
    `PageNotFound`, and `NotAllowed` if they say nothing."""
    page = read_page(path, storage.read(path).data)
    shown = split_lines(page.text)
    numbers = set(_numbers(lines, len(shown)))
    above, listed = len(split_lines(page.body)), len(split_lines(page.body + page.links))
    named = [shown[number - 1] for number in numbers if number <= above]
    links = (CHILD_LINK.match(shown[number - 1]) for number in numbers if above < number <= listed)
    texts = _worth([*named, *(link[2] or "" for link in links if link)])
    if not texts:
        raise NotAllowed(f"lines {lines} of {path!r} have no text of their own; 'silica memory read' shows the page")
    body = {ending for line in named for ending in (line, line.rstrip("\r\n"))}
    whole = [block.content for block in page.blocks if all(line in body for line in split_lines(block.content))]
    return Forgetting(LineRedaction([*texts, *whole]))


def page_forgetting(storage: MemoryStorage, path: str) -> Forgetting:
    """The rules for a page: it goes with its past, the links to it, and each line that it has or had, unless the line
    now stands on another page. Raises `PageNotFound` if there never was such a page, and `NotAllowed` for the root."""
    if path == ROOT:
        raise NotAllowed("the root cannot be forgotten, every memory has one; name lines of it, or a text")
    history = storage.history
    states = list(history.states(path)) if history.begun else []
    stored = stored_page(storage, path)
    versions = [*(data for _, data in states if data is not None), *([stored.data] if stored else [])]
    if not versions:
        raise PageNotFound(path)
    pages = (storage.read(other).data for other in storage.list_files() if other != path)
    elsewhere = {line_core(line) for data in pages for line in split_lines(decode(data)) if not _describes(line, path)}
    told = [revision.text for revision, _ in states] + [revision.summary for revision, _ in states]
    lines = [line for data in versions for line in _texts(read_page(path, data))]
    lines += [line for text in told for line in (text, *split_lines(text))]
    own = [line for line in _worth(lines) if line_core(line) not in elsewhere]
    return Forgetting(LineRedaction(own), frozenset({fold(path)}))


def _texts(page: Page) -> Iterator[str]:
    """The lines of a page's text, and its blocks, as reasons in the history quote them."""
    yield from split_lines(page.body)
    yield from (block.content for block in page.blocks)


def _describes(line: str, path: str) -> bool:
    """Whether a line lists the page as a child."""
    listed = CHILD_LINK.match(line)
    return listed is not None and link_key(listed[1].strip()) == fold(path)


def _worth(lines: Iterable[str]) -> list[str]:
    """The lines that say something: not a rule, a fence, or a mark alone."""
    return [line for line in lines if len(encode("".join(filter(str.isalnum, line_core(line))))) >= MIN_BYTES]


def _numbers(lines: str, count: int) -> list[int]:
    numbers: list[int] = []
    for part in filter(None, (part.strip() for part in lines.split(","))):
        found = re.fullmatch(r"(\d{1,7})(?:\s*-\s*(\d{1,7}))?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= count:
            raise InvalidSetting(f"lines are numbers such as 3 or 3-5, from 1 to {count} on this page, not {part!r}")
        numbers += range(first, last + 1)
    if not numbers:
        raise InvalidSetting("lines are numbers such as 3 or 3-5, not an empty text")
    return numbers
