"""Pages as files in a folder: `projects/silica` is the file `<folder>/projects/silica.md`."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TypeGuard

from memory_v2.errors import InvalidPath, PageNotFound, StorageConflict, StorageError
from memory_v2.storage.base import ABSENT, ANY, Expected, Stamp, Stored
from memory_v2.tree.path import fold, is_page_path, page_path, prefixes

LOCK_SECONDS = 30.0
METADATA = ".metadata"

_SUFFIX = ".md"
_LINK = "is a symbolic link; a memory keeps its pages inside its own folder"
_UNSETTLED_NS = 50_000_000


class LocalStorage:
    """Pages on the local disk. The folder need not exist: the first write makes it, reading leaves it unmade."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        with _explained("open the memory folder", self._folder), suppress(FileNotFoundError):
            if not stat.S_ISDIR(self._folder.stat().st_mode):
                raise StorageError(f"the memory folder {self._folder} is a file; name a folder, or move it away")

    @property
    def where(self) -> str:
        return str(self._folder)

    @property
    def cache_folder(self) -> Path | None:
        try:
            folder = self._metadata() if self._folder.is_dir() else None
        except OSError:
            return None
        return folder if folder and os.access(folder, os.W_OK | os.X_OK) else None

    def read(self, path: str) -> Stored:
        file, found = self._look(path)
        if not _is_file(found):
            raise PageNotFound(path)
        with _explained("read", file):
            try:
                data = _bytes(file)
            except FileNotFoundError:
                raise PageNotFound(path) from None
        return Stored(data, _version(data))

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        file, found = self._look(path)
        if found is not None and not _is_file(found):
            raise StorageError(f"cannot write {file}: a folder or a device is there; move it away")
        temporary = file.parent / f".silica-{os.urandom(8).hex()}.tmp"
        with _explained("write", file):
            try:
                _make_folder(file.parent)
                _store(temporary, data)
                if expected == ABSENT:
                    _create(temporary, file, path)
                else:
                    self._expect(path, expected)
                    temporary.replace(file)
            finally:
                with suppress(OSError):
                    temporary.unlink()
                self._prune(file.parent)  # after a failure; a folder that holds a page is not empty and stays
            _sync_folder(file.parent)
        return _version(data)

    def delete(self, path: str, expected: Expected = ANY) -> None:
        file, found = self._look(path)
        if not _is_file(found):
            if isinstance(expected, str):
                raise PageNotFound(path)
            return
        with _explained("delete", file):
            self._expect(path, expected)
            file.unlink(missing_ok=True)
            _sync_folder(self._prune(file.parent))

    def exists(self, path: str) -> bool:
        try:
            return _is_file(self._look(path)[1])
        except _Link:
            return False

    def list_files(self) -> list[str]:
        return sorted(self._walk()[0])

    def get_size(self, path: str) -> int:
        return self._info(path).st_size

    def get_modified_time(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._info(path).st_mtime, UTC)

    def stamps(self) -> Iterator[Stamp]:
        now = time.time_ns()
        with _explained("list", self._folder):
            for path, entry in self._walk()[0].items():
                try:
                    info = entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # removed since the walk
                    continue
                yield Stamp(path, info.st_size, _mark(info, now))

    def strays(self) -> list[tuple[str, str]]:
        return sorted(self._walk()[1])

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Re-entrant in a thread; raises `StorageError` when others have held it for `LOCK_SECONDS`."""
        from filelock import FileLock, Timeout  # 40 ms of start-up, which reading should not pay

        file = self._folder / METADATA / "lock"
        with _explained("lock", file):
            self._metadata()
            lock = FileLock(file, mode=0o600, is_singleton=True)
            try:
                lock.acquire(timeout=LOCK_SECONDS, poll_interval=0.005)
            except Timeout as error:
                raise StorageError(
                    f"another process has held {file} for {LOCK_SECONDS:.0f} seconds; try again when it is done"
                ) from error
        try:
            yield
        finally:
            lock.release()

    def _look(self, path: str) -> tuple[Path, os.stat_result | None]:
        """The file of the page and what is there, if anything; refuses a symbolic link on the way to it."""
        path = page_path(path)  # the last door before the disk: nothing above it is trusted to have looked
        file = self._folder / f"{path}{_SUFFIX}"
        found = None
        for place in (*(self._folder / folder for folder in prefixes(path)[:-1]), file):
            with _explained("look at", place):
                found = _lstat(place)
            if found is None:
                break
            if _is_link(found):
                raise _Link(f"{place} {_LINK}")
        return file, found

    def _info(self, path: str) -> os.stat_result:
        found = self._look(path)[1]
        if not _is_file(found):
            raise PageNotFound(path)
        return found

    def _expect(self, path: str, expected: Expected) -> None:
        if expected == ANY:
            return
        try:
            version = self.read(path).version
        except PageNotFound:
            version = None
        if expected != (version or ABSENT):
            raise _conflict(path, expected)

    def _prune(self, folder: Path) -> Path:
        """Removes `folder` and those above it while they are empty; returns the first that stays."""
        while folder != self._folder:
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
        found = _lstat(folder)
        if found is not None and _is_link(found):
            raise _Link(f"{folder} {_LINK}")
        _make_folder(folder)
        return folder

    def _walk(self) -> tuple[dict[str, os.DirEntry[str]], list[tuple[str, str]]]:
        """The pages, and the strays with their reasons."""
        pages: dict[str, os.DirEntry[str]] = {}
        strays: list[tuple[str, str]] = []
        folders = [""]
        while folders:
            above = folders.pop()
            with _explained("list", self._folder / above):
                for entry in _entries(self._folder / above):
                    name = above + entry.name
                    if problem := _problem(name, entry):
                        strays.append((name, problem))
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(f"{name}/")
                    elif name.endswith(_SUFFIX):
                        pages[name.removesuffix(_SUFFIX)] = entry
        for path, kept in _case_clashes(pages).items():
            del pages[path]
            strays.append((f"{path}{_SUFFIX}", f"its path equals {kept!r} in all but case; rename one of the two"))
        return pages, strays


class _Link(StorageError):
    """A symbolic link stands where a page or a folder should."""


def _version(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _conflict(path: str, expected: Expected) -> StorageConflict:
    happened = "is there already" if expected == ABSENT else "is no longer as it was when it was read"
    return StorageConflict(f"the page {path!r} {happened}; read it and try again")


def _mark(info: os.stat_result, now: int) -> str:
    mark = f"{info.st_mtime_ns:x}-{info.st_ctime_ns:x}-{info.st_ino:x}"
    # A disk's clock ticks every few milliseconds: a file changed just now can be changed once more without a trace.
    # Until that moment has passed, no stamp of it is equal to a later one.
    settled = abs(now - max(info.st_mtime_ns, info.st_ctime_ns)) > _UNSETTLED_NS
    return mark if settled else f"{mark}-{now:x}"


def _bytes(file: Path) -> bytes:
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags), "rb") as stream:
        return stream.read()


def _store(temporary: Path, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        temporary.chmod(0o600)  # the umask may have taken some of it away
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _create(temporary: Path, file: Path, path: str) -> None:
    """Puts the file in its place; of several that try at once, one succeeds."""
    try:
        os.link(temporary, file)
    except FileExistsError:
        raise _conflict(path, ABSENT) from None
    except OSError:  # no hard links on this disk: the lock that writers hold is what keeps others away
        if _lstat(file) is not None:
            raise _conflict(path, ABSENT) from None
        temporary.replace(file)


def _make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        _make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        if folder.is_dir():
            return  # somebody else was faster
        raise NotADirectoryError(errno.ENOTDIR, "a file is where a folder should be", str(folder)) from error
    folder.chmod(0o700)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    """Makes the names in the folder durable, where folders can be synced: not on Windows and some network disks."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)


