"""The tools with which a model decides about new text: the arguments of each, as the model sees them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from memory_v2.agent.arguments import Argument
from memory_v2.agent.task import Description, NumberList

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
