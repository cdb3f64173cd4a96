"""The results of operations: typed values, never prose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from typing import Any, Literal, Self, TypeAlias

from memory_v2.agent.operation import Cost
from memory_v2.storage.history import Change
from memory_v2.text.secrets import Secret
from memory_v2.text.slug import slug
from memory_v2.text.words import shorten
from memory_v2.tree.finding import Finding as Finding

LONGEST_HEADING = 80
"""How much of a heading tells where a hit is, in characters: one line."""


@dataclass(frozen=True)
class Result:
    """The result of every operation that changes the tree.

    `decided_by` is the model whose decision was carried out; `degraded` says why it was not the configured one, and is
    empty if it was. `trace` is the name of its trace, empty if none was saved.
    """

    path: str
    revisions: tuple[Change, ...] = ()
    decided_by: str = "program"
    degraded: str = ""
    cost: Cost = field(default_factory=Cost)
    trace: str = ""

    def __str__(self) -> str:
        outcome = getattr(self, "outcome", "changed" if self.revisions else "nothing changed")
        return f"{self.path}: {outcome}" + (f" in revision {self.revision}" if self.revisions else "")

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The result with the cost of the whole operation and the name of its trace."""
        return replace(self, cost=cost, trace=trace)

    @property
    def success(self) -> bool:
        """Always true: an operation that fails raises an error."""
        return True

    @property
    def revision(self) -> str:
        """The id of the last revision; empty if nothing changed."""
        return self.revisions[-1].revision.id[:12] if self.revisions else ""

    @property
    def changes(self) -> str:
        """All changes as a unified diff."""
        return "".join(revision.diff for revision in self.revisions)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the changed pages and a diff instead of the revisions."""
        document = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "revisions"}
        names = ("success", "revision", "changed_pages", "changes")
        return document | {name: getattr(self, name) for name in names}

    def with_splits(self, splits: Sequence[Result], problem: str = "") -> Self:
        """The result with the splits that followed; `problem` says why a page could not be split."""
        reasons = [self.degraded, *(split.degraded for split in splits), problem]
        return replace(
            self,
            revisions=self.revisions + tuple(r for split in splits for r in split.revisions),
            degraded="; ".join(dict.fromkeys(filter(None, reasons))),
        )

    @property
    def changed_pages(self) -> list[str]:
        """The paths of all pages that were created, changed or removed."""
        return list(dict.fromkeys(change.path for r in self.revisions for change in r.pages))


@dataclass(frozen=True)
class WriteResult(Result):
    """The result of a write. `path` is the page of the text, or of its first block, and `size_bytes` that page's size.

    `outcome` says whether the text was written or was in the tree already; `said_in` are the pages that contain it.
    `secrets` are the likely secrets in the text, masked; they are written all the same.
    """

    size_bytes: int = 0
    outcome: Literal["written", "nothing new"] = "written"
    said_in: tuple[str, ...] = ()
    secrets: tuple[Secret, ...] = ()
    split_triggered: bool = False
    new_files: tuple[str, ...] = ()

    def has_made(self, path: str) -> bool:
        """Whether there was no such page before."""
        return any(page.path == path and page.before is None for made in self.revisions for page in made.pages)


@dataclass(frozen=True)
class SplitResult(Result):
    """The result of a split. `new_files` are the new children; if there are none, `reason` says why the page was left
    whole."""

    strategy: str = ""
    reason: str = ""
    new_files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MovedPage:
    """A page with a new parent; `None` if no page links to it."""

    path: str
    parent: str | None


@dataclass(frozen=True)
class DeleteResult(Result):
    """The result of a deletion. `moved` are the children of the deleted page, each with its new parent."""

    moved: tuple[MovedPage, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One answer: lines of a page, verbatim, with as much around them as makes them a statement.

    A line `…` in the excerpt stands for lines that are left out. `section` are the headings above, outermost first.
    `relevance_score` is from 0 to 1, `lines` are the first and the last line in the page (from 1), `date` is the day on
    which it was said, `speaks_of` names other days that it is about (`2026-03-01`, `Mar 2026`), `breadcrumb` is the way
    to the page from the root, and `context` says in words where it is and how it was found. `source` is where it came
    from, if that was told when it was written. `confidence` says how much of what the question asks for is in it or
    in the headings above it, from 0 to 1: the share of the question's telling words, by their rarity.
    `signs` are what the program ranked it by: each in words, with the points that it added. A newer version of a fact
    comes before it whatever the points; then the fact is marked as `earlier`, if it is an answer itself.
    """

    path: str
    excerpt: str
    relevance_score: float
    context: str
    lines: tuple[int, int]
    date: date | None
    breadcrumb: tuple[str, ...]
    speaks_of: str = ""
    source: str = ""
    section: tuple[str, ...] = ()
    confidence: float = 1.0
    signs: tuple[tuple[str, float], ...] = ()
    earlier: bool = False

    def __str__(self) -> str:
        return f"{self.citation}: {' '.join(self.excerpt.split())}"

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above, cut to a readable length, without a first one that only says the page's name again."""
        name = self.path.rsplit("/", 1)[-1]
        section = self.section[1:] if self.section and slug(self.section[0]) == slug(name) else self.section
        return tuple(shorten(words, LONGEST_HEADING) for words in section)

    @property
    def citation(self) -> str:
        """Where it is: `projects › silica › Testing · 2026-02-03 · lines 12–14`."""
        first, last = self.lines
        where = f"line {first}" if first == last else f"lines {first}–{last}"
        way = " › ".join((*self.path.split("/"), *self.headings))
        return " · ".join(filter(None, (way, self.date.isoformat() if self.date else "", where)))

    @property
    def quoted(self) -> str:
        """The excerpt below its citation, for a prompt."""
        return f"{self.citation}\n{self.excerpt}"


