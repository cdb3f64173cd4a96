"""Pages as files in a folder: `projects/silica` is the file `<folder>/projects/silica.md`."""

from __future__ import annotations

import os
import stat
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory_v2.errors import PageNotFound, StorageError, Unreadable
from memory_v2.storage.base import ABSENT, ANY, Expected, Leftover, Stamp, StateFiles, Stored, conflict, version_of
from memory_v2.storage.history import Revision
from memory_v2.storage.local import disk
from memory_v2.storage.local.leftovers import find_leftovers, find_others, remove_leftover
from memory_v2.storage.local.state_files import LocalState
from memory_v2.storage.local.walk import INNER, LINK, METADATA, FolderMarks, is_memory, walk
from memory_v2.storage.versioned import FairLock, VersionedStorage
from memory_v2.tree.path import ENTRIES, SUFFIX, TakenPaths, name_problem, page_path, prefixes

if TYPE_CHECKING:
    from memory_v2.storage.local.git_history import GitHistory

LOCK_SECONDS = 30.0
"""How long to wait for the lock, in seconds. A change holds it for milliseconds, and never during a model request."""

MAX_VERSIONS = 10_000
"""Of how many pages the version is remembered: about a megabyte."""

GITIGNORE = b"""# The program's own data, not for the git repository around it; the pages may well be.
*
"""


