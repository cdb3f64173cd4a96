"""The calls with which a model decides about a new text, as it sees them; what they may refer to, what they change on
each page, and the account of it for the history, which names each sentence that is not in the tree, with the reason."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import Annotated, TypeAlias

from memory_v2.agent.arguments import Argument
from memory_v2.agent.task import Description, NumberList
from memory_v2.errors import ToolProblem
from memory_v2.models.briefs import WriteBrief
from memory_v2.operations.draft import Draft, known_page
from memory_v2.tree.block import Block, filled_lines, readable, split_lines
from memory_v2.tree.edit import Numbers, PageEdit, Run, parse_numbers, show_numbers
from memory_v2.tree.page import Page

NewBlocks = Annotated[NumberList, Argument("blocks of the new text, such as n1, n3-n5")]
PageBlocks = Annotated[NumberList, Argument("its blocks, such as 4, 6-8")]
PagePath = Annotated[str, Argument("its path")]
Reason = Annotated[str, Argument("why, in one sentence", min_length=3, max_length=400)]
OwnWords = Annotated[str, Argument("Markdown", min_length=1, max_length=12_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPages:
    paths: Annotated[list[str], Argument("paths as shown in links and passages", min_length=1, max_length=5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceBlocks:
    blocks: NewBlocks
    page: PagePath
    after: Annotated[
        int | None, Argument("block in front of them; 0: below the title; left out: the end, of any page", ge=0)
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replace:
    page: PagePath
    blocks: PageBlocks
    new_blocks: Annotated[NumberList | None, Argument("blocks of the new text, to the letter")] = None
    text: Annotated[str | None, Argument("or words of your own", min_length=1, max_length=12_000)] = None
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertText:
    page: PagePath
    after: Annotated[int, Argument("block in front of it; 0: below the title", ge=0)]
    text: OwnWords


@dataclass(frozen=True, slots=True, kw_only=True)
class Remove:
    page: PagePath
    blocks: PageBlocks
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatePage:
    path: Annotated[str, Argument("such as projects/webshop; folders need no page")]
    parent: Annotated[str, Argument("the page that lists it")]
    title: str
    description: Description
    blocks: NewBlocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    blocks: PageBlocks
    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritePage:
    page: PagePath
    text: Annotated[str, Argument("the whole body of the page, Markdown", min_length=1, max_length=40_000)]
    dropped: Annotated[list[Dropped], Argument("every block that is not in the text as it was")] = field(
        default_factory=list
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    page: PagePath
    blocks: PageBlocks


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingNew:
    blocks: NewBlocks
    said_in: Annotated[list[Said], Argument("where it stands already")] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Describe:
    page: PagePath
    description: Description


WriteCall: TypeAlias = PlaceBlocks | Replace | InsertText | Remove | CreatePage | RewritePage | NothingNew | Describe
"""A call that decides something. A decision is a sequence of calls."""


class Seen:
    """The pages that a decision may refer to. `pages` are those that it was shown or has named, as they were then."""

    def __init__(self, brief: WriteBrief, draft: Draft) -> None:
        self.pages = {view.page.path: view.page for view in brief.views}
        self._blocks = {view.page.path: view.blocks for view in brief.views}
        self._brief = brief
        self._draft = draft

    def show(self, pages: Iterable[Page]) -> None:
        """Notes that these pages have been shown whole."""
        for page in pages:
            self.pages[page.path] = page
            self._blocks[page.path] = None

    def known(self, path: str) -> Page:
        """A page of the tree, whether it was shown or not. Raises `ToolProblem` if there is none."""
        if path in self.pages:
            return self.pages[path]
        try:
            page = known_page(self._draft, path)
        except ToolProblem as problem:
            raise ToolProblem(f"there is no page {path[:80]!r}; name one that is there, or make it first") from problem
        return self.pages.setdefault(page.path, page)

    def shown(self, path: str) -> Page:
        """A page of which something was shown. Raises `ToolProblem`."""
        if path not in self._blocks and not any(hit.path == path for hit in self._brief.passages):
            raise ToolProblem(_not_shown(path))
        return self.known(path)

    def behind(self, path: str, after: int, advice: str = "") -> Page:
        """A page on which a text may be placed behind this block. Raises `ToolProblem`, with this advice."""
        if path not in self._blocks and not self._in_passage(path, after, whole=False):
            raise ToolProblem(f"{_not_shown(path)}{advice}")
        return self.known(path)

    def blocks(self, path: str, given: Numbers) -> tuple[Page, list[int]]:
        """A page and the numbers of blocks of it that were shown. Raises `ToolProblem` for others."""
        page = self.shown(path)
        numbers = numbers_on(page, given)
        self.check(page, numbers)
        return page, numbers

    def check(self, page: Page, numbers: Collection[int]) -> None:
        """Raises `ToolProblem` unless these blocks were shown whole: on the page, or as a passage."""
        blocks = self._blocks.get(page.path, frozenset())
        for number in numbers:
            if blocks is not None and number not in blocks and not self._in_passage(page.path, number, whole=True):
                if page.path not in self._blocks:
                    raise ToolProblem(_not_shown(page.path))
                raise ToolProblem(f"block {number} of {page.path} was not shown; read_pages shows the whole page")

    def _in_passage(self, path: str, number: int, *, whole: bool) -> bool:
        """Whether a block was shown as a passage; a long one is only shown in part."""
        hit = next((hit for hit in self._brief.passages if (hit.path, hit.block) == (path, number) and number), None)
        page = self._draft.find(path) if hit else None
        if hit is None or page is None or number > len(page.blocks):
            return False
        block, text = readable(page.blocks[number - 1].text), hit.text.strip()
        return text == block.strip() if whole else text in block


def numbers_on(page: Page, given: Numbers) -> list[int]:
    """The numbers of blocks of a page that a model names. Raises `ToolProblem`."""
    if not page.blocks:
        raise ToolProblem(f"{page.path} has no blocks")
    return parse_numbers(given, len(page.blocks))


def _not_shown(path: str) -> str:
    return f"the page {path[:80]!r} has not been shown; read it first"


@dataclass
class PageChanges:
    """The changes of one page: blocks inserted and removed by number, or a new body."""

    inserted: dict[int, list[Run]] = field(default_factory=dict)
    removed: dict[int, str] = field(default_factory=dict)
    rewritten: tuple[Block, ...] | None = None

    def body(self, page: Page) -> Page:
        """The page with these changes."""
        edited = PageEdit(self.inserted, self.removed.keys())
        return edited.apply(page) if self.rewritten is None else page.with_body([self.rewritten])

    @property
    def written(self) -> str:
        """What the changes put on the page."""
        inserted = (block for runs in self.inserted.values() for run in runs for block in run)
        return "\n".join(block.content for block in (*(self.rewritten or ()), *inserted))


@dataclass(frozen=True)
class CreatedPage:
    """A new page made of blocks of the new text."""

    path: str
    parent: str
    title: str
    description: str
    runs: list[tuple[Block, ...]]


@dataclass(frozen=True)
class Described:
    """A page described anew. `before` is how it was described on each page that lists it, by path."""

    before: Mapping[str, str]
    description: str


def words_above(page: Page, number: int) -> str:
    """What is above a block: the page's path and title, the headings of its section, and, if the page has sections,
    the line below the title, which says what the page is about."""
    headings: list[Block] = []
    top = max(page.top, 1)
    opening = page.blocks[top : top + 1] if any(b.kind == "heading" for b in page.blocks[top + 1 : number]) else ()
    for block in page.blocks[:number]:
        if block.kind == "heading":
            headings = [*(above for above in headings if above.level < block.level), block]
    return "\n".join([page.path.replace("-", " "), page.title, *(block.words for block in (*opening, *headings))])


def added_to(page: Page, body: Sequence[Block], dropped: Collection[int]) -> list[str]:
    """The contents of a new body that are no blocks of the page. Raises `ToolProblem` unless the body has each block of
    the page to the letter, but those that are dropped."""
    added = [block.content for block in body]
    for number, block in enumerate(page.blocks, 1):
        if number not in dropped and block.content not in added:
            raise ToolProblem(
                f"block {number} of {page.path} is not in the text as it was; "
                "keep it to the letter, or name it under dropped with a reason"
            )
        if number not in dropped:
            added.remove(block.content)
    return added


def found_among(blocks: Sequence[Block], contents: Sequence[str]) -> tuple[list[int], list[str]]:
    """The numbers of the blocks that have these contents, each once; and the contents that none has."""
    free: dict[str, list[int]] = {}
    for number, block in enumerate(blocks, 1):
        free.setdefault(block.content, []).append(number)
    numbers, rest = [], []
    for content in contents:
        if same := free.get(content):
            numbers.append(same.pop(0))
        else:
            rest.append(content)
    return numbers, rest


@dataclass(frozen=True)
class SaidAlready:
    """New blocks, by number, that these blocks of the tree say already: word for word, or else `retold`."""

    numbers: Sequence[int]
    by: Sequence[tuple[Page, int]]
    is_retold: bool


class Account:
    """The sentences about one decision on these new blocks."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        self._blocks = blocks
        self._ends = list(accumulate(len(split_lines(block.text)) for block in blocks))

    def said(self, said: SaidAlready) -> str:
        """Names the new blocks and the blocks that say the same, to the letter if it takes reading to see it."""
        parts = []
        for path, group in groupby(said.by, lambda named: named[0].path):
            named = list(group)
            numbers = [number for _, number in named]
            words = f", {_quoted(page.blocks[n - 1] for page, n in named)}" if said.is_retold else ""
            parts.append(f"{_blocks_of(path, numbers)}{words}")
        return f"said already: {self._new(said.numbers)}, by {' and '.join(parts)}"

    def retold(self, numbers: Sequence[int]) -> str:
        """Names the new blocks of which only the words of the model are in the tree."""
        return f"in other words, with all names, numbers and dates: {self._new(numbers)}"

    def left_out(self, numbers: Sequence[int]) -> str:
        """Names the headings that are not in the tree."""
        headings = (self._blocks[number - 1] for number in numbers)
        return f"left out: {self._new(numbers)}, {_quoted(headings)}, because the parts went to different pages"

    def _new(self, numbers: Sequence[int]) -> str:
        """The new blocks by number, and by their lines in the text as it was given."""
        lines = [line for number in numbers for line in self._lines(number)]
        return f"{show_numbers(numbers, 'n')} ({'line' if len(lines) == 1 else 'lines'} {show_numbers(lines)})"

    def _lines(self, number: int) -> range:
        """The lines of a new block, from the first that is not blank to the last."""
        text = self._blocks[number - 1].text
        filled, before = filled_lines(text), self._ends[number - 1] - len(split_lines(text))
        return range(before + filled.start + 1, before + filled.stop + 1)


def taken_out(page: Page, removed: Mapping[int, str]) -> list[str]:
    """Names each block that was taken out of a page, to the letter, with the reason."""
    return [
        f"{_blocks_of(page.path, [number])} was taken out, {_quoted([page.blocks[number - 1]])}, because: {reason}"
        for number, reason in removed.items()
    ]


def redescribed(path: str, lines: Mapping[str, str], description: str) -> str:
    """Names the page that is described anew, with the old descriptions (by the page that lists it) and the new one."""
    before = " and ".join(f"{json.dumps(line, ensure_ascii=False)} on {on}" for on, line in lines.items())
    return f"{path} is described as {json.dumps(description, ensure_ascii=False)}, before as {before}"


def _blocks_of(path: str, numbers: Sequence[int]) -> str:
    return f"{'block' if len(numbers) == 1 else 'blocks'} {show_numbers(numbers)} of {path}"


def _quoted(blocks: Iterable[Block]) -> str:
    """The words of these blocks on one line, as a JSON string: nothing in them can end the quotation."""
    return json.dumps(" ".join(" ".join(block.content.split()) for block in blocks), ensure_ascii=False)
