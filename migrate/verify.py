"""The proof that nothing was left behind: every block of every document is in the tree, or it is said why not."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, get_args

from memory_v2.files.listing import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import Imported, digest_of
from memory_v2.migrate.pages import cut_blocks, read_pages
from memory_v2.migrate.scan import Scan
from memory_v2.plan import Plan
from memory_v2.progress import with_progress
from memory_v2.storage.history import FORGET, PageChange, Revision
from memory_v2.text.redaction import MARKER
from memory_v2.text.secrets import masked, opening
from memory_v2.tree.block import Block, close_block, encode, filled_lines, parse_blocks, split_lines
from memory_v2.tree.page import Page, read_page

State: TypeAlias = Literal["there", "changed", "left out", "missing"]
"""Where a block is: on a page; nowhere, since an operation that is named has changed or removed it; not brought in, for
a reason that is told; or nowhere, for an unknown reason."""
FORGOTTEN = "forgotten"
"""The reason of what was taken out of the memory for good."""
_MOVES = ("split", "merge")
"""Kinds of revisions that only move text. If a block is gone after one of them, it is missing."""
_MARKER = re.compile(re.escape(MARKER[:-1]) + r"(?: \d+)?\)")


@dataclass(frozen=True, slots=True)
class BlockOutcome:
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
    passages: tuple[BlockOutcome, ...] = ()
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

    `imported` says what was brought in (see `imported_from`), and the steps of the plan that skip why a document was
    not. A text that two documents have must be in the tree twice, unless one of them was skipped. Raises
    `StorageError`.
    """
    reasons = {step.name: step.reason for step in plan.skipped} if plan else {}
    changed = {
        one.name for one in scan.documents if one.name in imported and imported[one.name].digest != digest_of(one.text)
    }
    pages, unreadable = read_pages(memory)
    tree = _Tree(pages.values())
    sought = [
        (BlockOutcome(document.name, lines, "missing"), block)
        for document in with_progress(scan.documents, "documents verified")
        for block, lines in _texts_of(document.text)
    ]
    places = tree.take_all([(block, imported[at.name].page) if at.name in imported else None for at, block in sought])
    lost = [
        (imported[at.name], block)
        for (at, block), page in zip(sought, places, strict=True)
        if at.name in imported and not page
    ]
    since = _Since(memory, pages.values(), lost) if lost else None
    passages = []
    for (at, block), page in zip(sought, places, strict=True):
        reason = reasons.get(at.name, "")
        state: State = "left out" if reason else "missing"
        if at.name not in imported:
            page = tree.find(block) if reason else ""
            at = replace(at, state="there" if page else state, page=page, reason=reason or "it was not brought in")
        elif page:
            at = replace(at, state="there", page=page)
        elif since and (by := since.explain(block, imported[at.name])):
            begins = "" if by[1] == FORGOTTEN else opening(block.content)  # what was forgotten is not told again
            at = replace(at, state="changed", operation=by[0].id[:12], reason=by[1], opening=begins)
        elif at.name in changed:
            why = reason or "it has changed in the source since it was imported"
            at = replace(at, state=state, reason=why, opening=opening(block.content))
        else:
            at = replace(at, opening=opening(block.content))
        passages.append(at)
    left_out = tuple(replace(one, reason=masked(one.reason)) for one in scan.left_out)
    return Verification(len(scan.documents), tuple(passages), left_out, tuple(one.name for one in unreadable))


# the blocks of a tree, and which page has each


def _texts_of(text: str) -> Iterator[tuple[Block, tuple[int, int]]]:
    """The blocks of a text that hold something, each with its first and last line (from 1), without blank ones."""
    first = 1
    for block in parse_blocks(text):
        filled = filled_lines(block.text)
        if _is_text(block):
            yield block, (first + filled.start, first + filled.stop - 1)
        first += len(split_lines(block.text))


def _is_text(block: Block) -> bool:
    """Whether a block holds something that could be lost. A rule between texts does not."""
    return block.kind != "rule" and bool(block.content.strip())


def _key_of(block: Block) -> bytes:
    """What a block is found by: its text, whatever its line ends; of a heading its words, since a heading may become a
    title or get another level."""
    is_heading = block.kind == "heading" and bool(block.words)
    said = block.words if is_heading else _in_lines(block.content)
    return hashlib.blake2b(encode(said), digest_size=16, person=b"heading" if is_heading else b"").digest()


def _keys_of(block: Block) -> Sequence[bytes]:
    """All that a block may be found by: a fence at the end of a text may have been left open, and is closed when
    something comes below it."""
    closed = close_block(block)
    return [_key_of(block)] if closed is block else [_key_of(block), _key_of(closed)]


def _in_lines(text: str) -> str:
    """The text with a line end before and after each line, whatever the ends were."""
    return "\n".join(["", *(line.rstrip("\r\n") for line in split_lines(text)), ""])


_NEAR: tuple[Callable[[str, str], bool], ...] = (
    str.__eq__,
    lambda page, own: page.startswith(f"{own}/"),
    lambda page, own: True,
)
"""On which pages a block is looked for: on that of its document, below it, and anywhere."""