class LocalStorage(VersionedStorage):
    """Pages on the local disk. The folder need not exist: the first write creates it, a read does not."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(disk.to_system(str(folder.absolute())))
        self.where = disk.from_system(str(self._folder))
        self._queue = FairLock()
        self._holder = 0
        self._listed: frozenset[str] = frozenset()
        """The paths of the last walk, spelled as on the disk."""
        self._listed_entries: frozenset[str] = frozenset()
        """The same of the last walk through entries."""
        self._unlisted: dict[str, str] = {}
        self._versions: dict[str, tuple[Stamp, str]] = {}
        """For pages that were read, the stamp then and the version of the bytes."""
        self._checked = 0
        """When the folder of the program's own data, as checked for links, was last changed."""
        self._has_been_there = False
        """Whether this process has seen pages or data of the program in the folder."""
        self._folder_marks = FolderMarks(self._folder)
        self.state: StateFiles = LocalState(self._folder / METADATA, self._metadata, self._expect_no_links)
        with disk.explained("open the memory folder", self._folder), suppress(FileNotFoundError):
            if not stat.S_ISDIR(self._folder.stat().st_mode):
                raise StorageError(f"the memory folder {self._folder} is a file; name a folder, or move it away")

    @cached_property
    def history(self) -> GitHistory:
        from memory_v2.storage.local.git_history import GitHistory

        self._expect_no_links()
        return GitHistory(self._folder / METADATA)

    @property
    def cache_folder(self) -> Path | None:
        try:
            return self._metadata() if self._folder.is_dir() else None
        except OSError:
            return None

    def read(self, path: str) -> Stored:
        file, found = self._look(path)
        if not disk.is_file(found):
            self._expect_folder()
            raise PageNotFound(path)
        with disk.reading(file):
            try:
                data = disk.read_bytes(file)
            except FileNotFoundError:
                raise PageNotFound(path) from None
        stored = Stored(data, version_of(data))
        if len(self._versions) >= MAX_VERSIONS:
            self._versions.clear()
        self._versions[path] = Stamp(path, found.st_size, disk.mark_of(found, time.time_ns())), stored.version
        return stored

    def _version(self, path: str) -> str | None:
        """Without another look at its bytes, if the page has not changed since it was read."""
        found = self._look(path)[1]
        known = self._versions.get(path)
        if known and disk.is_file(found) and known[0] == (path, found.st_size, disk.mark_of(found, time.time_ns())):
            return known[1]
        return super()._version(path)

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        self._expect_folder()
        file, found = self._look(path, to_write=True)
        if found is not None and not disk.is_file(found):
            raise StorageError(f"cannot write {file}: a folder or a device is there; move it away")
        temporary = disk.new_temporary(file.parent)
        with disk.explained("write", file):
            there = next(folder for folder in file.parents if folder == self._folder or folder.is_dir())
            try:
                disk.make_folder(file.parent)
                disk.store_bytes(temporary, data, found)
                if expected == ABSENT:
                    self._create(temporary, file, path)
                else:
                    self._expect(path, expected)
                    self._replace(temporary, file, path, expected, found)
            finally:
                with suppress(OSError):
                    temporary.unlink()
                self._prune(file.parent, there)  # after a failure; a folder that holds a page is not empty and stays
            disk.sync_folder(file.parent)
        return version_of(data)

    def delete(self, path: str, expected: Expected = ANY) -> None:
        file, found = self._look(path)
        if not disk.is_file(found):
            if isinstance(expected, str):
                raise PageNotFound(path)
            return
        with disk.explained("delete", file):
            self._expect(path, expected)
            self._remove(file, path, expected)
            disk.sync_folder(self._prune(file.parent, self._folder))
            self._has_been_there &= any(self._folder.iterdir())  # or it was emptied here, and nothing is gone

    def exists(self, path: str) -> bool:
        try:
            return disk.is_file(self._look(path)[1])
        except _Outside:
            return False

    def list_files(self) -> list[str]:
        return sorted(self._walk())

    def get_size(self, path: str) -> int:
        return self._info(path).st_size

    def get_modified_time(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._info(path).st_mtime, UTC)

    def stamps(self, below: str = "") -> Iterator[Stamp]:
        now = time.time_ns()
        for path, entry in self._walk(below).items():
            try:
                info = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # removed since the walk
                continue
            except OSError:  # whoever reads the page learns why
                yield Stamp(path, 0, f"{now:x}")
                continue
            yield Stamp(path, info.st_size, disk.mark_of(info, now))

    def folder_marks(self, below: str) -> dict[str, str]:
        return self._folder_marks.below(below)

    def ignored_files(self, below: str = "") -> list[tuple[str, str]]:
        found = walk(self._folder, below)
        return sorted(found.ignored + (list(found.unlisted.items()) if below else []))

    def decomposed_names(self, rename: bool = False) -> dict[str, str]:
        taken, found = TakenPaths(self.list_files()), {}
        for name, _ in self.ignored_files():
            path = unicodedata.normalize("NFC", name).removesuffix(SUFFIX)
            is_one = f"{path}{SUFFIX}" != name and name_problem(f"{path}{SUFFIX}") is None
            if is_one and path not in taken and disk.is_file(disk.lstat(self._folder / disk.to_system(name))):
                taken.add(path)
                found[name] = path
        for name, path in found.items() if rename else ():
            self._rename(self._folder / disk.to_system(name), path)
        return found

    def _rename(self, file: Path, path: str) -> None:
        """Makes a file this page, unless something is there."""
        new = self._file(path)
        with self.lock(), disk.explained("rename", file):
            if disk.lstat(new) is None:
                disk.make_folder(new.parent)
                file.rename(new)
                disk.sync_folder(new.parent)
                disk.sync_folder(self._prune(file.parent, self._folder))

    def recorded_at(self, revision: Revision) -> datetime:
        objects = self._folder / METADATA / "history.git" / "objects"
        commit = disk.lstat(objects / revision.id[:2] / revision.id[2:])  # inside, git knows seconds only
        return datetime.fromtimestamp(commit.st_mtime, UTC) if commit else super().recorded_at(revision)

    def unlisted_folders(self) -> dict[str, str]:
        return self._unlisted

    def remove_temporary(self, paths: Iterable[str]) -> None:
        for folder in {self._file(path).parent for path in paths}:
            with suppress(OSError):
                for file in folder.iterdir():
                    if disk.is_temporary(file.name):
                        file.unlink(missing_ok=True)
            self._prune(folder, self._folder)

    def leftovers(self, holds: Callable[[bytes], bool]) -> list[Leftover]:
        return [Leftover(name) for name in find_leftovers(self._folder, holds)]

    def remove_leftovers(self, leftovers: Iterable[Leftover]) -> None:
        for leftover in leftovers:
            remove_leftover(self._folder, leftover.name)

    def other_files(self, holds: Callable[[bytes], bool]) -> list[str]:
        entries = (stamp.path for stamp in self.stamps(ENTRIES))
        return find_others(self._folder, {*self.list_files(), *entries}, holds)

    @contextmanager
    def lock(self, wait: bool = True) -> Iterator[None]:
        """Re-entrant in a thread. Raises `StorageError` if others hold it for `LOCK_SECONDS`."""
        from filelock import FileLock, Timeout  # 40 ms of start-up, which reading should not pay

        file = self._folder / METADATA / "lock"
        if self._holder == threading.get_ident():
            yield
            return
        # Threads wait here, in order; the file lock, which must be polled, is for other processes.
        seconds = LOCK_SECONDS if wait else 0.0
        if not self._queue.acquire(seconds):
            raise StorageError(f"another thread has held {file} for {seconds:.0f} seconds; try again later")
        try:
            with disk.explained("lock", file):
                self._metadata()
                lock = FileLock(file, mode=0o600, is_singleton=True, fallback_to_soft=False)
                try:
                    lock.acquire(timeout=seconds, poll_interval=0.005)
                except Timeout as error:
                    raise StorageError(
                        f"another process has held {file} for {seconds:.0f} seconds; try again when it is done"
                    ) from error
                disk.leave_to_owner_above(file)
            self._holder = threading.get_ident()
            try:
                with self.history.held_open():
                    yield
            finally:
                self._holder = 0
                lock.release()
        finally:
            self._queue.release()

    def _walk(self, below: str = "") -> dict[str, os.DirEntry[str]]:
        found = walk(self._folder, below)
        if found.pages:
            self._has_been_there = True
        else:
            self._expect_folder()
        if below:
            self._listed_entries = frozenset(found.pages)
        else:
            self._listed, self._unlisted = frozenset(found.pages), found.unlisted
        return found.pages

    def _look(self, path: str, to_write: bool = False) -> tuple[Path, os.stat_result | None]:
        """The page's file and its status, or `None` if it does not exist. Raises `_Outside` if the file or a folder
        above it is a symbolic link, or that folder is of another memory. On a disk that ignores case, a page is found
        under one spelling only, and another spelling of an existing page cannot be written."""
        path = page_path(path)  # the last check before the disk: callers are not trusted
        file = self._file(path)
        is_spelled_so = path in self._listed or path in self._listed_entries
        found = None
        for place in (*(self._folder / disk.to_system(folder) for folder in prefixes(path)[:-1]), file):
            with disk.explained("look at", place, Unreadable):
                found = disk.lstat(place)
                other = None if found is None or is_spelled_so else disk.spelling(place)
            if found is None:
                break
            if disk.is_link(found):
                raise _Outside(f"{place} {LINK}")
            if place is not file and is_memory(place):
                raise _Outside(f"{place} {INNER}")
            if other and other != place.name:
                if to_write:
                    raise StorageError(f"cannot write {place}: to this disk that is {other!r}, which is there already")
                return file, None
        return file, found

    def _file(self, path: str) -> Path:
        return self._folder / disk.to_system(f"{path}{SUFFIX}")

    def _info(self, path: str) -> os.stat_result:
        found = self._look(path)[1]
        if not disk.is_file(found):
            raise PageNotFound(path)
        return found

    def _expect(self, path: str, expected: Expected) -> None:
        if expected != ANY and expected != (self._version(path) or ABSENT):
            raise conflict(path, expected)

    def _create(self, temporary: Path, file: Path, path: str) -> None:
        """Moves the new file into place. If several try at once, one succeeds."""
        try:
            os.link(temporary, file)
        except FileExistsError:
            raise conflict(path, ABSENT) from None
        except OSError:  # no hard links on this disk; the lock keeps other writers away
            with self.lock():
                if disk.lstat(file) is not None:
                    raise conflict(path, ABSENT) from None
                temporary.replace(file)

    def _replace(
        self, temporary: Path, file: Path, path: str, expected: Expected, found: os.stat_result | None
    ) -> None:
        """Moves the new file into place of the one `found`. An edit made by hand since the last look, however short ago
        that was, is put back, and is a conflict: people take no lock."""
        if expected == ANY or not disk.exchange(temporary, file):
            temporary.replace(file)
            return
        there = disk.lstat(temporary)
        if disk.is_untouched(found, there, time.time_ns()):
            return
        if not disk.is_file(there) or version_of(disk.read_bytes(temporary)) != expected:
            disk.exchange(temporary, file)
            raise conflict(path, expected)

    def _remove(self, file: Path, path: str, expected: Expected) -> None:
        """Removes the file. An edit made by hand since the last look is put back, and is a conflict."""
        if expected == ANY:
            file.unlink(missing_ok=True)
            return
        aside = disk.new_temporary(file.parent)
        with suppress(FileNotFoundError):  # removed by hand since
            file.rename(aside)
            if not disk.is_file(disk.lstat(aside)) or version_of(disk.read_bytes(aside)) != expected:
                self._create(aside, file, path)
                aside.unlink(missing_ok=True)
                raise conflict(path, expected)
            aside.unlink()

    def _prune(self, folder: Path, top: Path) -> Path:
        """Removes `folder` and its parents below `top` while they are empty; returns the first that remains."""
        while folder != top:
            try:
                folder.rmdir()
            except FileNotFoundError:
                pass
            except OSError:
                break
            folder = folder.parent
        return folder

    def _metadata(self) -> Path:
        folder = self._folder / METADATA
        found = self._expect_no_links()
        if found is None:
            self._expect_folder()
        disk.make_folder(folder)
        self._has_been_there = True
        if found is None:  # only in a new folder: a user may have removed it on purpose
            with suppress(OSError):
                disk.store_bytes(folder / ".gitignore", GITIGNORE)
        return folder

    def _expect_no_links(self) -> os.stat_result | None:
        """The status of the folder of the program's own data. Raises `StorageError` if it, or something in it, is a
        symbolic link: a memory may come from a stranger, and a link would lead the program to files of others."""
        folder = self._folder / METADATA
        found = disk.lstat(folder)
        if found is not None and disk.is_link(found):
            raise _Outside(f"{folder} {LINK}")
        if found is not None and found.st_mtime_ns != self._checked and stat.S_ISDIR(found.st_mode):
            with suppress(PermissionError), os.scandir(folder) as files:
                if link := next((file.path for file in files if file.is_symlink()), ""):
                    raise _Outside(f"{link} {LINK}")
            self._checked = found.st_mtime_ns
        return found

    def _expect_folder(self) -> None:
        """Raises `StorageError` if the folder was there and is gone: an empty memory would be a false answer, and a
        change would begin another memory in its place."""
        if not self._has_been_there or disk.lstat(self._folder / METADATA) is not None:
            return
        with suppress(FileNotFoundError):
            if any(self._folder.iterdir()):  # only the program's own data was removed
                return
        raise StorageError(
            f"the memory folder {self._folder} is gone: it was moved, deleted or unmounted while it was open; put it "
            "back, or open the memory again, where it is now"
        )


class _Outside(StorageError):
    """A symbolic link, or the folder of another memory, is where a page or a folder should be."""
