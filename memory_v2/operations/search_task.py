"""The decision behind a search: which places answer the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from memory_v2.agent.arguments import Argument, ToldAs
from memory_v2.agent.task import NumberList, Task, TaskTool
from memory_v2.errors import ToolProblem
from memory_v2.index.base import EntrySearch, Hit
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import PageView, SearchBrief
from memory_v2.operations.draft import Draft, known_page
from memory_v2.tree.edit import parse_numbers
from memory_v2.tree.page import Page

LOOKED_UP = 8
"""How many places a model is shown for the words that it looks up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPages:
    paths: Annotated[list[str], Argument("paths of pages, as shown", min_length=1, max_length=5)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookUp:
    words: Annotated[str, Argument("a few words", min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    place: Annotated[str | int | None, ToldAs("string"), Argument("a place that was shown, such as p3")] = None
    page: Annotated[str | None, Argument("or else a page that is open, with its blocks")] = None
    blocks: Annotated[NumberList | None, Argument("such as 4, 6-8")] = None
    score: Annotated[float, Argument("how well it answers, from 0 to 1", ge=0, le=1)]
    context: Annotated[str, Argument("in a few words, what it says to the question", max_length=300)] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerQuestion:
    results: Annotated[list[Found], Argument("best first", min_length=1, max_length=100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    reason: Annotated[str, Argument(min_length=3, max_length=400)]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One chosen answer: the index of a proposed place (from 0), or blocks of a page."""

    score: float
    context: str
    place: int | None = None
    page: Page | None = None
    blocks: tuple[int, ...] = ()


class SearchTask(Task):
    """Collects what a model finds."""

    kind = "search"
    brief: SearchBrief

    def __init__(self, brief: SearchBrief, draft: Draft, entries: EntrySearch | None = None) -> None:
        self.brief = brief
        self.draft = draft
        self.entries = entries
        self.opened: dict[str, Page] = {}
        self.in_part: dict[str, PageView] = {}
        if brief.root:
            self._open(brief.root)
        self.places: list[Hit] = list(brief.places)
        self.chosen: list[Chosen] = []
        self.no_answer_because = ""

    @cached_property
    def tools(self) -> Sequence[TaskTool[Any]]:
        return (
            TaskTool("open_pages", OpenPages, self.open_pages, decides=False),
            TaskTool("look_up", LookUp, self.look_up, decides=False),
            TaskTool("answer", AnswerQuestion, self.answer),
            TaskTool("no_answer", NoAnswer, self.no_answer),
        )

    def open_pages(self, call: OpenPages) -> Prompt:
        graph = self.draft.graph()
        views, again, missing = [], [], []
        for asked in dict.fromkeys(call.paths):
            try:
                page = known_page(self.draft, asked)
            except ToolProblem as problem:
                missing.append((asked, problem))
                continue
            if page.path in self.opened:
                again.append(page.path)
                continue
            views.append(PageView(page, graph.breadcrumb(page.path)))
            self._open(views[-1])
        if again and not views:
            raise ToolProblem(f"you have read {', '.join(again)} already; answer, or open other pages")
        if not views:
            raise missing[0][1]
        return Prompt("pages", {"views": views, "missing": [asked[:80] for asked, _ in missing]})

    def look_up(self, call: LookUp) -> Prompt:
        known = {(hit.path, hit.block) for hit in self.places}
        found = self.draft.context.index.recall(call.words, LOOKED_UP + len(known), entries=self.entries)
        hits = [hit for hit in found if (hit.path, hit.block) not in known and hit.path not in self.opened][:LOOKED_UP]
        there = [hit for hit in found[:LOOKED_UP] if hit.block and hit.path in self.opened]
        first = len(self.places) + 1
        self.places += hits
        return Prompt("places", {"hits": hits, "open": there, "first": first, "block_count": self.brief.block_count})

    def answer(self, call: AnswerQuestion) -> Prompt:
        self.chosen = [self._chosen(found) for found in call.results]
        self.no_answer_because = ""
        return Prompt("done", {"what": "these places are taken as the answer"})

    def no_answer(self, call: NoAnswer) -> Prompt:
        self.no_answer_because, self.chosen = call.reason, []
        return Prompt("done", {"what": "the memory holds no answer"})

    def objections(self) -> list[str]:
        """None: each answer was checked when it was given."""
        return []

    def checked(self) -> list[str]:
        """That the answers are on pages, or why there is none."""
        if self.no_answer_because:
            return [f"no answer, because: {self.no_answer_because}"]
        return [f"places that exist: {len(self.chosen)}; each is quoted to the letter"]

    def _open(self, view: PageView) -> None:
        """Notes what is shown of a page. One that is shown in part can be opened still."""
        self.in_part.pop(view.page.path, None)
        if view.is_part:
            self.in_part[view.page.path] = view
        else:
            self.opened[view.page.path] = view.page

    def _chosen(self, found: Found) -> Chosen:
        if found.place is not None:
            number = parse_numbers(found.place, len(self.places), "p")[0]
            return Chosen(found.score, found.context, place=number - 1)
        if found.page is None or found.blocks is None:
            raise ToolProblem("each result names a place, or a page with its blocks")
        part = self.in_part.get(found.page)
        if (page := part.page if part else self.opened.get(found.page)) is None:
            raise ToolProblem(f"the page {found.page[:80]!r} has not been opened; open it first, or name a place")
        numbers = parse_numbers(found.blocks, len(page.blocks))
        if unseen := [n for n in numbers if part and part.blocks is not None and n not in part.blocks]:
            raise ToolProblem(f"block {unseen[0]} of {page.path} was not shown; open_pages shows the whole page")
        return Chosen(found.score, found.context, page=page, blocks=tuple(numbers))
