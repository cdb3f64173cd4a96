"""What a decision changes on one page, and where on it a text goes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memory_v2.tree.block import Block
from memory_v2.tree.edit import PageEdit, Run
from memory_v2.tree.page import Page


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
    """What stands above a block: the page's path and title, the headings of its section, and, if the page has sections,
    the line below the title, which says what the page is about."""
    headings: list[Block] = []
    top = max(page.top, 1)
    opening = page.blocks[top : top + 1] if any(b.kind == "heading" for b in page.blocks[top + 1 : number]) else ()
    for block in page.blocks[:number]:
        if block.kind == "heading":
            headings = [*(above for above in headings if above.level < block.level), block]
    return "\n".join([page.path.replace("-", " "), page.title, *(block.words for block in (*opening, *headings))])


def below_title(page: Page, after: int) -> int:
    """The block behind which to put a text: below front matter and title if it is to go to the top of the page."""
    return max(after, page.top)


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
