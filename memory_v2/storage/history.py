"""What happened to the pages: each operation is a commit in a git repository of the memory's own.

The repository is bare and holds the pages as they are named on the disk (`projects/silica.md`), so plain git reads it:
`git --git-dir .metadata/history.git log`. It is written under the commit's lock, after the pages: the pages are the
truth, and the history tells how they came about.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from memory_v2.errors import SilicaError, StorageError
from memory_v2.storage.local.disk import make_folder
from memory_v2.storage.walk import SUFFIX

FOLDER = "history.git"
BRANCH = b"refs/heads/main"
AUTHOR = b"Silica Memory <silica@localhost>"
MAKING = "history-making-"
"""How the name of a repository begins that is not whole yet."""
TORN_SECONDS = 60.0
"""A file that nobody has touched for so long belongs to a process that died over it."""
GIT_SECONDS = 0.2
"""For longer plain git does not lock a branch."""
OUTSIDE = "outside"
"""The kind of what was not done by this program: edits by hand."""

_FILE, _FOLDER = 0o100644, 0o040000
_TRAILER = re.compile(r"^(Operation|Decided-by|Degraded|Undoes): (.*)$")

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit: what was done (`kind`: write, split, merge, …, `outside`), to what, by which model and why.

    `operation` is the same for all commits of one operation: a write, and the splits that followed it; `undoes` is that
    of the operation which this one takes back, or the id of a commit that has none.
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

    @property
    def in_lines(self) -> Revision:
        """The same with everything in one line each, and without what UTF-8 cannot spell."""
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

    @property
    def message(self) -> str:
        """The commit's message, as git shows it."""
        told = self.in_lines
        trailers = [
            f"Operation: {told.operation}",
            f"Decided-by: {told.decided_by}",
            f"Degraded: {told.degraded}",
            f"Undoes: {told.undoes}",
        ]
        why = "\n".join(f"- {why}" for why in told.why)
        named = "\n".join(trailer for trailer in trailers if not trailer.endswith(": "))
        return "\n\n".join(filter(None, [f"{told.kind}: {told.summary}", why, named])) + "\n"