class _Tree:
    """The pages that have each block of a tree. Each can be taken once, since a text that two documents have must be
    there twice; but a heading is there for every section below it."""

    def __init__(self, pages: Collection[Page]) -> None:
        self._free: dict[bytes, list[str]] = {}
        self._first: dict[bytes, str] = {}
        self._lines = {page.path: _in_lines(page.body) for page in pages}
        whole = ((block, page.path) for page in pages for block in page.blocks if block.kind != "piece")
        for block, path in (*whole, *((block, path) for path, block in cut_blocks(pages).items())):
            if _is_text(block):
                self._first.setdefault(_key_of(block), path)
                self._free.setdefault(_key_of(block), []).append(path)

    def take_all(self, sought: Sequence[tuple[Block, str] | None]) -> list[str]:
        """Takes each block: on the page that its document was brought to, else below that, else anywhere, so that
        equal blocks of several documents are told apart. Returns the page of each, empty if it has none."""
        places = [""] * len(sought)
        for is_near in _NEAR:
            for number, one in enumerate(sought):
                if one and not places[number]:
                    places[number] = self._take(*one, is_near)
        return [place or (self._in_another(*one) if one else "") for place, one in zip(places, sought, strict=True)]

    def find(self, block: Block) -> str:
        """A page that has the block, taken or not; empty if none has."""
        return next((self._first[key] for key in _keys_of(block) if key in self._first), "")

    def _take(self, block: Block, own: str, is_near: Callable[[str, str], bool]) -> str:
        for key in _keys_of(block):
            free = self._free.get(key, [])
            if page := next((page for page in free if is_near(page, own)), ""):
                if block.kind != "heading" or len(free) > 1:
                    free.remove(page)
                return page
        return ""

    def _in_another(self, block: Block, page: str) -> str:
        """The page, if no block of the tree has this text but its lines follow each other there: what is indented code
        in one place may belong to an item in another."""
        is_there = not self.find(block) and _in_lines(block.content) in self._lines.get(page, "")
        return page if is_there else ""


# the history since an import: which revision took a block away


class _Since:
    """The history of a memory since the first import of some blocks that are not in the tree, read for these only."""

    def __init__(self, memory: Memory, pages: Iterable[Page], lost: Sequence[tuple[Imported, Block]]) -> None:
        memory.history()  # edits by hand are recorded first
        history = memory.storage.history
        operations, keys = {one.operation for one, _ in lost}, {key for _, block in lost for key in _keys_of(block)}
        newest_first = list(history.revisions() if history.begun else ())
        ours = [number for number, revision in enumerate(newest_first) if revision.operation in operations]
        self._revisions = newest_first[: ours[-1] + 1][::-1] if ours else []
        self._began = {revision.operation: number for number, revision in enumerate(self._revisions)}
        changes = history.changed_by(self._revisions) if self._revisions else ()
        self._gone = [_departed(changed, keys) for changed in changes]
        marked = [block.content for page in pages if _MARKER.search(page.body) for block in parse_blocks(page.body)]
        self._left = [
            re.compile(".*".join(map(re.escape, _MARKER.split(text))), re.DOTALL)
            for text in marked
            if _MARKER.search(text)
        ]
        """What the blocks were in which something was forgotten."""

    def explain(self, block: Block, brought: Imported) -> tuple[Revision, str] | None:
        """The revision that accounts for a block that is gone, and what it did; `None` if none does."""
        began = self._began.get(brought.operation, len(self._revisions))
        if by := self._departure(block, brought.operation, began):
            return by, f"changed or removed by the {by.kind} {by.id[:12]}"
        own = [revision for revision in self._revisions if revision.operation == brought.operation]
        for by in own:  # an import in a model's words, of which the history has the text
            if by.text and by.decided_by and block.content in by.text:
                return by, f"told in other words; {by.id[:12]} in the history has the text"
        forgets = (one for one in reversed(self._revisions[began + 1 :]) if one.kind == FORGET)
        is_left = any(text.fullmatch(block.content) for text in self._left)
        if (by := next(forgets, None)) and (is_left or all(brought.page not in one.paths for one in own)):
            return by, FORGOTTEN
        return None

    def _departure(self, block: Block, operation: str, began: int) -> Revision | None:
        """The newest revision that took the block away; each accounts for as many blocks as it took."""
        for number in range(len(self._revisions) - 1, began, -1):
            revision, gone = self._revisions[number], self._gone[number]
            key = next((key for key in _keys_of(block) if gone[key] > 0), None)
            if key and revision.operation != operation and revision.kind not in _MOVES:
                gone[key] -= 1
                return revision
        return None


def _departed(changes: Sequence[PageChange], wanted: Collection[bytes]) -> Counter[bytes]:
    """How many blocks with each key are gone after a change of these pages."""
    left = Counter(key for change in changes for key in _keys(change.path, change.before) if key in wanted)
    if left:  # a new page, such as all that an import brings, takes nothing away
        left.subtract(key for change in changes for key in _keys(change.path, change.after) if key in left)
    return +left


def _keys(path: str, data: bytes | None) -> Iterator[bytes]:
    for block in read_page(path, data).blocks if data is not None else ():
        if _is_text(block):
            yield _key_of(block)
