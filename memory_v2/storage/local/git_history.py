"""The history of a folder: each revision is a commit in the memory's own git repository.

The repository is bare and names pages as the disk does (`projects/silica.md`), so plain git can read it:
`git --git-dir .metadata/history.git log`. A change has happened once its objects and the branch are flushed. The ref
`refs/silica/checked-out` is the commit that was last written to the pages completely.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memory_v2.errors import SilicaError, StorageError
from memory_v2.storage.history import COMPLETED_LATER, History, HistoryDamaged, PageChange, Revision, Rules
from memory_v2.storage.local import disk, git_objects
from memory_v2.storage.local.git_objects import BRANCH, CHECKED_OUT, FILE, ObjectWriter
from memory_v2.storage.local.walk import walk_files
from memory_v2.tree.path import ENTRIES, is_entry

if TYPE_CHECKING:
    from memory_v2.storage.local.git_rewrite import GitRewrite

FOLDER = "history.git"
GIT_SECONDS = 0.2
"""How long to wait for another git process, in seconds: git holds a branch's lock for a few milliseconds."""
MAX_WALKED = 20_000
"""How many commits are remembered once they were read: some ten megabytes."""
MOST_SINCE = 20
"""How many revisions are looked at for what has changed since one. Each takes about 3 ms, as a look at 300 pages."""
MAX_PAGES = 1_000
"""How many pages are remembered while revisions are read one after another: some ten megabytes at most."""

Answer = TypeVar("Answer")

logger = logging.getLogger(__name__)


