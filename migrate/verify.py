"""The proof that nothing was left behind: every block of every document is in the tree, or it is said why not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from memory_v2.files.left_out import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.block_index import BlockIndex, is_text, key_of, keys_of, read_pages, texts_of
from memory_v2.migrate.ledger import Imported, digest_of
from memory_v2.migrate.source import Scan
from memory_v2.plan import Plan
from memory_v2.progress import with_progress
from memory_v2.storage.history import FORGET, PageChange, Revision
from memory_v2.text.redaction import MARKER
from memory_v2.text.secrets import masked, opening
from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.page import read_page

State: TypeAlias = Literal["there", "changed", "left out", "missing"]
"""Where a block is: on a page; nowhere, since an operation that is named has changed or removed it; not brought in, for
a reason that is told; or nowhere, for an unknown reason."""
FORGOTTEN = "forgotten"
"""The reason of what was taken out of the memory for good."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A block of a document, its lines there (from 1), and what became of it: the `page` that has it, or the
    `operation` that changed it and how it begins (`opening`). `reason` says why it is not in the tree, or why its
    document was not brought in."""

    name: str
    lines: tuple[int, int]
    state: State
    page: str = ""
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
        return len(self.passages)

    def count(self, state: State) -> int:
        """How many blocks are in this state."""
        return sum(passage.state == state for passage in self.passages)

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


def verify(memory: Memory, scan: Scan, imported: Mapping[str, Imported], plan: Plan | None = None) -> Verification:
    """Looks for every block of every document in the tree, and asks the history about those that are not there.

    `imported` says what was brought in (see `Ledger`), and the steps of the plan that skip why a document was not. A
    text that two documents have must be in the tree twice, unless one of them was skipped. Raises `StorageError`.
    """
    reasons = {step.name: step.reason for step in plan.skipped} if plan else {}
    digests = {document.name: digest_of(document.text) for document in scan.documents}
    pages, unreadable = read_pages(memory)
    index = BlockIndex(pages.values())
    sought = [
        (document.name, block, (lines.start, lines.stop - 1))
        for document in with_progress(scan.documents, "documents verified")
        for block, lines in texts_of(document.text)
    ]
    places = index.take_all([(block, imported[name].page) if name in imported else None for name, block, _ in sought])
    lost = [
        (imported[name], block)
        for (name, block, _), page in zip(sought, places, strict=True)
        if name in imported and not page
    ]
    since = _Since(memory, lost) if lost else None
    left = [block for page in pages.values() if has_marker(page.body) for block in parse_blocks(page.body)]
    passages = []
    for (name, block, lines), page in zip(sought, places, strict=True):
        reason, passage = reasons.get(name, ""), Passage(name, lines, "missing", reason="it was not brought in")
        if (brought := imported.get(name)) is None:
            if reason and (page := index.find(block)):
                passage = replace(passage, state="there", page=page, reason=reason)
            elif reason:
                passage = replace(passage, state="left out", reason=reason)
        elif page:
            passage = Passage(name, lines, "there", page)
        elif since and (found := since.explain(block, brought, left)):
            by, why = found
            begins = "" if why == FORGOTTEN else opening(block.content)  # what was forgotten is not told again
            passage = Passage(name, lines, "changed", "", by.id[:12], why, begins)
        elif brought.digest == digests[name]:
            passage = Passage(name, lines, "missing", opening=opening(block.content))
        else:
            state: State = "left out" if reason else "missing"
            why = reason or "it has changed in the source since it was imported"
            passage = Passage(name, lines, state, reason=why, opening=opening(block.content))
        passages.append(passage)
    left_out = tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out)
    return Verification(len(scan.documents), tuple(passages), left_out, tuple(one.name for one in unreadable))


# the history since an import: which revision took a block away


_MOVES = ("split", "merge")
"""Kinds of revisions that only move text. If a block is gone after one of them, it is missing."""
_MARKER = re.compile(re.escape(MARKER[:-1]) + r"(?: \d+)?\)")


class _Since:
    """The history of a memory since the first import of some blocks that are not in the tree, read for these only."""

    def __init__(self, memory: Memory, lost: Iterable[tuple[Imported, Block]]) -> None:
        memory.history()  # edits by hand are recorded first
        history, lost = memory.storage.history, list(lost)
        operations, keys = {one.operation for one, _ in lost}, {key for _, block in lost for key in keys_of(block)}
        newest_first = list(history.revisions() if history.begun else ())
        ours = [number for number, revision in enumerate(newest_first) if revision.operation in operations]
        self._revisions = newest_first[: ours[-1] + 1][::-1] if ours else []
        self._began = {revision.operation: number for number, revision in enumerate(self._revisions)}
        changes = history.changed_by(self._revisions) if self._revisions else ()
        self._gone = [_departed(pages, keys) for pages in changes]

    def explain(self, block: Block, brought: Imported, left: Iterable[Block]) -> tuple[Revision, str] | None:
        """The revision that accounts for a block that is gone, and what it did; `None` if none does."""
        if by := self._departure(block, brought.operation):
            return by, f"changed or removed by the {by.kind} {by.id[:12]}"
        if by := self._retold(block, brought.operation):
            return by, f"told in other words; {by.id[:12]} in the history has the text"
        if by := self._forgotten(block, brought, left):
            return by, FORGOTTEN
        return None

    def _departure(self, block: Block, operation: str) -> Revision | None:
        """The newest revision that took the block away; each accounts for as many blocks as it took."""
        began = self._began.get(operation, len(self._revisions))
        for number in range(len(self._revisions) - 1, began, -1):
            revision, gone = self._revisions[number], self._gone[number]
            key = next((key for key in keys_of(block) if gone[key] > 0), None)
            if key and revision.operation != operation and revision.kind not in _MOVES:
                gone[key] -= 1
                return revision
        return None

    def _retold(self, block: Block, operation: str) -> Revision | None:
        """The revision of the import in a model's words, if the history has the block to the letter."""
        own = (revision for revision in self._revisions if revision.operation == operation)
        return next((one for one in own if one.text and one.decided_by and block.content in one.text), None)

    def _forgotten(self, block: Block, brought: Imported, left: Iterable[Block]) -> Revision | None:
        """The newest revision that says that something was forgotten, if that may be the block: what is `left` of it
        has a marker in it, or the page that the import brought has no past any more."""
        began = self._began.get(brought.operation, len(self._revisions))
        revision = next((one for one in reversed(self._revisions[began + 1 :]) if one.kind == FORGET), None)
        if revision is None:
            return None
        is_left = any(_with_marker(one.content).fullmatch(block.content) for one in left if has_marker(one.content))
        is_gone = all(brought.page not in one.paths for one in self._revisions if one.operation == brought.operation)
        return revision if is_left or is_gone else None


def has_marker(text: str) -> bool:
    """Whether something was forgotten in this text."""
    return _MARKER.search(text) is not None


def _with_marker(text: str) -> re.Pattern[str]:
    """What a text was in which something was forgotten."""
    return re.compile(".*".join(map(re.escape, _MARKER.split(text))), re.DOTALL)


def _departed(changes: Sequence[PageChange], wanted: Collection[bytes]) -> Counter[bytes]:
    """How many blocks with each key are gone after a change of these pages."""
    left = Counter(key for change in changes for key in _keys(change.path, change.before) if key in wanted)
    if left:  # a new page, such as all that an import brings, takes nothing away
        left.subtract(key for change in changes for key in _keys(change.path, change.after) if key in left)
    return +left


def _keys(path: str, data: bytes | None) -> Iterator[bytes]:
    for block in read_page(path, data).blocks if data is not None else ():
        if is_text(block):
            yield key_of(block)
