"""The arguments of the tools, as an agent is told about them. `null` is the same as leaving one out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from memory_v2.agent.tools import Argument

MOST_RESULTS = 50
"""Limits what one call of search_memory or memory_history lists: more than a model needs, and less than a page."""

LEAST_TOKENS = 100
MOST_TOKENS = 10_000
"""Limit for how many tokens of answers one call of search_memory asks: a few lines, and half of what is ever shown."""

Page = Annotated[str, Argument("the path of the page, such as projects/silica, without .md")]


@dataclass(frozen=True, slots=True)
class Read:
    """What to read."""

    path: Annotated[
        str | None, Argument("the path of the page, such as projects/silica, without .md; default: the root page")
    ] = None
    from_line: Annotated[
        int | None, Argument("the line to begin with, from 1, to read on in a long page; default: 1", ge=1)
    ] = None


@dataclass(frozen=True, slots=True)
class Write:
    """What to write, and where."""

    content: Annotated[str, Argument("the text to remember, in Markdown")]
    path: Annotated[
        str | None,
        Argument("the page to write to, such as projects/silica, created if missing; default: where the text belongs"),
    ] = None
    mode: Annotated[
        Literal["update", "append", "replace"] | None,
        Argument(
            "update (default) works the text into the page; append adds it at the end, word for word; "
            "replace replaces the page's text"
        ),
    ] = None
    source: Annotated[
        str | None,
        Argument(
            "where the text comes from, at most 200 characters: a file, a URL, a session, a person; "
            "default: not recorded"
        ),
    ] = None
    date: Annotated[
        str | None,
        Argument("the day on which it was said, such as 2026-02-03, if that was not today; default: today"),
    ] = None


@dataclass(frozen=True, slots=True)
class Capture:
    """What was observed."""

    content: Annotated[str, Argument("what was observed, in Markdown: a sentence or two that can be understood alone")]
    tags: Annotated[list[str] | None, Argument("words to find it by, such as ctr; default: none")] = None
    confidence: Annotated[
        float | None, Argument("how sure it is, 0 to 1: .4 a hunch, .9 confirmed; default: not told", ge=0, le=1)
    ] = None
    importance: Annotated[float | None, Argument("how much it matters, 0 to 1; default: not told", ge=0, le=1)] = None
    decay: Annotated[
        str | None,
        Argument("how its weight falls with its age, such as linear-30d, exponential-30d or ttl-30d; default: never"),
    ] = None
    source: Annotated[str | None, Argument("who says so: a person, a program; default: not recorded")] = None
    date: Annotated[str | None, Argument("the day on which it was observed, such as 2026-02-03; default: today")] = None
    agent: Annotated[
        str | None, Argument("the name of the agent whose entry it is; default: the one that the settings name")
    ] = None


@dataclass(frozen=True, slots=True)
class Replace:
    """What to replace, and by what."""

    path: Page
    old: Annotated[str, Argument("the words to replace, exactly as the page has them; they occur there once")]
    new: Annotated[str, Argument("what stands there instead; empty to take the words out")]
    source: Annotated[
        str | None, Argument("where the new words come from: a file, a URL, a session, a person; default: not recorded")
    ] = None
    date: Annotated[
        str | None,
        Argument("the day on which they were said, such as 2026-02-03, if that was not today; default: today"),
    ] = None


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for."""

    query: Annotated[str, Argument("the question, or the words to look for")]
    max_results: Annotated[
        int | None, Argument(f"how many answers at most, 1 to {MOST_RESULTS}; default: 10", ge=1, le=MOST_RESULTS)
    ] = None
    max_tokens: Annotated[
        int | None,
        Argument(
            f"return as many answers as fit into this many tokens instead, {LEAST_TOKENS} to {MOST_TOKENS:,}",
            ge=LEAST_TOKENS,
            le=MOST_TOKENS,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ListFiles:
    """Which pages to list."""

    folder: Annotated[
        str | None, Argument("list only the pages below this path, such as projects; default: all pages")
    ] = None
    after: Annotated[
        str | None, Argument("continue behind this path, as the last line of a list that was cut says")
    ] = None


@dataclass(frozen=True, slots=True)
class Split:
    """What to divide."""

    path: Annotated[
        str | None, Argument("the path of the page, such as projects/silica, without .md; default: the root page")
    ] = None


@dataclass(frozen=True, slots=True)
class Graph:
    """Which links to show."""

    path: Annotated[
        str | None, Argument("show only links from and to this page, such as projects/silica; default: all links")
    ] = None


@dataclass(frozen=True, slots=True)
class Delete:
    """What to delete."""

    path: Page


@dataclass(frozen=True, slots=True)
class History:
    """Which changes to list."""

    path: Annotated[
        str | None, Argument("list only changes of this page, such as projects/silica; default: all changes")
    ] = None
    max_results: Annotated[
        int | None, Argument(f"how many changes at most, 1 to {MOST_RESULTS}; default: 10", ge=1, le=MOST_RESULTS)
    ] = None


@dataclass(frozen=True, slots=True)
class Undo:
    """What to undo."""

    revision: Annotated[
        str | None, Argument("the id of the change, or its first characters, at least 4; default: the newest change")
    ] = None