class GitHistory(History):
    """The `History` in a git repository in a folder. The first record creates the repository."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / FOLDER
        self._name = str(self._place)
        self._advice = "move it away, and the next change begins a new one"
        self._mend: Callable[[], object] = partial(git_objects.restore, self._place)
        self._opened: Any = None  # dulwich types objects as any kind of git object; here a tree is a tree
        self._users = 0
        self._lock = threading.RLock()
        self._walked: dict[bytes, tuple[bytes | None, Revision]] = {}
        """Commits that were read before, each with its parent: they never change."""
        self._recorded_last = ("", "")
        """The commit that was recorded last, and its parent."""

    @property
    def begun(self) -> bool:
        # `git gc` moves the branches into the file packed-refs
        refs = (self._place / name for name in (BRANCH.decode(), "packed-refs", CHECKED_OUT.decode()))
        with disk.reading(self._place):
            return any(disk.lstat(file) is not None for file in refs)

    @property
    def problem(self) -> str:
        told = ""
        if not self.begun:
            with disk.reading(self._place):  # a first change that failed leaves objects, and the folder of refs
                if disk.lstat(self._place / "objects") is not None and disk.lstat(self._place / "refs") is None:
                    told = "the next change begins a new history, and the old objects stay"
        elif self._ask(lambda: self._head and self._repo.refs.read_ref(BRANCH) is None):
            told = f"the next change goes on from {self.checked_out[:12]}, which was checked out last"
        return f"the branch of the history in {self._place} is gone: {told}" if told else ""

    @property
    def head(self) -> str:
        return self._read_ref(BRANCH) or (self._ask(lambda: (self._head or b"").decode()) if self.begun else "")

    @property
    def checked_out(self) -> str:
        if (own := self._read_ref(CHECKED_OUT)) or not self.begun:
            return own
        return self._ask(lambda: (self._repo.refs.read_ref(CHECKED_OUT) or b"").decode())

    @property
    def stamp(self) -> str:
        return self.checked_out

    def changed_since(self, stamp: str) -> frozenset[str] | None:
        changed = set[str]()
        for newer in islice(self.revisions(), MOST_SINCE):
            if newer.id == stamp:
                return frozenset(changed)
            changed.update(newer.paths)
        return None

    def mark_checked_out(self, revision: str) -> None:
        file, objects = self._place / CHECKED_OUT.decode(), self._place / "objects"
        with disk.explained("write", file):  # not flushed: losing it costs a comparison
            # Among the objects a temporary file is swept, and git takes it for no ref.
            disk.replace_bytes(file, f"{revision}\n".encode("ascii"), is_flushed=False, temporary_in=objects)

    def record(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        git_objects.sweep(self._place)
        if damaged := git_objects.damaged_pack(self._place / "objects" / "pack"):
            raise HistoryDamaged(f"the history in {self._place} is damaged: {damaged} is not whole; the pages are not")
        return self._despite_locks(lambda: self._recorded(changes, revision))

    def take_back(self, revision: str) -> None:
        self._despite_locks(lambda: self._move_back(revision.encode()))

    def quarantine(self) -> None:
        number = 1
        while (other := self._place.with_name(f"history-damaged-{number}.git")).exists():
            number += 1
        with self._explained():
            self._close()
            self._place.rename(other)
        logger.warning("the history is damaged; it was moved to %s, and a new one begins", other)

    def revisions(self, path: str | None = None) -> Iterator[Revision]:
        # A walk has the repository open for itself: whoever records must not wait for one that takes its time.
        newest = self._ask(lambda: self._head) if self.begun else None
        return self._reader()._walk(newest, path)

    def _reader(self) -> GitHistory:
        """Another one that reads the same repository."""
        reader = GitHistory(self._place.parent)
        reader._walked, reader._mend = self._walked, self._mend
        reader._name, reader._advice = self._name, self._advice
        return reader

    def _walk(self, commit_id: bytes | None, path: str | None) -> Iterator[Revision]:
        newer = ""
        with self.held_open():
            while commit_id:
                try:
                    parent, revision = self._walked.get(commit_id) or self._ask(partial(self._read, commit_id))
                except HistoryDamaged as error:
                    if not newer:
                        raise
                    logger.warning("revisions before %s cannot be read: %s", newer[:12], error)
                    return
                newer = revision.id
                if path is None or path in revision.paths:
                    yield revision
                commit_id = parent

    def read(self, revision: str, path: str) -> bytes | None:
        def ask() -> bytes | None:
            blob = git_objects.find_blob(self._commit(revision.encode()).tree, path, self._tree)
            return None if blob is None else self._data(blob)

        return self._ask(ask)

    def states(self, path: str) -> Iterator[tuple[Revision, bytes | None]]:
        return ((revision, self.read(revision.id, path)) for revision in reversed(list(self.revisions(path))))

    def pages(self, revision: str) -> dict[str, bytes]:
        def ask() -> dict[str, bytes]:
            files = git_objects.files_in(self._commit(revision.encode()).tree, self._tree, besides=ENTRIES.encode())
            return {path: self._data(blob) for path, blob in files}

        return self._ask(ask)

    def paths(self, revision: str, below: str) -> set[str]:
        def ask() -> set[str]:
            files = git_objects.files_below(self._commit(revision.encode()).tree, below, self._tree)
            return {path for path, _ in files}

        return self._ask(ask)

    def before(self, revision: str) -> str:
        if revision == self._recorded_last[0]:
            return self._recorded_last[1]
        parents = self._ask(lambda: self._commit(revision.encode()).parents)
        return str(parents[0].decode()) if parents else ""

    def difference(self, old: str, new: str) -> tuple[PageChange, ...]:
        def ask() -> tuple[PageChange, ...]:
            trees = (self._commit(commit_id.encode()).tree if commit_id else None for commit_id in (old, new))
            changed = self._changed_files(*trees)
            return tuple(
                PageChange(path, *(None if blob is None else self._data(blob) for blob in changed[path]))
                for path in sorted(changed)
            )

        return self._ask(ask)

    def changed_by(self, revisions: Sequence[Revision]) -> Iterator[tuple[PageChange, ...]]:
        reader = self._reader()
        newest: dict[str, bytes | None] = {}  # what one revision leaves, the next ones find
        with reader.held_open():
            for revision in revisions:
                changed = reader._ask(partial(reader._changes_of, revision, newest))
                newest |= {page.path: page.after for page in changed}
                yield changed
                if len(newest) > MAX_PAGES:
                    newest.clear()

    def _changes_of(self, revision: Revision, known: Mapping[str, bytes | None]) -> tuple[PageChange, ...]:
        """The pages that a revision changed. Each folder is read once; what was before is only read if not `known`."""
        made = self._commit(revision.id.encode())
        before = self._commit(made.parents[0]).tree if made.parents else None
        read_once = cache(self._tree)

        def data(tree: bytes | None, path: str) -> bytes | None:
            blob = git_objects.find_blob(tree, path, read_once) if tree else None
            return None if blob is None else self._data(blob)

        return tuple(
            PageChange(path, known[path] if path in known else data(before, path), data(made.tree, path))
            for path in revision.paths
            if not is_entry(path)
        )

    def unrecorded(self, pages: Mapping[str, bytes | None]) -> dict[str, bytes | None]:
        from dulwich.objects import Blob

        def ask() -> dict[str, bytes | None]:
            tree, read_once = self._commit(self._head).tree if self._head else None, cache(self._tree)
            return {path: git_objects.find_blob(tree, path, read_once) if tree else None for path in pages}

        known = self._ask(ask)
        now = {path: None if data is None else Blob.from_string(data).id for path, data in pages.items()}
        return {path: data for path, data in pages.items() if known[path] != now[path]}

    def rewriting(self, rules: Rules) -> GitRewrite:
        from memory_v2.storage.local.git_rewrite import GitRewrite

        return GitRewrite(self._place, rules, lambda act: self._despite_locks(lambda: act(self._repo)))

    def adopt(self, staged: Mapping[str, Any]) -> None:
        from memory_v2.storage.local.git_rewrite import adopt

        self._despite_locks(lambda: adopt(self._place, self._repo, staged))

    def pack(self) -> int:
        """Packs all loose objects and returns their number."""
        if not self.begun:
            return 0
        return self._despite_locks(lambda: self._objects().pack_loose())

    @property
    def size(self) -> int:
        """The disk space of the repository, in bytes."""
        infos = [info for file in walk_files(self._place) if (info := disk.lstat(file))]
        return sum(getattr(info, "st_blocks", 0) * 512 or info.st_size for info in infos)

    def _move_back(self, commit_id: bytes) -> None:
        if parents := self._commit(commit_id).parents:
            moved = self._repo.refs.set_if_equals(BRANCH, commit_id, parents[0])
        else:
            moved = self._repo.refs.remove_if_equals(BRANCH, commit_id)
        if not moved:
            raise StorageError("the history was changed by another process meanwhile")
        with suppress(FileNotFoundError):  # dulwich removes the folder when it is empty
            disk.sync_folder(self._place / "refs" / "heads")

    def _made(
        self, changes: Mapping[str, bytes | None], revision: Revision, parent: bytes | None
    ) -> tuple[ObjectWriter, Any]:
        """The commit of a revision, and the writer that has its objects, which are not written yet."""
        from dulwich.object_store import commit_tree_changes
        from dulwich.objects import Blob, Tree

        objects: Any = self._objects()
        tree: Any = self._tree(self._commit(parent).tree) if parent else Tree()
        files: list[Any] = []
        read_once = cache(self._tree)
        for path, data in changes.items():
            if data is not None:
                blob = Blob.from_string(data)
                objects.add_object(blob)
                files.append((git_objects.file_of(path), FILE, blob.id))
            elif parent and git_objects.find_blob(tree.id, path, read_once) is not None:
                files.append((git_objects.file_of(path), None, None))
        tree_id = commit_tree_changes(objects, tree, files)
        commit = git_objects.new_commit(revision, tree_id, [parent] if parent else [])
        objects.add_object(commit)
        return objects, commit

    def _recorded(self, changes: Mapping[str, bytes | None], revision: Revision) -> str:
        if (store := self._objects()).has_many_unflushed:
            store.pack_loose()
        parent = self._head
        if parent and self._repo.refs.read_ref(BRANCH) is None:
            logger.warning("the branch of the history is gone; it goes on from %s", parent[:12].decode())
            self._repo.refs.set_if_equals(BRANCH, None, self._commit(parent).id)
        objects, commit = self._made(changes, revision, parent)
        objects.flush()
        if not self._repo.refs.set_if_equals(BRANCH, parent, commit.id):
            raise StorageError("the history was changed by another process meanwhile")
        try:
            disk.sync_folder(self._place / "refs" / "heads")
        except OSError as error:  # what may not be durable has not happened
            try:
                self._move_back(commit.id)
            except OSError:
                raise StorageError(f"cannot flush the history in {self._place}; {COMPLETED_LATER}") from error
            raise
        self._recorded_last = str(commit.id.decode()), (parent or b"").decode()
        return self._recorded_last[0]

    @property
    def _repo(self) -> Any:
        """The repository, created if it does not exist. It is open only during a call: dulwich warns about repositories
        that are still open when the interpreter exits."""
        from dulwich.repo import Repo

        if self._opened is None:
            git_objects.check_files(self._place)
            if self._place.is_dir():
                with suppress(OSError):  # copies by git, zip or S3 lack the empty folders, and half a copy anything
                    for name in ("refs/heads", "objects/pack"):
                        (self._place / name).mkdir(mode=0o700, parents=True, exist_ok=True)
                    head = self._place / "HEAD"
                    if disk.lstat(head) is None:  # without it, plain git takes the folder for no repository
                        head.write_bytes(b"ref: %s\n" % BRANCH)
            else:
                git_objects.make_repository(self._place)
            self._opened = Repo(str(self._place))
        return self._opened

    def _objects(self) -> ObjectWriter:
        return ObjectWriter(self._repo.object_store, self._place)

    def _object(self, object_id: bytes, kind: bytes = b"") -> Any:
        """The object of this id. Raises `KeyError` if there is none, or it is not of this kind."""
        name = object_id.decode("ascii")
        git_objects.check_file(self._place, self._place / "objects" / name[:2] / name[2:])
        found = self._repo.object_store[object_id]
        if kind and found.type_name != kind:
            raise KeyError(object_id)
        return found

    def _despite_locks(self, act: Callable[[], Answer]) -> Answer:
        """Returns the result of `act`. If a dead process left locks behind, removes them and tries once more."""
        try:
            return self._ask(act)
        except _Locked:
            time.sleep(GIT_SECONDS)
            git_objects.unlock(self._place)
            return self._ask(act)

    def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            with suppress(BufferError):  # the error of a damaged pack may still refer to a part of it
                opened.close()

    @property
    def _head(self) -> bytes | None:
        head: bytes | None = self._repo.refs.read_ref(BRANCH)
        if head is None and self.begun:
            with suppress(FileNotFoundError):
                disk.read_bytes(self._place / BRANCH.decode())  # a branch that may not be read is not damaged
                raise KeyError(BRANCH)  # a power cut may leave the file empty
            if (head := self._repo.refs.read_ref(CHECKED_OUT)) is None:  # else the branch alone is gone
                raise KeyError(BRANCH)
        return head

    def _read_ref(self, name: bytes) -> str:
        """The ref, if it has a file of its own. Reading it here spares those who only read pages the import of
        dulwich."""
        with suppress(OSError, UnicodeDecodeError):
            commit_id = disk.read_bytes(self._place / name.decode()).decode("ascii").strip()
            if re.fullmatch("[0-9a-f]{40}", commit_id):
                return commit_id
        return ""

    def _commit(self, commit_id: bytes | None) -> Any:
        return self._object(commit_id or b"", b"commit")

    def _tree(self, tree_id: bytes) -> Any:
        return self._object(tree_id, b"tree")

    def _data(self, blob_id: bytes) -> bytes:
        data: bytes = self._object(blob_id).as_raw_string()
        return data

    def _read(self, commit_id: bytes) -> tuple[bytes | None, Revision]:
        """The parent of a commit, and the commit as a revision."""
        commit = self._commit(commit_id)
        parent = commit.parents[0] if commit.parents else None
        before = self._commit(parent).tree if parent else None
        revision = replace(
            git_objects.read_message(commit.message.decode("utf-8", "replace")),
            when=datetime.fromtimestamp(commit.commit_time, UTC),
            id=commit.id.decode(),
            is_first=parent is None,
            paths=tuple(sorted(self._changed_files(before, commit.tree))),
        )
        if len(self._walked) >= MAX_WALKED:
            self._walked.clear()
        self._walked[commit_id] = parent, revision
        return parent, revision

    def _changed_files(self, old: bytes | None, new: bytes | None) -> dict[str, tuple[bytes | None, bytes | None]]:
        """The pages that differ between two trees: path → (old blob, new blob)."""
        changed: dict[str, tuple[bytes | None, bytes | None]] = {}
        for (old_path, new_path), modes, blobs in self._repo.object_store.tree_changes(old, new):
            sides = [
                blob if path and git_objects.is_kept(path, mode) else None
                for path, mode, blob in zip((old_path, new_path), modes, blobs, strict=True)
            ]
            if sides[0] != sides[1]:
                changed[git_objects.path_of(old_path or new_path)] = (sides[0], sides[1])
        return changed

    def _ask(self, ask: Callable[[], Answer]) -> Answer:
        """Returns the result of `ask`. If the repository seems damaged, asks once more: another process may have just
        packed it, or a power cut has taken objects that were not flushed."""
        with self._lock:
            try:
                with self._explained():
                    return ask()
            except HistoryDamaged:
                time.sleep(GIT_SECONDS)
                self._close()
                self._mend()
                with self._explained():
                    return ask()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Keeps the repository open. Any exception becomes a `StorageError`: dulwich raises all kinds for damage."""
        with self._lock, self.held_open():
            try:
                yield
            except SilicaError:
                raise
            except OSError as error:
                raise StorageError(f"cannot reach the history in {self._name}: {disk.advice(error)}") from error
            except Exception as error:
                if type(error).__name__ == "FileLocked":  # dulwich is imported only where it is needed
                    raise _Locked(f"the history in {self._place} is locked: {error}") from error
                raise HistoryDamaged(
                    f"the history in {self._name} is damaged ({type(error).__name__}); the pages are not: "
                    f"{self._advice}"
                ) from error

    @contextmanager
    def held_open(self) -> Iterator[None]:
        """Leaves the repository open between calls."""
        with self._lock:
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._close()


class _Locked(StorageError):
    """A file of the repository is locked, by a running git process or by one that died."""
