"""The decision behind a search: which of the places that were looked at answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

from memory_v2.agent.tools import Arguments, Tool
from memory_v2.errors import ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import PageView, SearchBrief
from memory_v2.operations.workspace import Workspace, known_page
from memory_v2.tree.numbers import Numbers, parse_numbers
from memory_v2.tree.page import Page


class ReadPages(Arguments):
    paths: Annotated[list[str], Field(min_length=1, max_length=5, description="paths of pages, as shown")]


class Found(Arguments):
    place: Annotated[str | int | None, Field(description="a place that was proposed, such as p3")] = None
    page: Annotated[str | None, Field(description="or a page that you have read, with its blocks")] = None
    blocks: Numbers | None = None
    score: Annotated[float, Field(ge=0, le=1, description="how well it answers, from 0 to 1")]
    context: Annotated[str, Field(max_length=300, description="in a few words, what it says to the question")] = ""


class Answer(Arguments):
    results: Annotated[list[Found], Field(min_length=1, max_length=100, description="best first")]


class NoAnswer(Arguments):
    reason: Annotated[str, Field(min_length=3, max_length=400)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One answer as it was decided: a proposed place (from 0), or blocks of a page."""

    score: float
    context: str
    place: int | None = None
    page: Page | None = None
    blocks: tuple[int, ...] = ()


class SearchTask:
    """Gathers what a model finds."""

    patience = 1

    def __init__(self, brief: SearchBrief, work: Workspace) -> None:
        self.brief = brief
        self.work = work
        self.opened: dict[str, Page] = {brief.root.page.path: brief.root.page} if brief.root else {}
        self.chosen: list[Chosen] = []
        self.no_answer_because = ""

    @property
    def system(self) -> Prompt:
        return Prompt("search/system")

    @cached_property
    def opening(self) -> Prompt:
        return Prompt("search/task", {"brief": self.brief})

    @cached_property
    def tools(self) -> Sequence[Tool[Any]]:
        return (
            Tool("open_pages", ReadPages, self.open_pages, decides=False),
            Tool("answer", Answer, self.answer),
            Tool("no_answer", NoAnswer, self.no_answer),
        )

    def open_pages(self, call: ReadPages) -> Prompt:
        graph = self.work.graph()
        views, again = [], []
        for page in [known_page(self.work, asked) for asked in dict.fromkeys(call.paths)]:
            if page.path in self.opened:
                again.append(page.path)
                continue
            self.opened[page.path] = page
            views.append(PageView(page, graph.breadcrumb(page.path)))
        if not views:
            raise ToolProblem(f"you have read {', '.join(again)} already; answer, or open other pages")
        return Prompt("pages", {"views": views})

    def answer(self, call: Answer) -> Prompt:
        self.chosen = [self._chosen(found) for found in call.results]
        self.no_answer_because = ""
        return Prompt("done", {"what": f"{len(self.chosen)} places are taken as the answer"})

    def no_answer(self, call: NoAnswer) -> Prompt:
        self.no_answer_because, self.chosen = call.reason, []
        return Prompt("done", {"what": "the memory holds no answer"})

    def objections(self) -> list[str]:
        """Whatever could be staged is grounded."""
        return []

    def _chosen(self, found: Found) -> Chosen:
        if found.place is not None:
            number = parse_numbers(found.place, len(self.brief.places), "p")[0]
            return Chosen(found.score, found.context, place=number - 1)
        if found.page is None or found.blocks is None:
            raise ToolProblem("each result names a place, or a page with its blocks")
        if (page := self.opened.get(found.page)) is None:
            raise ToolProblem(f"the page {found.page[:80]!r} has not been opened; open it first, or name a place")
        numbers = parse_numbers(found.blocks, len(page.blocks))
        return Chosen(found.score, found.context, page=page, blocks=tuple(numbers))
