"""The proof that nothing was left behind: every block of every document is in the tree, or it is said why not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.block_index import BlockIndex, Places, is_text, key_of, keys_of, read_pages, texts_of
from memory_v2.migrate.ledger import Imported, digest_of
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.plan import Plan
from memory_v2.progress import with_progress
from memory_v2.storage.history import FORGET, PageChange, Revision
from memory_v2.text.redaction import MARKER
from memory_v2.text.secrets import masked, opening
from memory_v2.tree.block import Block
from memory_v2.tree.page import read_page

State: TypeAlias = Literal["there", "changed", "left out", "missing"]
"""Where a block is: on a page; nowhere, since an operation that is named has changed or removed it; not brought in, for
a reason that is told; or nowhere, for an unknown reason."""
FORGOTTEN = "forgotten"
"""The reason of what was taken out of the memory for good."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines of a document (from 1) that follow each other, how many `blocks` they are, and what became of them.

    Of those that are `there`, `page_lines` are the same lines on the page, one by one. Of those that are `changed`,
    `operation` is the id of the one that did it. `opening` is how the first of them begins. `reason` says why they are
    not in the tree, or why their document was not brought in.
    """

    name: str
    lines: tuple[int, int]
    state: State
    blocks: int = 1
    page: str = ""
    page_lines: tuple[int, int] | None = None
    operation: str = ""
    reason: str = ""
    opening: str = ""


@dataclass(frozen=True)
class Verification:
    """What became of every block of a source. `left_out` are its files that are no documents, and `unreadable` the
    pages that could not be read."""

    documents: int = 0
    passages: tuple[Passage, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    unreadable: tuple[str, ...] = ()

    @property
    def blocks(self) -> int:
        """How many blocks the documents have: rules and blank lines are not counted."""
        return sum(passage.blocks for passage in self.passages)

    def count(self, state: State) -> int:
        """How many blocks are in this state."""
        return sum(passage.blocks for passage in self.passages if passage.state == state)

    @property
    def is_complete(self) -> bool:
        """Whether no block is missing."""
        return self.count("missing") == 0

    @property
    def totals(self) -> dict[str, int]:
        """How many blocks there are, and how many in each state, which is the same."""
        counted = {f"blocks_{state.replace(' ', '_')}": self.count(state) for state in get_args(State)}
        return {"blocks": self.blocks} | counted

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the totals first, then the passages, those that are in the tree too."""
        document = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"complete": self.is_complete, "totals": self.totals} | document


@dataclass(slots=True)
class _Sought:
    """One block that is sought: its document, its lines there, and what was found out."""

    document: SourceDocument
    imported: Imported
    block: Block
    lines: range
    places: Places = ()
    by: Revision | None = None
    reason: str = ""


def verify(memory: Memory, scan: Scan, imported: Mapping[str, Imported], plan: Plan | None = None) -> Verification:
    """Looks for every block of every document in the tree, and asks the history about those that are not there.

    `imported` says what was brought in (see `Ledger`), and the steps of the plan that skip why a document was not. A
    text that two documents have must be in the tree twice, unless one of them was skipped. Raises `StorageError`.
    """
    reasons = {step.name: step.reason for step in plan.skipped} if plan else {}
    pages, unreadable = read_pages(memory)
    index = BlockIndex(pages.values(), {one.page for one in imported.values()})
    sought = {
        document.name: [
            _Sought(document, imported[document.name], block, lines) for block, lines in texts_of(document.text)
        ]
        for document in scan.documents
        if document.name in imported
    }
    _find(index, list(sought.values()))
    _explain(memory, index, [one for blocks in sought.values() for one in blocks if not one.places])
    passages: list[Passage] = []
    for document in scan.documents:
        reason = reasons.get(document.name, "")
        if (found := sought.get(document.name)) is None:
            passages += _joined(_not_brought(document, index, reason))
        else:
            passages += _joined(passage for one in found for passage in _passages_of(one, reason))
    left_out = tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out)
    return Verification(len(scan.documents), tuple(passages), left_out, tuple(one.name for one in unreadable))


