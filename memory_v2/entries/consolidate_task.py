"""The decision behind consolidating: a write of many observations at once, each with a day and an origin of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from memory_v2.agent.tools import Argument, NumberList, Tool
from memory_v2.entries.consolidation import Outcome
from memory_v2.errors import ToolProblem
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import ConsolidateBrief, Observed
from memory_v2.operations.account import redescribed, taken_out
from memory_v2.operations.draft import Draft
from memory_v2.operations.guard import denied_by, missing_from
from memory_v2.operations.write_calls import NewBlocks, Replace
from memory_v2.operations.write_task import WriteTask
from memory_v2.text.words import content_words, normal, words
from memory_v2.tree.block import Block
from memory_v2.tree.numbers import parse_numbers, show_numbers
from memory_v2.tree.page import Page
from memory_v2.tree.source import NO_TEXT, Source

SEPARATOR = ", "
"""Stands between the names of several entries in one source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAs:
    """The arguments of the tool, as the model sees them."""

    blocks: NewBlocks
    said_in: Annotated[NumberList, Argument("the new blocks that say the same, such as n1")]


class ConsolidateTask(WriteTask):
    """Collects what a model decides about observations. Beside what a write may do, it may name one that only repeats
    another new one."""

    kind = "consolidate"
    brief: ConsolidateBrief

    def __init__(self, brief: ConsolidateBrief, draft: Draft) -> None:
        super().__init__(brief, draft)
        self.same: dict[int, list[int]] = {}

    @property
    def system(self) -> Prompt:
        return Prompt("consolidate/system")

    @cached_property
    def first_message(self) -> Prompt:
        return Prompt("consolidate/task", {"brief": self.brief})

    @cached_property
    def tools(self) -> Sequence[Tool[Any]]:
        return (*super().tools, Tool("same_as", SameAs, self._same_as))

    def _same_as(self, call: SameAs) -> Prompt:
        numbers = self._new(call.blocks)
        by = parse_numbers(call.said_in, len(self.brief.blocks), "n")
        if repeated := next((n for n in by if n in self.same or n in numbers), None):
            raise ToolProblem(f"n{repeated} is left out itself; name a block that stands in the tree in the end")
        text = "\n".join(self.brief.blocks[n - 1].text for n in by)
        for number in numbers:
            if any(number in others for others in self.same.values()):
                raise ToolProblem(f"n{number} says what others repeat, so it has to be placed")
            block = self.brief.blocks[number - 1]
            if missing := missing_from(block, text) or denied_by(block, text):
                raise ToolProblem(f"n{number} says what those blocks do not ({', '.join(missing[:5])}); place it")
        self.same |= dict.fromkeys(numbers, by)
        self.placed |= dict.fromkeys(numbers, "")
        return Prompt("done", {"what": f"{show_numbers(numbers, 'n')} only repeat {show_numbers(by, 'n')}"})

    def _amend(self, before: Replace, call: Replace) -> Prompt:
        same = self.same
        done = super()._amend(before, call)
        self.same, self.placed = same, dict.fromkeys(same, "") | self.placed
        return done

    def _around(self) -> list[str]:
        return [*super()._around(), self.brief.title, self.brief.about]

    def checked(self) -> list[str]:
        """What became of the observations, by their names, and what was removed."""
        outcomes: dict[Outcome, list[str]] = {}
        for one in self.brief.observed:
            outcomes.setdefault(self.outcome(one), []).append(one.source.name)
        return [
            *(f"{outcome}: {', '.join(names)}" for outcome, names in outcomes.items()),
            *(why for path, each in self.changes.items() for why in taken_out(self.seen.pages[path], each.removed)),
            *(redescribed(path, each.before, each.description) for path, each in self.described.items()),
            "nothing else was changed",
        ]

    # what became of each observation

    def outcome(self, one: Observed) -> Outcome:
        """How an observation stands in the tree: the least exact of its blocks counts."""
        if any(number not in self.placed and number not in self.left_out for number in one.numbers):
            return "in other words"
        texts = [number for number in one.numbers if self._is_text(number)] or list(one.numbers)
        return "to the letter" if any(self.placed.get(number) for number in texts) else "said already"

    def said_by(self, one: Observed) -> list[tuple[Page, int]]:
        """The blocks of the tree that say an observation already."""
        return [named for said in self.said if set(said.numbers).intersection(one.numbers) for named in said.by]

    def repeated_by(self, one: Observed) -> list[Observed]:
        """The other observations that one only repeats."""
        by = {n for number in one.numbers for n in self.same.get(number, ())}
        return [other for other in self.brief.observed if by.intersection(other.numbers)]

    def source_of(self) -> Callable[[Block], Source]:
        """Tells the source of each block that is new on a page: the observations whose words or facts it has."""
        placed = [(self._normals[number - 1], [number]) for number, path in self.placed.items() if path]
        own = [(text, list[int]()) for _, text in self.own_blocks]
        for number in self._told() if own else ():
            _, numbers = max(own, key=lambda one, number=number: self._shared(number, one[0]))  # type: ignore[misc]
            numbers.append(number)
        for number, by in self.same.items():
            for _, numbers in (*placed, *own):
                if by[0] in numbers:
                    numbers.append(number)
        return _Sources([*placed, *own], self._origins).of

    def _told(self) -> Iterator[int]:
        """The new blocks that are told in the model's own words."""
        for number in range(1, len(self.brief.blocks) + 1):
            if number not in self.placed and number not in self.left_out and self._is_text(number):
                yield number

    def _shared(self, number: int, own: str) -> int:
        block = self._normals[number - 1]
        return len({*content_words(block), *words(block)} & {*content_words(own), *words(own)})

    def _is_text(self, number: int) -> bool:
        return self.brief.blocks[number - 1].kind not in NO_TEXT

    @cached_property
    def _origins(self) -> Mapping[int, Source]:
        return {number: one.source for one in self.brief.observed for number in one.numbers}


class _Sources:
    """The sources of new blocks by their words, with the numbers of what each holds. Of several blocks with the same
    words, each has its own, in order."""

    def __init__(self, standing: Iterable[tuple[str, list[int]]], origins: Mapping[int, Source]) -> None:
        self._origins = origins
        self._standing: dict[str, list[list[int]]] = {}
        for text, numbers in standing:
            self._standing.setdefault(text, []).append(numbers)

    def of(self, block: Block) -> Source:
        """The source of a block; each block is asked about once."""
        found = self._standing.get(normal(block.content), [[]])
        numbers = found.pop(0) if len(found) > 1 else found[0]
        return _joined(self._origins[number] for number in sorted(numbers))


def _joined(sources: Iterable[Source]) -> Source:
    """One source that names all of these; its day is the newest."""
    told = list(dict.fromkeys(sources))
    days = [one.day for one in told if one.day]
    return Source(SEPARATOR.join(dict.fromkeys(one.name for one in told)), max(days, default=None))
