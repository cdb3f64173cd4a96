"""The plan of an import: what becomes of each document. It can be read, edited, and carried out later."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal, TypeAlias

from memory_v2.files.left_out import LeftOut

Strategy: TypeAlias = Literal["keep", "flatten"]
Action: TypeAlias = Literal["create", "merge", "append", "follow", "skip"]
"""What is done with a document. `create` makes a page of it; `merge` lets the model work it into the tree; `append`
puts it at the end of the root, to be divided as the root grows; `follow` brings a page to the document's new state;
`skip` leaves it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One document's row: its name, what is done and why, the page, the size in bytes, the day, and the digest of its
    text (`ledger.digest_of`)."""

    name: str
    action: Action
    page: str
    reason: str = ""
    size: int = 0
    day: date | None = None
    digest: str = ""


@dataclass(frozen=True)
class Plan:
    """All steps, in the order in which they are carried out, and what is left out. `gone` are documents of earlier runs
    that are in the source no more. `requests` is how many requests a
    model will get at least, and `cost` what they cost in dollars; `None` if nobody knows."""

    source: Path
    format: str
    strategy: Strategy
    steps: tuple[Step, ...]
    left_out: tuple[LeftOut, ...] = ()
    gone: tuple[LeftOut, ...] = ()
    requests: int = 0
    cost: float | None = 0.0