def _find(index: BlockIndex, documents: Sequence[Sequence[_Sought]]) -> None:
    """Finds the blocks: first each on the page that its document was brought to and the pages below it, so that equal
    blocks of several documents are told apart; then anywhere; then as lines that are parsed otherwise there."""
    every = [one for blocks in documents for one in blocks]
    for one in with_progress(every, "blocks found"):
        one.places = index.take(one.block, one.imported.page)
    for one in every:
        one.places = one.places or index.take(one.block)
    for blocks in documents:
        near = dict.fromkeys(place.page for one in blocks for place in one.places)
        for one in blocks:
            for page in () if one.places else (one.imported.page, *near):
                one.places = one.places or index.take_lines(one.block, page)


def _explain(memory: Memory, index: BlockIndex, lost: Sequence[_Sought]) -> None:
    """Finds out which operation accounts for each block that is not in the tree."""
    if not lost:
        return
    since = Since(memory, {one.imported.operation for one in lost}, [one.block for one in lost])
    left = list(index.blocks_with(has_marker))
    for one in lost:
        operation = one.imported.operation
        if by := since.departure(one.block, operation):
            one.by, one.reason = by, f"changed or removed by the {by.kind} {by.id[:12]}"
        elif by := since.retold(one.block, operation):
            one.by, one.reason = by, f"told in other words; {by.id[:12]} in the history has the text"
        elif by := since.forgotten(one.block, operation, one.imported.page, left):
            one.by, one.reason = by, FORGOTTEN


def _not_brought(document: SourceDocument, index: BlockIndex, reason: str) -> Iterator[Passage]:
    """The passages of a document that was not brought in. With a reason for that, its blocks may be in the tree all
    the same: another document has brought them."""
    for block, lines in texts_of(document.text):
        passage = Passage(document.name, (lines.start, lines.stop - 1), "missing", reason="it was not brought in")
        if reason and (places := index.find(block)):
            yield from _there(passage, places, reason)
        else:
            yield replace(passage, state="left out", reason=reason) if reason else passage


def _there(passage: Passage, places: Places, reason: str = "") -> Iterator[Passage]:
    """The passages of one block that is in these places: several if it was too large for a page."""
    first, last = passage.lines
    for number, place in enumerate(places):
        start = first + place.skipped
        more = min(place.last - place.first, last - start)  # a fence that was closed has one line more
        lines, there = (start, start + more), (place.first, place.first + more)
        yield Passage(passage.name, lines, "there", 0 if number else 1, place.page, there, reason=reason)


def _passages_of(one: _Sought, reason: str) -> Iterator[Passage]:
    """The passages of one block. `reason` says why its document is not as it is in the tree."""
    passage = Passage(one.document.name, (one.lines.start, one.lines.stop - 1), "missing")
    if one.places:
        yield from _there(passage, one.places)
        return
    if one.reason != FORGOTTEN:  # what was forgotten is not told again
        passage = replace(passage, opening=opening(one.block.content))
    if one.by:
        yield replace(passage, state="changed", operation=one.by.id[:12], reason=one.reason)
    elif one.imported.digest == digest_of(one.document.text):
        yield passage
    elif reason:
        yield replace(passage, state="left out", reason=reason)
    else:
        yield replace(passage, reason="it has changed in the source since it was imported")


def _joined(passages: Iterable[Passage]) -> Iterator[Passage]:
    """The passages of a document; those that follow each other in the same way are one."""
    last: Passage | None = None
    for passage in passages:
        if last is not None and _follows(passage, last):
            lines = (last.lines[0], passage.lines[1])
            there = (last.page_lines[0], passage.page_lines[1]) if last.page_lines and passage.page_lines else None
            last = replace(last, lines=lines, page_lines=there, blocks=last.blocks + passage.blocks)
            continue
        if last is not None:
            yield last
        last = passage
    if last is not None:
        yield last


def _follows(passage: Passage, last: Passage) -> bool:
    same = ("state", "page", "operation", "reason")
    if any(getattr(passage, name) != getattr(last, name) for name in same):
        return False
    if passage.page_lines is None or last.page_lines is None:
        return passage.page_lines is last.page_lines
    return passage.page_lines[0] - last.page_lines[1] == passage.lines[0] - last.lines[1] > 0


