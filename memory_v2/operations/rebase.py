"""Carrying a decision about new text over to pages that others have changed since they were shown.

Each accepted call is made again on the current pages, with the current numbers of its blocks, and is checked again. The
model is asked again only if a block or page that it named was changed or removed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memory_v2.errors import InvalidPath, SilicaError, ToolProblem
from memory_v2.operations.decision import below_title, listed_as
from memory_v2.operations.draft import Draft
from memory_v2.operations.write_calls import (
    Call,
    CreatePage,
    Describe,
    Insert,
    NothingNew,
    Place,
    Remove,
    Replace,
    RewritePage,
)
from memory_v2.operations.write_task import WriteTask
from memory_v2.tree.block import Block
from memory_v2.tree.edit import new_blocks
from memory_v2.tree.match import BlockMatch
from memory_v2.tree.numbers import Numbers, parse_numbers
from memory_v2.tree.page import Page


class Outdated(SilicaError):
    """A decision cannot be carried over. The message says what has changed."""


def rebase(task: WriteTask, draft: Draft) -> WriteTask:
    """Returns the same decision on the pages of a fresh draft, not yet applied. Raises `Outdated` if a block or page
    that it names was changed or removed, if a path is taken, if somebody else has written the same text, or if the
    decision is not valid for the current pages."""
    now = {path: page for path in task.seen.pages if (page := draft.find(path)) is not None}
    again = WriteTask(task.brief, draft)
    again.seen.pages.clear()
    again.seen.show(now.values())
    pages = _Pages(task.seen.pages, now)
    _check_still_new(task, pages)
    _check_lines(task, draft)
    try:
        for call in task.calls:
            again.take(_renumbered(call, task, pages))
    except (ToolProblem, InvalidPath) as problem:
        raise Outdated(str(problem)) from problem
    if objections := again.objections():
        raise Outdated(objections[0])
    return again


class _Pages:
    """The pages as they were shown, and as they are now."""

    def __init__(self, shown: Mapping[str, Page], now: Mapping[str, Page]) -> None:
        self.shown = shown
        self.now = now
        self._matches: dict[str, BlockMatch] = {}

    def match(self, path: str) -> BlockMatch:
        if path not in self.now:
            raise Outdated(f"the page {path!r} is gone")
        if path not in self._matches:
            self._matches[path] = BlockMatch(self.shown[path].blocks, self.now[path].blocks)
        return self._matches[path]

    def numbers(self, path: str, given: Numbers) -> list[int | str]:
        """The current numbers of these blocks of a page."""
        match = self.match(path)
        return [_found(match.number(n), n, path) for n in parse_numbers(given, len(self.shown[path].blocks))]

    def behind(self, path: str, after: int, first: Block) -> int:
        """The current block to put a text behind, if it was decided to go behind the block `after`."""
        return _found(self.match(path).behind(below_title(self.shown[path], after), first), after, path)

    def end(self, path: str, first: Block) -> int | None:
        """The same for a text that was decided to go at the end of the page; `None` for the end of an empty page."""
        match, count = self.match(path), len(self.shown[path].blocks)
        return match.behind(count, first) if count else None


def _found(number: int | None, before: int, path: str) -> int:
    if number is None:
        raise Outdated(f"block {before} of {path!r} was changed or removed by somebody else")
    return number


def _renumbered(call: Call, task: WriteTask, pages: _Pages) -> Call:
    """The call with the current numbers of its blocks."""
    match call:
        case Place():
            numbers = parse_numbers(call.blocks, len(task.brief.blocks), "n")
            first = task.brief.blocks[numbers[0] - 1]
            if call.after is None:
                return replace(call, after=pages.end(call.page, first))
            return replace(call, after=pages.behind(call.page, call.after, first))
        case Insert():
            first = new_blocks(call.text)[0]
            return replace(call, after=pages.behind(call.page, call.after, first))
        case Replace() | Remove():
            return replace(call, blocks=pages.numbers(call.page, call.blocks))
        case NothingNew():
            said = [replace(one, blocks=pages.numbers(one.page, one.blocks)) for one in call.said_in]
            return replace(call, said_in=said)
        case RewritePage():
            if not pages.match(call.page).is_unchanged:
                raise Outdated(f"{call.page!r} was to be rewritten as a whole, and somebody else has changed it")
            return call
        case CreatePage() | Describe():
            return call


def _check_still_new(task: WriteTask, pages: _Pages) -> None:
    """Raises `Outdated` if somebody else has written one of the new blocks on a page that was shown: carrying the
    decision over would write it twice."""
    to_write = {task.brief.blocks[n - 1].content: n for n, path in task.placed.items() if path}
    for path in pages.now:
        for block in pages.match(path).added:
            if block.kind not in ("rule", "front matter") and (number := to_write.get(block.content)):
                raise Outdated(f"n{number} was written on {path!r} by somebody else")


def _check_lines(task: WriteTask, draft: Draft) -> None:
    """Raises `Outdated` if somebody else has described a page anew that is to be described."""
    for path, described in task.described.items():
        if set(listed_as(draft.graph(), path).values()) != set(described.before.values()):
            raise Outdated(f"{path!r} was described anew by somebody else")
