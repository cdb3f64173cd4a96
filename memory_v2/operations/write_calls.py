"""The tools with which a model decides about new text: the arguments of each, as the model sees them."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from memory_v2.agent.tools import Arguments, Description, NumberList

NewBlocks = Annotated[NumberList, Field(description="blocks of the new text, such as n1, n3-n5")]
PageBlocks = Annotated[NumberList, Field(description="blocks of the page as it was shown, such as 4, 6-8")]
PagePath = Annotated[str, Field(description="the page's path, as shown")]
Reason = Annotated[str, Field(min_length=3, max_length=400, description="why, in one sentence")]
OwnWords = Annotated[str, Field(min_length=1, max_length=12_000, description="Markdown")]


class ReadPages(Arguments):
    paths: Annotated[list[str], Field(min_length=1, max_length=5, description="paths as shown in links and passages")]


class Place(Arguments):
    blocks: NewBlocks
    page: PagePath
    after: Annotated[int | None, Field(ge=0, description="block to place them behind; 0: top; left out: end")] = None


class Replace(Arguments):
    page: PagePath
    blocks: PageBlocks
    new_blocks: Annotated[NumberList | None, Field(description="blocks of the new text, to the letter")] = None
    text: Annotated[str | None, Field(min_length=1, max_length=12_000, description="or words of your own")] = None
    reason: Reason


class Insert(Arguments):
    page: PagePath
    after: Annotated[int, Field(ge=0, description="block to insert behind; 0: top")]
    text: OwnWords


class Remove(Arguments):
    page: PagePath
    blocks: PageBlocks
    reason: Reason


class CreatePage(Arguments):
    path: Annotated[str, Field(description="path of the new page, such as projects/webshop; folders need no page")]
    parent: Annotated[str, Field(description="path of the page that is to list it")]
    title: str
    description: Description
    blocks: NewBlocks


class Dropped(Arguments):
    blocks: PageBlocks
    reason: Reason


class RewritePage(Arguments):
    page: PagePath
    text: Annotated[str, Field(min_length=1, max_length=40_000, description="the whole body of the page, Markdown")]
    dropped: Annotated[
        list[Dropped], Field(default_factory=list, description="every block that is not in the text as it was")
    ]


class Said(Arguments):
    page: PagePath
    blocks: PageBlocks


class NothingNew(Arguments):
    blocks: NewBlocks
    said_in: Annotated[list[Said], Field(min_length=1, description="where it stands already")]


Call: TypeAlias = Place | Replace | Insert | Remove | CreatePage | RewritePage | NothingNew
"""A call that decides something. A decision is a sequence of calls."""
