"""Consolidating offline: each observation goes to the page that it names, or to that of its domain; what the tree says
word for word already is named. And sorting: what the rules leave, the planner leaves too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import ConsolidateBrief, GradeBrief, Observed, RouteBrief
from memory_v2.models.offline.filing import came_back, known_blocks, nothing_new, place
from memory_v2.models.offline.page_features import Catalogue, Look
from memory_v2.models.offline.subjects import Subject
from memory_v2.text.words import normal
from memory_v2.tree.numbers import parse_numbers, show_numbers
from memory_v2.tree.path import ROOT


def file_observations(brief: ConsolidateBrief, accepted: Sequence[ToolCall] | None = None) -> tuple[ToolCall, ...]:
    """The calls that file the observations. If only some calls were `accepted`, what is left goes to the page that the
    observations are sorted to, or to the root."""
    if accepted is None:
        return tuple(_filed(brief))
    done = {number for call in accepted for number in parse_numbers(call.arguments["blocks"], len(brief.blocks), "n")}
    left = [number for number in range(1, len(brief.blocks) + 1) if number not in done]
    return (place(brief.path or brief.home or ROOT, left, None),)


def leave_all(brief: RouteBrief) -> tuple[ToolCall, ...]:
    """The call that leaves everything unsorted."""
    numbers = show_numbers(range(1, len(brief.texts) + 1), "e")
    return (ToolCall("leave", {"notes": numbers, "why": "no rule says where they belong"}),)


def grade_as_guessed(brief: GradeBrief) -> tuple[ToolCall, ...]:
    """The calls that say of each line what its words hint at."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(brief.lines, 1):
        for category in line.guesses:
            found.setdefault(category, []).append(number)
    return tuple(
        ToolCall("grade", {"lines": show_numbers(numbers, "i"), "category": category})
        for category, numbers in found.items()
    )


def _filed(brief: ConsolidateBrief) -> Iterator[ToolCall]:
    known = known_blocks(brief)
    looks = {view.page.path: Look(view.page) for view in brief.pages if view.page.piece is None}
    catalogue = Catalogue(brief.tree)
    first: dict[tuple[date | None, tuple[str, ...]], Sequence[int]] = {}
    on: dict[str, list[int]] = {}
    for one in brief.observed:
        numbers = one.numbers
        if all(number in known for number in numbers) and not came_back(brief, numbers, one.source.day):
            yield from (nothing_new([number], *known[number]) for number in numbers)
            continue
        said = one.source.day, tuple(normal(brief.blocks[number - 1].content) for number in numbers)
        if (other := first.setdefault(said, numbers)) is not numbers:
            for number, same in zip(numbers, other, strict=True):
                yield ToolCall("same_as", {"blocks": f"n{number}", "said_in": f"n{same}"})
            continue
        on.setdefault(_page_for(brief, one, looks, catalogue), []).extend(numbers)
    yield from (place(path, placed, None) for path, placed in on.items())


def _page_for(brief: ConsolidateBrief, one: Observed, looks: dict[str, Look], catalogue: Catalogue) -> str:
    if brief.path is not None:
        return brief.path
    blocks = [brief.blocks[number - 1] for number in one.numbers]
    return Subject(brief, looks, blocks, catalogue).page(by_name=bool(brief.home)) or brief.home or ROOT
