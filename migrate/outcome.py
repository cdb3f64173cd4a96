"""What became of each document of a run: what the run returns and the report tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["created", "merged", "appended", "followed", "unchanged", "skipped", "failed"]
"""`unchanged` is as an earlier run left it. `skipped` was left alone for a reason that a person may want to know: it
stands there already, it changed on both sides, its page was deleted. `failed` is tried again by the next run."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one document: the page that has it, the id of the operation that brought it, and the reason if it
    was skipped or has failed."""

    name: str
    status: Status
    page: str = ""
    reason: str = ""
    operation: str = ""
