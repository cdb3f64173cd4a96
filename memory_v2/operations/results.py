"""What the operations give back: typed values, never prose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any, Literal, Self

from memory_v2.agent.limits import Cost
from memory_v2.storage.history import Change


@dataclass(frozen=True)
class Result:
    """What every operation that changes the tree tells.

    `decided_by` is the model whose decision was carried out; `degraded` says why it was not the one that was asked
    (empty: it was). `trace` is the name of its record, empty if none is kept.
    """

    path: str
    revisions: tuple[Change, ...] = ()
    decided_by: str = "program"
    degraded: str = ""
    cost: Cost = field(default_factory=Cost)
    trace: str = ""

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The result with what the whole operation took, and the name of its record."""
        return replace(self, cost=cost, trace=trace)

    @property
    def success(self) -> bool:
        """Always true: what fails raises an error."""
        return True

    @property
    def revision(self) -> str:
        """The id of the last revision; empty if nothing changed."""
        return self.revisions[-1].revision.id[:12] if self.revisions else ""

    @property
    def changes(self) -> str:
        """All that was changed, as a unified diff."""
        return "".join(revision.diff for revision in self.revisions)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: with the revisions as the pages that they changed, and as a diff."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "revisions"}
        names = ("success", "revision", "changed_pages", "changes")
        return told | {name: getattr(self, name) for name in names}

    def with_splits(self, splits: Sequence[Result], problem: str = "") -> Self:
        """The result with what the splits after it did; `problem` says why one could not be made."""
        reasons = [self.degraded, *(split.degraded for split in splits), problem]
        return replace(
            self,
            revisions=self.revisions + tuple(r for split in splits for r in split.revisions),
            degraded="; ".join(dict.fromkeys(filter(None, reasons))),
        )

    @property
    def changed_pages(self) -> list[str]:
        """The paths of all pages that were made, changed or removed."""
        return list(dict.fromkeys(change.path for r in self.revisions for change in r.pages))


@dataclass(frozen=True)
class WriteResult(Result):
    """`path` is where the text went (its first block, if it was divided), `size_bytes` that page's size at the end.

    `outcome` says whether the text was written or stood in the tree already (`said_in` names where).
    """

    size_bytes: int = 0
    outcome: Literal["written", "nothing new"] = "written"
    said_in: tuple[str, ...] = ()
    split_triggered: bool = False
    new_files: tuple[str, ...] = ()


@dataclass(frozen=True)
class SplitResult(Result):
    """`new_files` are the children that were made; none, with the `reason`, if the page was left whole."""

    strategy: str = ""
    reason: str = ""
    new_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MovedPage:
    """A page that has another parent now; `None` if no page links to it."""

    path: str
    parent: str | None


@dataclass(frozen=True)
class DeleteResult(Result):
    """`moved` are the children of the deleted page, each with its new parent."""

    moved: tuple[MovedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One answer: lines of a page, verbatim.

    `relevance_score` runs from 0 to 1, `lines` are the first and the last line in the page (from 1), `date` is the day
    it speaks of or was said, `breadcrumb` the way to the page from the root, `context` says in words where it stands
    and how it was found.
    """

    path: str
    excerpt: str
    relevance_score: float
    context: str
    lines: tuple[int, int]
    date: date | None
    breadcrumb: tuple[str, ...]


class SearchResults(list[SearchResult]):
    """The answers, best first; with who decided, why not the model that was asked, and what it took."""

    decided_by: str = ""
    degraded: str = ""
    cost: Cost = Cost()
    trace: str = ""

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The answers with what the whole operation took, and the name of its record."""
        self.cost, self.trace = cost, trace
        return self

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the answers beside what they took."""
        told = {name: getattr(self, name) for name in ("decided_by", "degraded", "cost", "trace")}
        return {"results": list(self), **told}


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page as `list_files` tells of it."""

    path: str
    title: str
    size_bytes: int
    last_updated: datetime
    links_to: tuple[str, ...]
    linked_from: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that does not hold, with its page and line (0: the whole page).

    An `error` is a property of the tree that is broken; a `notice` is worth a look. `mend` says what `apply` would do;
    empty if it is for a person to decide.
    """

    kind: str
    severity: Literal["error", "notice"]
    path: str
    line: int
    message: str
    mend: str = ""
