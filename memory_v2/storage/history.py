"""Changes, the revisions that record them, and the contract of every history and of rewriting it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Protocol

from memory_v2.errors import StorageError
from memory_v2.tree.block import decode, readable, split_lines

EXTERNAL = "outside"
"""The kind of a revision that this program did not make: edits by hand."""
EDITED = "edited by hand: "
"""How the summary of an edit by hand begins; the names of its pages follow."""
IMPORT = "import"
"""The kind of a revision of an import: what it brings was not said on its day."""

RESTORE = "restore"
FORGET = "forget"
"""The kind of a revision that says that something was forgotten. It changes no page: the revisions before it do not
have it either."""

COMPLETED_LATER = (
    "the change was stopped halfway and will be completed when the memory is next used: do not make it again"
)
"""The end of an error of a change that is recorded, and could not be taken back."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One record of the history: what was done (`kind`: write, split, merge, …, `outside`), to which pages, by which
    model, and why. `agent` is the agent or person that asked for it, if it is known.

    All revisions of one operation, such as a write and the splits that follow it, share `operation`. `undoes` names the
    operation that this one undoes, or the id of a revision without an operation. `text` is the text of a write, to the
    letter, if the pages do not hold it, and which documents an import has brought in. The history sets `id` and
    `paths`.
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
    text: str = ""
    agent: str = ""
    is_first: bool = field(default=False, compare=False)

    @property
    def brings_back(self) -> bool:
        """Whether it makes pages what they were: an undo, or a restore."""
        return bool(self.undoes) or self.kind == RESTORE

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it."""
        names = ("id", "when", "kind", "summary", "agent", "decided_by", "degraded", "undoes", "why", "text")
        return {name: getattr(self, name) for name in names} | {"changed_pages": self.paths}

    @property
    def in_lines(self) -> Revision:
        """A copy with each value but `text` on one line, and with `?` for characters that UTF-8 cannot encode."""
        names = ("kind", "summary", "operation", "agent", "decided_by", "degraded", "undoes")
        lines: dict[str, Any] = {name: _line(getattr(self, name)) for name in names}
        return replace(self, **lines, why=tuple(map(_line, self.why)))


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
    """Pages before and after, in the order of writing, and the revision that records them. Falsy if it has no pages."""

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
        """The pages that the change creates, changes or removes."""
        return tuple(page.path for page in self.pages)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the paths and the diff."""
        return {"changed_pages": self.paths, "changes": self.diff}


NO_CHANGE = Change()


def compared(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[PageChange, ...]:
    """The pages in which two states of all pages differ, sorted by path."""
    paths = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return tuple(PageChange(path, before.get(path), after.get(path)) for path in paths)


class HistoryDamaged(StorageError):
    """The history cannot be read; the pages are not affected."""


class Rules(Protocol):
    """What becomes of what is in a history. They give the same for the same, and applied again change nothing more."""

    def path(self, path: str) -> str | None:
        """The path that a page has then; `None` if there was no such page."""

    def page(self, data: bytes) -> bytes:
        """The bytes of a page."""

    def revision(self, revision: Revision) -> Revision:
        """A revision. Ids and paths are left to the history."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a history the rules change: revisions, and versions of pages."""

    revisions: int = 0
    versions: int = 0

    def __bool__(self) -> bool:
        return bool(self.revisions or self.versions)


class Rewrite(Protocol):
    """A history as it is by some rules. Nothing is stored before `stage`."""

    def extent(self) -> Extent:
        """How much the rules change up to the newest revision. Asked again, it reads only what was added since."""

    def stage(self, record: Revision) -> dict[str, Any]:
        """Stores the rewritten history and this revision, which changes no page, where nothing reads it. Returns what
        `History.adopt` needs, as JSON. Call it under the storage's lock."""


class History(Protocol):
    """The record of all changes. A change has happened once it is recorded here; the pages are a checkout."""

    @property
    def begun(self) -> bool:
        """Whether there is any revision. Cheap."""

    @property
    def problem(self) -> str:
        """What is wrong with a history although nobody meets an error, in one sentence; empty if nothing is."""

    @property
    def head(self) -> str:
        """The id of the newest revision; empty if there is none. Cheap, as `stamp` is."""

    @property
    def checked_out(self) -> str:
        """The id of the revision that was last written to the pages completely; empty if none is marked."""

    @property
    def stamp(self) -> str:
        """Differs after every change, once its pages are written. Cheap: a server is asked only under the storage's
        lock, and otherwise it is the stamp of the last request."""

    def changed_since(self, stamp: str) -> frozenset[str] | None:
        """The pages and entries that were changed since this was the stamp, and maybe more; `None` if that takes longer
        than a look at all pages, or is not known."""

    def mark_checked_out(self, revision: str) -> None:
        """Marks the revision as written to the pages. A lost mark only costs another comparison."""

    def record(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        """Appends a revision with these pages (path → bytes, `None` for a removed page; there may be none) and returns
        its id. It is then durable. Raises `StorageError`. Call it under the storage's lock."""

    def take_back(self, revision: str) -> None:
        """Removes this revision, the newest, because its pages could not be written. Call it under the storage's
        lock."""

    def quarantine(self) -> None:
        """Moves a damaged history aside. The next record begins a new one."""

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        """The revisions, newest first; with `path`, only those that changed this page. If an older revision cannot be
        read, it logs a warning and stops there."""

    def read(self, revision: str, path: str) -> bytes | None:
        """The page's bytes after a revision; `None` if it did not exist."""

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        """The revisions that changed a page, oldest first, each with the page's bytes after it."""

    def pages(self, revision: str) -> dict[str, bytes]:
        """All pages after a revision: path → bytes. Entries are none."""

    def paths(self, revision: str, below: str) -> set[str]:
        """The paths of the files below a folder (`entries`) after a revision, without reading any."""

    def before(self, revision: str) -> str:
        """The id of the revision before this one; empty for the first."""

    def difference(self, old: str, new: str) -> tuple[PageChange, ...]:
        """The pages and entries that differ between two revisions, sorted by path. An empty `old` means no pages."""

    def changed_by(self, revisions: Sequence[Revision]) -> Iterator[tuple[PageChange, ...]]:
        """The pages that each of these revisions changed, sorted by path; entries are none. The revisions follow each
        other, oldest first; this costs less than as many calls of `difference`."""

    def unrecorded(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """The given pages that differ from the newest revision."""

    def rewriting(self, rules: Rules) -> Rewrite:
        """The history as it is by these rules. Raises `HistoryDamaged`."""

    def adopt(self, staged: Mapping[str, Any]) -> None:
        """Replaces the history by one that was staged, marks its newest revision as checked out, and removes the bytes
        that only the old one has. Can be called again after it was interrupted. Call it under the storage's lock."""


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _lines(data: bytes | None) -> list[str]:
    lines = split_lines(readable(decode(data or b"")))
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += "\n"
    return lines
