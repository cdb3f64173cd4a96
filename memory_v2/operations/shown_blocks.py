"""What a model has seen of the tree: it may only take out, replace or cite what it was shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memory_v2.errors import ToolProblem
from memory_v2.models.briefs import WriteBrief
from memory_v2.operations.draft import Draft, known_page
from memory_v2.tree.block import readable
from memory_v2.tree.numbers import Numbers, parse_numbers
from memory_v2.tree.page import Page


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

    def check_whole(self, page: Page) -> None:
        """Raises `ToolProblem` unless every block of a page was shown."""
        self.check(page, range(1, len(page.blocks) + 1))

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