def _lstat(place: Path) -> os.stat_result | None:
    try:
        return place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_file(found: os.stat_result | None) -> TypeGuard[os.stat_result]:
    return found is not None and stat.S_ISREG(found.st_mode)


def _is_link(found: os.stat_result) -> bool:
    junction = 0xA0000003  # what Windows calls a mount point: a link between folders that is no symbolic link
    return stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == junction


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:  # an absent memory, or a folder that has just been removed
        return []


def _leads_away(entry: os.DirEntry[str]) -> bool:
    # Only Windows has junctions; a stat for each entry is what it costs there.
    return entry.is_symlink() or (os.name == "nt" and _is_link(entry.stat(follow_symlinks=False)))


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _problem(name: str, entry: os.DirEntry[str]) -> str | None:
    """Why an entry that somebody could take for a page, or for a folder of pages, is none."""
    markdown = name[-len(_SUFFIX) :].lower() == _SUFFIX
    if _leads_away(entry):
        return _LINK if markdown or _leads_to_folder(entry) else None
    if not markdown or entry.is_dir(follow_symlinks=False):
        return None
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    if not name.endswith(_SUFFIX):
        return f"the name of a page ends in {_SUFFIX!r}, in lower case"
    path = name.removesuffix(_SUFFIX)
    return None if _is_page_path(path) else _broken_rule(path)


_is_page_path = lru_cache(maxsize=1 << 20)(is_page_path)  # the same names at every walk: 0.1 µs instead of 7


def _broken_rule(path: str) -> str:
    try:
        page_path(path)
    except InvalidPath as error:
        return str(error)
    return "its name is not in Unicode NFC"


def _case_clashes(paths: Iterable[str]) -> dict[str, str]:
    """The paths that a disk without case would hold to be another one (or below it), each with that other one.

    Of such names the last in code point order stays a page, which is the one in lower case.
    """
    names = set(paths)
    for path in list(names):
        while (path := path.rpartition("/")[0]) and path not in names:
            names.add(path)
    if len({fold(name) for name in names}) == len(names):
        return {}
    kept = {fold(name): name for name in sorted(names)}
    clashes = {}
    for path in paths:
        for prefix in prefixes(path):
            if (other := kept[fold(prefix)]) != prefix:
                clashes[path] = other
                break
    return clashes


@contextmanager
def _explained(action: str, place: Path) -> Iterator[None]:
    """Turns an error of the operating system into one that says what to do."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        told = StorageError(f"cannot {action} {place}: {_advice(error)}")
        told.errno = error.errno
        raise told from error


def _advice(error: OSError) -> str:
    match error.errno:
        case errno.EACCES | errno.EPERM:
            return "permission is denied; make it readable and writable for you, or choose another folder"
        case errno.EROFS:
            return "the disk is read-only; make it writable, or choose another folder"
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return "the disk is full, or a quota or limit on file sizes is reached; make room and try again"
        case errno.ENAMETOOLONG:
            return "the name is too long for this disk; choose a shorter path or another folder"
        case errno.ENOENT:
            return "its folder cannot be made, or has been removed meanwhile; try again, or choose another folder"
        case errno.ENOTDIR | errno.EEXIST:
            return "a file is where a folder should be; move it away, or choose another folder"
        case _:
            return f"{error.strerror or error}; see whether the disk is all right and try again"
