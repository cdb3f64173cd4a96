"""The decision behind a split: which blocks and links go to which child, and which stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Literal

from memory_v2.agent.arguments import Argument
from memory_v2.agent.task import Description, NumberList, Task, TaskTool
from memory_v2.errors import InvalidPath, ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import SplitBrief
from memory_v2.operations.context import MAX_CHILDREN
from memory_v2.operations.draft import Draft
from memory_v2.operations.guard import check_child, check_description, check_own_words, check_title, sizes
from memory_v2.text.dates import named_span
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.tree.block import encode, line_end, new_blocks, take_runs
from memory_v2.tree.edit import Run, parse_numbers
from memory_v2.tree.folding import extended
from memory_v2.tree.headings import REPEATED, digest, noted, repeated_on
from memory_v2.tree.page import ChildLink, Page, page_source
from memory_v2.tree.path import ROOT, child_path, fold, link_key
from memory_v2.tree.source import Source
from memory_v2.tree.titles import page_of, section_blocks, trimmed

MAX_SUMMARY = 600
"""The longest summary of a page that a model may write, in characters."""
OVERHEAD = 400
"""The size of a new page's title and metadata, in bytes; an estimate."""
MAX_IN_ONE = 0.8
"""The largest share of the page that may go to a child above the threshold, so that each split makes progress. The root
is an exception, because its child is not the root and can be split further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    name: Annotated[str, Argument("the last part of its path; a child that is listed already is added to")]
    title: str
    description: Description
    blocks: Annotated[NumberList | None, Argument("blocks that move there, in order, such as 4-9, 12")] = None
    links: Annotated[NumberList | None, Argument("links that move there, such as L2-L5")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPage:
    strategy: Literal["topic", "chronological", "entity", "size"]
    children: Annotated[list[Child], Argument(min_length=1, max_length=MAX_CHILDREN)]
    summary: Annotated[str, Argument("what the page is about, for its top", max_length=MAX_SUMMARY)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaveWhole:
    reason: Annotated[str, Argument(min_length=3, max_length=400)]


@dataclass(frozen=True)
class _Moved:
    """A child and what moves there: blocks of `size` bytes, and links. `shown` are its blocks in order, with the
    headings that are repeated there as negative numbers."""

    path: str
    title: str
    description: str
    blocks: list[int]
    links: list[int]
    exists: bool = False
    shown: tuple[int, ...] = ()
    size: int = 0


class SplitTask(Task):
    """Collects what a model decides about a page; `apply` carries it out."""

    kind = "split"
    brief: SplitBrief
    max_corrections = 2

    def __init__(self, brief: SplitBrief) -> None:
        self.brief = brief
        self.page: Page = brief.view.page
        self.outline = brief.outline
        self.children: list[_Moved] = []
        self.summary = ""
        self.strategy = ""
        self.left_whole = ""

    @cached_property
    def tools(self) -> Sequence[TaskTool[Any]]:
        split = TaskTool("split_page", SplitPage, self.split_page)
        leave = TaskTool("leave_whole", LeaveWhole, self.leave_whole)
        must = self.page.size > self.brief.threshold or self.brief.crowded
        return (split,) if must else (split, leave)

    # what the model calls

    def split_page(self, call: SplitPage) -> Prompt:
        children = self._children(call.children)
        for kind, prefix, numbers in (
            ("block", "", [n for child in children for n in child.blocks]),
            ("link", "L", [n for child in children for n in child.links]),
        ):
            if twice := next((n for n, count in Counter(numbers).items() if count > 1), None):
                raise ToolProblem(f"{kind} {prefix}{twice} goes to two children; name it once")
        keys = [fold(child.path) for child in children]
        if taken := next((child.path for child in children if keys.count(fold(child.path)) > 1), None):
            raise ToolProblem(f"two children are called {taken!r}; give each a name of its own")
        children = self._with_headings(children)
        self.summary, note = self._summary(call.summary.strip())
        self.children, self.strategy, self.left_whole = children, call.strategy, ""
        return Prompt("done", {"what": f"{self.page.path} will have {len(children)} children more{note}"})

    def leave_whole(self, call: LeaveWhole) -> Prompt:
        self.left_whole, self.children = call.reason, []
        return Prompt("done", {"what": f"{self.page.path} stays whole"})

    def _summary(self, words: str) -> tuple[str, str]:
        """The summary if the page supports it; otherwise an empty one and the reason. It does not stop the split."""
        try:
            return check_own_words(words, [self.page.text], "the summary") if words else "", ""
        except ToolProblem as problem:
            return "", f"; the summary is left out: {problem}"

    def _children(self, given: Sequence[Child]) -> list[_Moved]:
        """The checked children. Raises one `ToolProblem` with the problems of all."""
        children, problems = [], []
        for child in given:
            try:
                children.append(self._child(child))
            except (ToolProblem, InvalidPath) as problem:
                problems.append(f"child {child.name[:40]!r}: {problem}")
        if problems:
            raise ToolProblem("\n".join(problems))
        return children

    def _child(self, child: Child) -> _Moved:
        name = child.name.strip()
        if "/" in name:
            raise ToolProblem(
                f"{name[:80]!r} is a path; give the last part only, the children go below {self.page.path}"
            )
        path = check_child(child_path(self.page.path, name))
        if fold(path) == fold(self.page.path):
            raise ToolProblem(f"{path!r} is the page that is divided; choose another name")
        present = self.brief.taken.page(path)
        if present and fold(path) in self._listed:
            path = present
        elif path in self.brief.taken:
            raise ToolProblem(f"there is a page {present or path!r} already; choose another name")
        if present and self.brief.is_piece(present):
            raise ToolProblem(f"{present!r} holds part of one large block; choose another name")
        blocks = parse_numbers(child.blocks, len(self.page.blocks)) if child.blocks else []
        links = parse_numbers(child.links, len(self.page.children), "l") if child.links else []
        if not blocks and not links:
            raise ToolProblem(f"the child {name!r} has no blocks; name those that move there")
        if fixed := sorted(self.page.fixed.intersection(blocks)):
            raise ToolProblem(f"block {fixed[0]} of {self.page.path} stays there: it makes the page what it is")
        sources = [*(self.page.blocks[n - 1].text for n in blocks), *(self._link(n).line for n in links), name]
        exists = present is not None
        sources += [link.line for link in self.page.children if exists and link_key(link.target) == fold(path)]
        if exists and (group := self.brief.about(path)):
            sources.append(group.links)
        if exists and any(link_key(self._link(n).target) == fold(path) for n in links):
            raise ToolProblem(f"{path!r} cannot list itself; leave its own link where it is")
        description = check_description(child.description, sources)
        return _Moved(path, check_title(child.title, [*sources, path]), description, blocks, links, exists)

    def _with_headings(self, children: Sequence[_Moved]) -> list[_Moved]:
        """The children with each heading where the text below it is. Raises `ToolProblem` if a child gets headings
        without their text."""
        homes = [0] * (len(self.page.blocks) + 1)
        for place, child in enumerate(children, 1):
            for number in child.blocks:
                homes[number] = place
        settled = self.outline.settled(homes, self.page.fixed)
        blocks: list[list[int]] = [[] for _ in range(len(children) + 1)]
        for number, place in enumerate(settled):
            blocks[place].append(number)
        moved = []
        for child, numbers in zip(children, blocks[1:], strict=True):
            if child.blocks and not numbers:
                first = child.blocks[0]
                raise ToolProblem(f"{child.path!r} has headings only; name what stands below block {first} there too")
            shown, size = tuple(self.outline.with_headings(numbers)), sizes(self.page.blocks, numbers)
            moved.append(replace(child, blocks=numbers, shown=shown, size=size))
        return moved

    # the guard

    def objections(self) -> list[str]:
        """Objects if the page stays above its target, or if a child is neither below the threshold nor clearly smaller
        than the page."""
        if self.left_whole:
            return []
        found = []
        listed = len(self.page.children) + sum((not child.exists) - len(child.links) for child in self.children)
        if self.brief.crowded and listed > self.brief.most_children:
            found.append(f"{self.page.path} would still list {listed} children; let each new child take more links")
        if (left := self._size_left()) > self.brief.target:
            found.append(
                f"{left:,} bytes would stay on {self.page.path}, more than {self.brief.target:,}; "
                f"move more {'links' if self.brief.crowded else 'blocks'}"
            )
        for child in self.children:
            size = self._size_of(child)
            if size > self.brief.threshold and size > MAX_IN_ONE * self.page.size and self.page.path != ROOT:
                found.append(f"{child.path} would hold {size:,} of {self.page.size:,} bytes; divide it")
        return found

    def checked(self) -> list[str]:
        """That each block went to one page, and how large the pages are."""
        if self.left_whole:
            return ["nothing was moved"]
        moved = sum(len(child.blocks) for child in self.children)
        return [
            f"{moved} of {len(self.page.blocks)} blocks go to one child each, the others stay; none is retyped",
            f"{self._size_left():,} bytes stay on {self.page.path}; at most {self.brief.target:,} may",
            *(f"{child.path} gets {self._size_of(child) - OVERHEAD:,} bytes" for child in self.children),
        ]

    # carrying it out

    def apply(self, draft: Draft) -> list[str]:
        """Stages the pages; returns the paths of the new ones."""
        moved = {n for child in self.children for n in child.blocks}
        links = {n for child in self.children for n in child.links}
        stay = [n for n in range(1, len(self.page.blocks) + 1) if n not in moved]
        runs = take_runs(self.page.blocks, stay)
        if self.summary:
            newline = line_end(self.page.text)
            summary = new_blocks(self.summary.replace("\n", newline) + newline)
            top = self.page.top
            runs = [runs[0][:top], summary, runs[0][top:], *runs[1:]] if runs else [summary]
        gone = {self._link(n).line for n in links}
        parent = self.page.with_body([run for run in runs if run]).without_children(lambda link: link.line in gone)
        for child in self.children:
            page = self._with_blocks(draft, child).with_lines(self._link(number).line for number in child.links)
            if not child.exists:
                page = page.stamped(self.brief.now, split_from=self.page.path)
                if (key := fold(child.path)) in self._listed:
                    parent = _without(parent, key)
                parent = parent.with_child(child.path, child.description)
            elif child.links and not child.blocks:
                parent = parent.with_description(child.path, child.description)
            draft.put(trimmed(page, self.brief.now))
        if REPEATED in parent.properties:
            parent = parent.stamped(self.brief.now, **{REPEATED: noted(section_blocks(parent), repeated_on(parent))})
        draft.put(trimmed(_in_order_of_time(parent), self.brief.now))
        return [child.path for child in self.children if not child.exists]

    def _runs(self, child: _Moved) -> list[Run]:
        """The blocks of a child, with the headings that are repeated there."""
        runs: list[Run] = []
        own: list[int] = []
        for number in child.shown:
            if number < 0:
                runs += [*take_runs(self.page.blocks, own), (self.page.blocks[-number - 1],)]
                own = []
            else:
                own.append(number)
        return [*runs, *take_runs(self.page.blocks, own)]

    def _with_blocks(self, draft: Draft, child: _Moved) -> Page:
        """The page of a child with its blocks, and a note of the headings that are repeated on it."""
        now, runs = self.brief.now, self._runs(child)
        here = [digest(self.page.blocks[-number - 1]) for number in child.shown if number < 0]
        repeated = noted(section_blocks(self.page), [*here, *repeated_on(self.page)]).split()
        if child.exists:
            return extended(draft.page(child.path), runs, repeated, now)
        page = page_of(child.path, child.title, runs, self._names(child), now)
        source = Source(page_source(self.page).name, self.page.said_on)
        return page.stamped(now, **source.properties, **{REPEATED: noted(section_blocks(page), repeated)})

    def _names(self, child: _Moved) -> bool:
        """Whether the first heading of a child is its title: it is that of all its text, and says what it is about."""
        shown = [n for n in child.shown if self.page.blocks[abs(n) - 1].kind != "front matter"]
        return self.outline.is_section(shown) and is_meaningful(slug(self.page.blocks[shown[0] - 1].words))

    def listed(self, child: _Moved) -> list[str]:
        """The targets of the links that move to a child."""
        return [self._link(number).target for number in child.links]

    # helpers

    @cached_property
    def _listed(self) -> frozenset[str | None]:
        """The folded paths of the children that the page lists."""
        return frozenset(link_key(link.target) for link in self.page.children)

    def _link(self, number: int) -> ChildLink:
        return self.page.children[number - 1]

    def _link_bytes(self, numbers: Sequence[int]) -> int:
        return sum(len(encode(self._link(n).line)) for n in numbers)

    def _size_of(self, child: _Moved) -> int:
        repeated = sizes(self.page.blocks, (-number for number in child.shown if number < 0))
        return OVERHEAD + child.size + repeated + self._link_bytes(child.links)

    def _size_left(self) -> int:
        left = self.page.size + len(encode(self.summary))
        for child in self.children:
            left -= child.size + self._link_bytes(child.links)
            left += len(encode(f"- [[{child.path}]] - {child.description}\n"))
            again = (link for link in self.page.children if child.exists and link_key(link.target) == fold(child.path))
            left -= sum(len(encode(link.line)) for link in again)  # the line that lists it is written again
        return left


def _in_order_of_time(page: Page) -> Page:
    """The page with its children that are named for a time listed in order, below the others."""
    spans = {link.line: span for link in page.children if (span := named_span(link.target.rsplit("/", 1)[-1]))}
    ordered = sorted(spans, key=lambda line: (spans[line], line))
    if ordered == list(spans):
        return page
    return page.without_children(lambda link: link.line in spans).with_lines(ordered)


def _without(page: Page, key: str) -> Page:
    """The page without a line for a child that does not exist yet."""
    return page.without_children(lambda link: link_key(link.target) == key)