class History(Protocol):
    """What a storage tells of the past of its pages."""

    @property
    def begun(self) -> bool:
        """Whether something was recorded already; once that is known it costs nothing."""

    def quarantine(self) -> None:
        """Puts what cannot be read out of the way; the next record begins anew."""

    def record(self, changes: Mapping[str, bytes | None], entry: Revision) -> str:
        """Adds a commit with these pages (path → bytes, `None`: removed) and returns its id. Raises `StorageError`."""

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        """The commits, newest first; only those that changed a page, if one is named. They end where older ones cannot
        be read any more; that is logged."""

    def read(self, revision: str, path: str) -> bytes | None:
        """A page as it was after a commit; `None` if it was not there."""

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        """The commits that changed a page, oldest first, each with the page as it was after it."""

    def pages(self, revision: str) -> dict[str, bytes]:
        """All pages as they were after a commit."""

    def before(self, revision: str) -> str:
        """The commit before this one; empty for the first."""

    def stale(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """Those of these pages (as they are stored now) that the newest commit has otherwise."""


class GitHistory:
    """The history in a git repository below a folder; in memory, if there is none. It is made by the first record."""

    def __init__(self, folder: Path | None) -> None:
        self._place = folder / FOLDER if folder else None
        self._opened: Any = None  # dulwich's types are those of Git at large; here a tree is a tree
        self._users = 0
        self._lock = threading.RLock()

    def record(self, changes: Mapping[str, bytes | None], entry: Revision) -> str:
        """See `History`. To be called under the commit's lock. Nothing is waited for: what a crash of the machine takes
        of the history, it leaves of the pages."""
        self._sweep()
        try:
            return self._recorded(changes, entry)
        except _Locked:
            self._unlock()
            return self._recorded(changes, entry)

    def _recorded(self, changes: Mapping[str, bytes | None], entry: Revision) -> str:
        from dulwich.objects import Blob, Commit

        with self._explained():
            store, parent = self._repo.object_store, self._head
            files: dict[tuple[bytes, ...], bytes | None] = {}
            for path, data in changes.items():
                blob = Blob.from_string(data) if data is not None else None
                if blob is not None:
                    store.add_object(blob)
                files[_parts(path)] = None if blob is None else blob.id
            tree = self._changed(self._commit(parent).tree if parent else None, files)
            commit: Any = Commit()
            commit.tree = tree if tree is not None else self._changed(None, {}, keep=True)
            commit.parents = [parent] if parent else []
            commit.author = commit.committer = AUTHOR
            commit.author_time = commit.commit_time = int(entry.when.timestamp())
            commit.author_timezone = commit.commit_timezone = 0
            commit.encoding = b"UTF-8"
            commit.message = entry.message.encode()
            store.add_object(commit)
            if not self._repo.refs.set_if_equals(BRANCH, parent, commit.id):
                raise StorageError("the history was changed by somebody else meanwhile")
            return str(commit.id.decode())

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        """See `History`."""
        if not self.begun:
            return
        with self._explained():
            commit_id, newer = self._head, ""
            while commit_id:
                try:
                    commit, entry = self._sure(partial(self._told, commit_id))
                except HistoryDamaged as error:
                    if not newer:
                        raise
                    logger.warning("what was done before %s cannot be read any more: %s", newer[:12], error)
                    return
                newer = entry.id
                if path is None or path in entry.paths:
                    yield entry
                commit_id = commit.parents[0] if commit.parents else None

    def read(self, revision: str, path: str) -> bytes | None:
        """See `History`."""

        def ask() -> bytes | None:
            blob = self._blob(self._commit(revision.encode()).tree, _parts(path))
            return None if blob is None else self._data(blob)

        return self._sure(ask)

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        """See `History`."""
        return ((entry, self.read(entry.id, path)) for entry in reversed(list(self.revisions(path))))

    def pages(self, revision: str) -> dict[str, bytes]:
        """See `History`."""
        return self._sure(lambda: dict(self._walk(self._commit(revision.encode()).tree, "")))

    def before(self, revision: str) -> str:
        """See `History`."""
        parents = self._sure(lambda: self._commit(revision.encode()).parents)
        return str(parents[0].decode()) if parents else ""

    def stale(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        """See `History`."""
        from dulwich.objects import Blob

        def ask() -> dict[str, bytes | None]:
            tree = self._commit(self._head).tree if self._head else None
            return {path: self._blob(tree, _parts(path)) if tree else None for path in pages}

        known = self._sure(ask)
        now = {path: None if data is None else Blob.from_string(data).id for path, data in pages.items()}
        return {path: data for path, data in pages.items() if known[path] != now[path]}

    @property
    def begun(self) -> bool:
        """See `History`."""
        if self._place is None:
            return self._opened is not None and self._opened.refs.read_ref(BRANCH) is not None
        # git's own gc puts the names of branches into one file
        return (self._place / "refs" / "heads" / "main").exists() or (self._place / "packed-refs").exists()

    def quarantine(self) -> None:
        """Puts a repository that cannot be read out of the way, under another name, and begins anew."""
        if self._place is None:
            raise StorageError("the history in memory is damaged")
        number = 1
        while (other := self._place.with_name(f"history-damaged-{number}.git")).exists():
            number += 1
        with self._explained():
            self._close()
            self._place.rename(other)
        logger.warning("the history could not be read; it is kept as %s, and a new one begins", other)

    def pack(self) -> int:
        """Puts all that lies about in one pack; returns how many objects that were."""
        if self._place is None or not self.begun:
            return 0
        with self._explained():
            return int(self._repo.object_store.pack_loose_objects())

    @property
    def size(self) -> int:
        """The bytes that it takes on the disk, whole blocks of it."""
        found = [file.stat() for file in self._place.rglob("*") if file.is_file()] if self._place else []
        return sum(getattr(info, "st_blocks", 0) * 512 or info.st_size for info in found)

    # helpers

    @property
    def _repo(self) -> Any:
        """The repository, made if it is not there. Open only while a call lasts: what dulwich has left open when the
        interpreter ends, it complains about."""
        from dulwich.repo import MemoryRepo, Repo

        if self._opened is None:
            if self._place is None:
                self._opened = MemoryRepo()
            elif (self._place / "objects").is_dir():
                with suppress(OSError):  # folders without a file, which git, zip and S3 leave out of a copy
                    for name in ("refs/heads", "objects/pack"):
                        (self._place / name).mkdir(mode=0o700, parents=True, exist_ok=True)
                self._opened = Repo(str(self._place))
            else:
                self._make(self._place)
                self._opened = Repo(str(self._place))
        return self._opened

    def _make(self, place: Path) -> None:
        """Makes the repository beside its place, and puts it there when it is whole: a half one would stay for ever."""
        from dulwich.repo import Repo

        make_folder(place.parent)
        for half in place.parent.glob(f"{MAKING}*"):
            shutil.rmtree(half, ignore_errors=True)
        made = place.with_name(f"{MAKING}{os.urandom(4).hex()}.git")
        made.mkdir(mode=0o700)
        Repo.init_bare(str(made), default_branch=b"main").close()
        made.rename(place)

    def _sweep(self) -> None:
        """Removes what a process left that was killed while it packed."""
        for file in self._place.glob("objects/pack/*") if self._place else ():
            with suppress(OSError):
                is_torn = file.suffix == ".lock" or file.name.startswith("tmp")
                if is_torn and time.time() - file.stat().st_mtime > TORN_SECONDS:
                    file.unlink()

    def _unlock(self) -> None:
        """Removes the locks of a process that died while it recorded. None of ours is alive, for we hold the commit's
        lock; plain git, which locks no objects, is done with a branch at once."""
        time.sleep(GIT_SECONDS)
        if self._place is not None:
            for lock in (*self._place.glob("objects/??/*.lock"), *self._place.glob("refs/heads/*.lock")):
                with suppress(OSError):
                    lock.unlink()

    def _close(self) -> None:
        if self._opened is not None and self._place is not None:
            self._opened.close()
            self._opened = None

    @property
    def _head(self) -> bytes | None:
        head: bytes | None = self._repo.refs.read_ref(BRANCH)
        if head is None and self._place is not None and self.begun:
            raise KeyError(BRANCH)  # a power cut may leave the file empty
        return head

    def _commit(self, commit_id: bytes | None) -> Any:
        from dulwich.objects import Commit

        commit = self._repo.object_store[commit_id or b""]
        if not isinstance(commit, Commit):
            raise KeyError(commit_id)
        return commit

    def _tree(self, tree_id: bytes) -> Any:
        from dulwich.objects import Tree

        tree = self._repo.object_store[tree_id]
        if not isinstance(tree, Tree):
            raise KeyError(tree_id)
        return tree

    def _data(self, blob_id: bytes) -> bytes:
        data: bytes = self._repo.object_store[blob_id].as_raw_string()
        return data

    def _blob(self, tree_id: bytes, parts: tuple[bytes, ...]) -> bytes | None:
        for number, part in enumerate(parts, 1):
            tree = self._tree(tree_id)
            if part not in tree:
                return None
            mode, tree_id = tree[part]
            if mode != (_FOLDER if number < len(parts) else _FILE):
                return None
        return tree_id

    def _changed(
        self, tree_id: bytes | None, files: Mapping[tuple[bytes, ...], bytes | None], keep: bool = False
    ) -> bytes | None:
        """The tree with these files (parts → blob, `None`: removed), stored; none if nothing is left in it."""
        from dulwich.objects import Tree

        tree: Any = self._tree(tree_id).copy() if tree_id else Tree()
        below: dict[bytes, dict[tuple[bytes, ...], bytes | None]] = {}
        for parts, blob in files.items():
            if len(parts) > 1:
                below.setdefault(parts[0], {})[parts[1:]] = blob
            elif blob is not None:
                tree[parts[0]] = (_FILE, blob)
            elif parts[0] in tree:
                del tree[parts[0]]
        for name, inner in below.items():
            old = tree[name][1] if name in tree else None
            folder = self._changed(old, inner)
            if folder is not None:
                tree[name] = (_FOLDER, folder)
            elif name in tree:
                del tree[name]
        if not len(tree) and not keep:
            return None
        self._repo.object_store.add_object(tree)
        made: bytes = tree.id
        return made

    def _walk(self, tree_id: bytes, above: str) -> Iterator[tuple[str, bytes]]:
        for name, mode, item in self._tree(tree_id).iteritems():
            place = above + name.decode("utf-8", "surrogateescape")
            if mode == _FOLDER:
                yield from self._walk(item, f"{place}/")
            elif _is_page(mode, place):
                yield place.removesuffix(SUFFIX), self._data(item)

    def _entry(self, commit: Any) -> Revision:
        parent = self._commit(commit.parents[0]).tree if commit.parents else None
        entry = _read_message(commit.message.decode("utf-8", "replace"))
        return replace(
            entry,
            when=datetime.fromtimestamp(commit.commit_time, UTC),
            id=commit.id.decode(),
            is_first=not commit.parents,
            paths=tuple(sorted(self._paths(parent, commit.tree, ""))),
        )

    def _paths(self, old: bytes | None, new: bytes | None, above: str) -> Iterator[str]:
        """The pages in which two trees differ."""
        if old == new:
            return
        before, after = ({e.path: e for e in self._tree(one).items()} if one else {} for one in (old, new))
        for name in before.keys() | after.keys():
            place = above + name.decode("utf-8", "surrogateescape")
            sides = [before.get(name), after.get(name)]
            folders = [side.sha if side is not None and side.mode == _FOLDER else None for side in sides]
            files = [side.sha if side is not None and side.mode != _FOLDER else None for side in sides]
            if files[0] != files[1] and any(side is not None and _is_page(side.mode, place) for side in sides):
                yield place.removesuffix(SUFFIX)
            yield from self._paths(folders[0], folders[1], f"{place}/")

    def _told(self, commit_id: bytes) -> tuple[Any, Revision]:
        commit = self._commit(commit_id)
        return commit, self._entry(commit)

    def _sure(self, ask: Callable[[], Answer]) -> Answer:
        """The answer; asked once more, of the repository opened anew, where it seems to be damaged: somebody else may
        have packed it just now."""
        with self._lock:
            try:
                with self._explained():
                    return ask()
            except HistoryDamaged:
                time.sleep(GIT_SECONDS)
                self._close()
                with self._explained():
                    return ask()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Holds the repository open, and tells what goes wrong as ours: a disk that fails, or a repository that is
        damaged, of which dulwich raises whatever it stumbles over."""
        with self._lock:
            self._users += 1
            try:
                yield
            except SilicaError:
                raise
            except OSError as error:
                raise StorageError(f"cannot reach the history in {self._place}: {error.strerror or error}") from error
            except Exception as error:
                if type(error).__name__ == "FileLocked":  # of a room that is not imported before it is needed
                    raise _Locked(f"the history in {self._place} is locked: {error}") from error
                raise HistoryDamaged(
                    f"the history in {self._place} is damaged ({type(error).__name__}); the pages are not: "
                    "move it away, and the next change begins a new one"
                ) from error
            finally:
                self._users -= 1
                if not self._users:
                    self._close()


class _Locked(StorageError):
    """A file that is to be written is locked: by git at this moment, or by a process that died over it."""


class HistoryDamaged(StorageError):
    """The repository of the history cannot be read."""


def _is_page(mode: int, place: str) -> bool:
    """Whether something is a file of ours: plain git may have been told to keep other things."""
    return mode == _FILE and place.endswith(SUFFIX)


def _parts(path: str) -> tuple[bytes, ...]:
    return tuple(f"{path}{SUFFIX}".encode().split(b"/"))


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _read_message(message: str) -> Revision:
    """The entry that `Revision.message` wrote; a commit of somebody else's making is told by its first line."""
    first, _, rest = message.partition("\n")
    kind, colon, summary = first.partition(": ")
    paragraphs = [part.splitlines() for part in rest.strip().split("\n\n") if part]
    trailers: dict[str, str] = {}
    if paragraphs and all(_TRAILER.match(line) for line in paragraphs[-1]):
        trailers = {match[1]: match[2] for line in paragraphs.pop() if (match := _TRAILER.match(line))}
    return Revision(
        kind=kind if colon else OUTSIDE,
        summary=summary if colon else first,
        operation=trailers.get("Operation", ""),
        decided_by=trailers.get("Decided-by", ""),
        degraded=trailers.get("Degraded", ""),
        undoes=trailers.get("Undoes", ""),
        why=tuple(line.removeprefix("- ") for part in paragraphs for line in part),
    )


_: type[History] = GitHistory
