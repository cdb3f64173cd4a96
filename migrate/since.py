"""What the history says about blocks that are no longer in the tree: which operation changed or removed them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from memory_v2.memory import Memory
from memory_v2.migrate.block_index import is_text, key_of, keys_of
from memory_v2.storage.history import FORGET, PageChange, Revision
from memory_v2.text.redaction import MARKER
from memory_v2.tree.block import Block
from memory_v2.tree.page import read_page

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
        told = next((one for one in reversed(self._revisions[began + 1 :]) if one.kind == FORGET), None)
        if told is None:
            return None
        is_left = any(_with_marker(text).fullmatch(block.content) for text in left)
        is_gone = all(page not in one.paths for one in self._revisions if one.operation == operation)
        return told if is_left or is_gone else None


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
