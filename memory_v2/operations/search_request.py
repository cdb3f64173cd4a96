"""What a search is asked, as it goes from the memory through the entries to the tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Literal


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The arguments of a search, as they were given; `Memory.search` says what they mean. Whoever reads one checks
    it."""

    query: str
    max_results: int = 10
    max_tokens: int | None = None
    under: str | None = None
    since: date | str | None = None
    until: date | str | None = None
    source: str | None = None
    near: str | None = None
    steps: int = 1
    regex: bool = False
    only: Literal["pages", "entries"] | None = None
    agent: str | None = None
    domain: str | None = None
    tags: Iterable[str] = ()
    min_confidence: float | None = None
    cross: bool = False
    archived: bool = False
