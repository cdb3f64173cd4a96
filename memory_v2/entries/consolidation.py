"""What consolidating plans and tells: which entry goes to which pages and how, and the pages before and after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from memory_v2.operations.results import Finding
from memory_v2.storage.history import Change, PageChange

Outcome = Literal["to the letter", "in other words", "said already"]


@dataclass(frozen=True, slots=True)
class WorkedIn:
    """An entry that is worked into pages: `version` is that of its file when this was planned."""

    id: str
    home: str
    outcome: Outcome
    pages: tuple[str, ...]
    version: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it."""
        return {"id": self.id, "home": self.home, "outcome": self.outcome, "pages": self.pages}


@dataclass(frozen=True, slots=True)
class Filed:
    """One decision about the entries of a home: who made it, why not the configured model, and what became of them."""

    home: str
    decided_by: str
    degraded: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """The entries that are worked into pages; the decisions; the changes of pages; how many entries wait in the inbox;
    and what a person should look at."""

    entries: tuple[WorkedIn, ...] = ()
    filed: tuple[Filed, ...] = ()
    changes: tuple[PageChange, ...] = ()
    inbox: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def decided_by(self) -> str:
        """The models that decided, in order."""
        return ", ".join(dict.fromkeys(one.decided_by for one in self.filed)) or "program"

    @property
    def degraded(self) -> str:
        """Why it was not the configured model; empty if it was."""
        return "; ".join(dict.fromkeys(one.degraded for one in self.filed if one.degraded))

    @property
    def why(self) -> tuple[str, ...]:
        """The decisions in sentences, for the history."""
        return tuple(f"{one.home}: {why}" for one in self.filed for why in one.why)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the changed pages and a diff instead of the pages."""
        return {
            "entries": self.entries,
            "decisions": self.filed,
            **Change(self.changes).to_dict(),
            "inbox": self.inbox,
            "findings": self.findings,
        }
