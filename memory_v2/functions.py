"""Plain functions over the memory that the environment names, for agents whose tools are functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from memory_v2.memory import Memory
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from memory_v2.operations.results import PageInfo, SearchResults, SplitResult, WriteResult


def read_memory(path: str | None = None) -> str:
    """Returns a page; without `path`, the root. Raises `PageNotFound`."""
    with Memory.open() as memory:
        return memory.read(ROOT if path is None else path)


def write_memory(
    content: str,
    path: str | None = None,
    mode: Literal["update", "append", "replace"] = "update",
    source: str | None = None,
    date: date | str | None = None,
) -> WriteResult:
    """Writes a text: on the page `path`, or where it belongs. `source` says where it came from, and `date` the day it
    was said."""
    with Memory.open() as memory:
        return memory.write(content, path, mode, source=source, date=date)


def search_memory(
    query: str,
    max_results: int = 10,
    max_tokens: int | None = None,
    *,
    under: str | None = None,
    since: date | str | None = None,
    until: date | str | None = None,
    source: str | None = None,
    near: str | None = None,
    steps: int = 1,
    regex: bool = False,
    only: Literal["pages", "entries"] | None = None,
    agent: str | None = None,
    domain: str | None = None,
    tags: Iterable[str] = (),
    min_confidence: float | None = None,
    cross: bool = False,
    archived: bool = False,
) -> SearchResults:
    """Returns the best answers of pages and entries to a question, each verbatim with its page and lines, or its entry.
    `memory.search` says what the other arguments are."""
    given = locals()
    with Memory.open() as memory:
        return memory.search(**given)


def split_memory(path: str | None = None) -> SplitResult:
    """Divides a page into a page and its children; without `path`, the root."""
    with Memory.open() as memory:
        return memory.split(ROOT if path is None else path)


def list_memory_files() -> list[PageInfo]:
    """Lists all pages."""
    with Memory.open() as memory:
        return memory.list_files()


def get_memory_graph() -> dict[str, Any]:
    """Returns the pages and their links: `{"nodes": [{"id", "size", "label"}], "edges": [{"from", "to", "label"}]}`."""
    with Memory.open() as memory:
        return memory.graph().to_dict()