# the history since an import: which revision took a block away


_MOVES = ("split", "merge")
"""Kinds of revisions that only move text. If a block is gone after one of them, it is missing."""
_MARKER = re.compile(re.escape(MARKER[:-1]) + r"(?: \d+)?\)")


@dataclass(frozen=True, slots=True)
class Departure:
    """A revision after which blocks with some key are fewer by `count` than before."""

    number: int
    revision: Revision
    count: int


class Since:
    """The history of a memory since the first of some operations, read for these blocks only."""

    def __init__(self, memory: Memory, operations: Iterable[str], blocks: Iterable[Block]) -> None:
        memory.history()  # edits by hand are recorded first
        history, wanted = memory.storage.history, frozenset(operations)
        self._revisions = _since(history.revisions() if history.begun else (), wanted)
        self._began = {revision.operation: number for number, revision in enumerate(self._revisions)}
        keys = {key for block in blocks for key in keys_of(block)}
        self._departures: dict[bytes, list[Departure]] = {}
        changes = history.changed_by(self._revisions) if self._revisions else ()
        for number, (revision, pages) in enumerate(zip(self._revisions, changes, strict=True)):
            for key, count in _departed(pages, keys).items():
                self._departures.setdefault(key, []).append(Departure(number, revision, count))

    def departure(self, block: Block, operation: str) -> Revision | None:
        """The revision that changed or removed a block that the operation had brought; each accounts for as many blocks
        as it took away. `None` if none did."""
        began = self._began.get(operation)
        if began is None:
            return None
        for key in keys_of(block):
            for place, one in reversed(list(enumerate(self._departures.get(key, ())))):
                is_later = one.number > began and one.revision.operation != operation
                if one.count and is_later and one.revision.kind not in _MOVES:
                    self._departures[key][place] = Departure(one.number, one.revision, one.count - 1)
                    return one.revision
        return None

    def retold(self, block: Block, operation: str) -> Revision | None:
        """The revision of the operation that brought the block in a model's words, if the history has it to the
        letter."""
        own = (revision for revision in self._revisions if revision.operation == operation)
        return next((one for one in own if one.text and one.decided_by and block.content in one.text), None)

    def forgotten(self, block: Block, operation: str, page: str, left: Iterable[str]) -> Revision | None:
        """The newest revision since the operation that says that something was forgotten, if that may be the block: it
        is one of those `left` with a marker in it, or the page that the operation brought has no past any more."""
        began = self._began.get(operation, len(self._revisions))
        revision = next((one for one in reversed(self._revisions[began + 1 :]) if one.kind == FORGET), None)
        if revision is None:
            return None
        is_left = any(_with_marker(text).fullmatch(block.content) for text in left)
        is_gone = all(page not in one.paths for one in self._revisions if one.operation == operation)
        return revision if is_left or is_gone else None


def has_marker(text: str) -> bool:
    """Whether something was forgotten in this text."""
    return _MARKER.search(text) is not None


def _with_marker(text: str) -> re.Pattern[str]:
    """What a text was in which something was forgotten."""
    return re.compile(".*".join(map(re.escape, _MARKER.split(text))), re.DOTALL)


def _since(revisions: Iterable[Revision], operations: frozenset[str]) -> list[Revision]:
    """The revisions from the first of these operations on, oldest first."""
    newest_first = list(revisions)
    ours = [number for number, revision in enumerate(newest_first) if revision.operation in operations]
    return newest_first[: ours[-1] + 1][::-1] if ours else []


def _departed(changes: Sequence[PageChange], wanted: Collection[bytes]) -> Counter[bytes]:
    """How many blocks with each key are gone after a change of these pages."""
    left = Counter(key for one in changes for key in _keys(one.path, one.before) if key in wanted)
    if left:  # a new page, such as all that an import brings, takes nothing away
        left.subtract(key for one in changes for key in _keys(one.path, one.after) if key in left)
    return +left


def _keys(path: str, data: bytes | None) -> Iterator[bytes]:
    for block in read_page(path, data).blocks if data is not None else ():
        if is_text(block):
            yield key_of(block)
