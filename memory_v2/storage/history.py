"""What happened to the pages: a change, the revision that it becomes, and what every history promises."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from memory_v2.errors import StorageError
from memory_v2.tree.block import decode, readable, split_lines

EXTERNAL = "outside"
"""The kind of a revision that this program did not make: edits by hand."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One record of the history: what was done (`kind`: write, split, merge, …, `outside`), to what, by which model,
    and why.

    All revisions of one operation, such as a write and the splits that follow it, share `operation`. `undoes` names the
    operation that this one takes back, or the id of a revision that belongs to none. `id` and `paths` are known once it
    is recorded.
    """

    kind: str
    summary: str
    operation: str = ""
    decided_by: str = ""
    degraded: str = ""
    undoes: str = ""
    why: tuple[str, ...] = ()
    when: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    id: str = ""
    paths: tuple[str, ...] = ()
    is_first: bool = field(default=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it."""
        names = ("id", "when", "kind", "summary", "decided_by", "degraded", "undoes", "why")
        return {name: getattr(self, name) for name in names} | {"changed_pages": self.paths}

    @property
    def in_lines(self) -> Revision:
        """The same with each value on one line, and without what UTF-8 cannot encode."""
        return replace(
            self,
            kind=_line(self.kind),
            summary=_line(self.summary),
            operation=_line(self.operation),
            decided_by=_line(self.decided_by),
            degraded=_line(self.degraded),
            undoes=_line(self.undoes),
            why=tuple(_line(why) for why in self.why),
        )


@dataclass(frozen=True, slots=True)
class PageChange:
    """One page before and after; `None` where it does not exist."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        from difflib import unified_diff  # which reading a page does not need

        old = f"a/{self.path}.md" if self.before is not None else "/dev/null"
        new = f"b/{self.path}.md" if self.after is not None else "/dev/null"
        return "".join(unified_diff(_lines(self.before), _lines(self.after), old, new))


@dataclass(frozen=True, slots=True)
class Change:
    """Pages before and after, in the order in which they are stored; and who did it, and why. Falsy if empty."""

    pages: tuple[PageChange, ...] = ()
    revision: Revision = Revision("", "")

    def __bool__(self) -> bool:
        return bool(self.pages)

    @property
    def diff(self) -> str:
        """All pages as a unified diff."""
        return "".join(page.diff for page in self.pages)

    @property
    def paths(self) -> tuple[str, ...]:
        """The pages that it makes, changes or removes."""
        return tuple(page.path for page in self.pages)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the paths and the diff."""
        return {"changed_pages": self.paths, "changes": self.diff}


class HistoryDamaged(StorageError):
    """The history cannot be read; the pages are not affected."""


class History(Protocol):
    """The record of all changes. A change has happened once it is recorded here; the pages are the checkout."""

    @property
    def begun(self) -> bool:
        """Whether anything is recorded yet. Cheap to ask."""

    @property
    def head(self) -> str:
        """The id of the newest revision; empty if there is none."""

    @property
    def checked_out(self) -> str:
        """The revision up to which the pages have been written; empty if that was never noted."""

    def mark_checked_out(self, revision: str) -> None:
        """Notes that the pages have been written up to this revision. Losing the note costs a comparison only."""

    def record(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        """Appends a revision with these pages (path → bytes, `None`: removed) and returns its id; it is durable then.
        Raises `StorageError`. Call it under the storage's lock."""

    def take_back(self, revision: str) -> None:
        """Removes the newest revision, this one, whose pages could not be written. Call it under the storage's lock."""

    def quarantine(self) -> None:
        """Moves a history that cannot be read out of the way; the next record begins a new one."""

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        """The revisions, newest first; with `path`, only those that changed this page. Where older ones cannot be read
        it stops, with a warning in the log."""

    def read(self, revision: str, path: str) -> bytes | None:
        """A page as it was after a revision; `None` if it did not exist."""

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        """The revisions that changed a page, oldest first, each with the page as it was afterwards."""

    def pages(self, revision: str) -> dict[str, bytes]:
        """All pages as they were after a revision."""

    def before(self, revision: str) -> str:
        """The revision before this one; empty for the first."""

    def difference(self, old: str, new: str) -> tuple[PageChange, ...]:
        """The pages in which two revisions differ, sorted by path. An empty `old` stands for no pages at all."""

    def unrecorded(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Those of these stored pages that differ from the newest revision."""


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _lines(data: bytes | None) -> list[str]:
    lines = split_lines(readable(decode(data or b"")))
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += "\n"
    return lines