@dataclass(frozen=True, slots=True)
class Factors:
    """What the score of an entry is made of: how well it answers, times its confidence, times the weight that its age
    has left it by its `decay`. Each is from 0 to 1; an entry that says no confidence has 1."""

    answers: float
    confidence: float
    weight: float
    decay: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryResult(SearchResult):
    """One answer that is an entry: its id, as `entry`; whose it is; its home, empty in the inbox; the pages into which
    it has been worked; whether it is in the archive; and the `factors` of its score. Its `path` is that of its file."""

    entry: str
    agent: str
    home: str = ""
    tags: tuple[str, ...] = ()
    consolidated_into: tuple[str, ...] = ()
    archived: bool = False
    factors: Factors

    @property
    def citation(self) -> str:
        """What it is and of which day: `entry hawk/obs-2026-02-15-001 · 2026-02-15`."""
        return " · ".join(filter(None, (f"entry {self.entry}", self.date.isoformat() if self.date else "")))


Verdict: TypeAlias = Literal["answered", "perhaps", "no"]
"""Whether a memory answers a question, as far as can be told."""


class SearchResults(list[SearchResult]):
    """The answers, best first, with the model that decided, why it was not the configured one, and the cost.

    `verdict` is `no` if the memory does not answer the question: if the model says so or, without one, no place tells
    enough of what is asked for; what is in the list then are the nearest places. It is `perhaps` if, without a model,
    the best place does not tell almost all of it. `archived_left_out` is how many
    entries in the archive would be among them. `respelled` are the words of a question without an answer that the
    memory does not have, each with the one that was searched for in its place.
    """

    verdict: Verdict = "no"
    respelled: dict[str, str] = {}  # noqa: RUF012 - replaced, never changed
    archived_left_out: int = 0
    decided_by: str = ""
    degraded: str = ""
    cost: Cost = Cost()
    trace: str = ""

    @property
    def answered(self) -> bool:
        """Whether the memory answers the question, or perhaps does."""
        return self.verdict != "no"

    @property
    def text(self) -> str:
        """The answers for a prompt, best first: each excerpt below its citation."""
        return "\n\n".join(result.quoted for result in self)

    def with_cost(self, cost: Cost, trace: str) -> Self:
        """The answers with the cost of the whole operation and the name of its trace."""
        self.cost, self.trace = cost, trace
        return self

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the answers, who decided, and the cost."""
        names = ("answered", "verdict", "decided_by", "degraded", "cost", "trace")
        left_out = {"archived_left_out": self.archived_left_out} if self.archived_left_out else {}
        respelled = {"respelled": self.respelled} if self.respelled else {}
        return {"results": list(self), **{name: getattr(self, name) for name in names}, **left_out, **respelled}


@dataclass(frozen=True, slots=True)
class DatedLines:
    """The `lines` of a block of a page, first and last (from 1); the `date` on which it was said, `None` if that is
    not known; and the `source` that it came from, empty if none is."""

    lines: tuple[int, int]
    date: date | None
    source: str = ""


@dataclass(frozen=True, slots=True)
class SimilarLine:
    """A line that is like a text: its page, and its words to the letter."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page as `list_files` returns it. `MemoryFileInfo` is another name of it."""

    path: str
    title: str
    size_bytes: int
    last_updated: datetime
    links_to: tuple[str, ...]
    linked_from: tuple[str, ...]
