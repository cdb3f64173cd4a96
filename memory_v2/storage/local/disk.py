"""Durable file operations: whole files, folders, and errors that say what to do; and marks of files and folders."""

from __future__ import annotations

import errno
import os
import stat
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TypeGuard

from memory_v2.errors import StorageError, Unreadable
from memory_v2.tree.path import fold

_EVERYWHERE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ESTALE, errno.ENOTCONN, errno.EHOSTDOWN)
"""Failures of this process or of the whole disk, not of the file that is being read."""
_IS_UTF_8 = sys.getfilesystemencoding() == "utf-8"
"""Not so if the locale is C or Latin-1 and UTF-8 mode is off."""
_UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def read_bytes(file: Path) -> bytes:
    """The bytes of a regular file. Symbolic links are not followed, and nothing waits for a pipe or a device."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(file, flags), "rb", buffering=0) as stream:
        expect_regular(file, os.fstat(stream.fileno()))
        return stream.read()


def expect_regular(place: Path, found: os.stat_result | None) -> None:
    """Raises `OSError` if something is there, and it is no regular file: to open a pipe may take for ever."""
    if found is not None and not is_file(found):
        raise OSError(errno.ENXIO, "it is not a regular file; move it away", str(place))


def store_bytes(
    temporary: Path, data: bytes, instead_of: os.stat_result | None = None, is_flushed: bool = True
) -> None:
    """Creates a file with these bytes, flushed to the disk when the call returns unless told otherwise. It gets the
    mode and the owner of the file that it is to replace; otherwise only its owner can read it, who is that of the
    folder if root creates it."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        if instead_of is not None:
            _give_to_owner(temporary, instead_of)
        else:
            leave_to_owner_above(temporary)
        _permit(temporary, stat.S_IMODE(instead_of.st_mode) & 0o777 if instead_of else 0o600)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if is_flushed:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_bytes(file: Path, data: bytes, is_flushed: bool = True, temporary_in: Path | None = None) -> None:
    """Creates or replaces the file: atomically, and if `is_flushed` durably when the call returns. The temporary file
    may be in another folder of the same disk."""
    temporary = new_temporary(temporary_in or file.parent)
    try:
        make_folder(file.parent, is_flushed)
        store_bytes(temporary, data, is_flushed=is_flushed)
        temporary.replace(file)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    if is_flushed:
        sync_folder(file.parent)


def exchange(first: Path, second: Path) -> bool:
    """Gives two files each other's names, at once; `False` if the system or the disk cannot, or one is not there."""
    swap = _exchanging()
    return swap is not None and swap(os.fsencode(first), os.fsencode(second)) == 0


@cache
def _exchanging() -> Callable[[bytes, bytes], int] | None:
    if sys.platform not in ("linux", "darwin"):
        return None
    import ctypes  # 3 ms of start-up, which reading should not pay

    library, here = ctypes.CDLL(None), -100
    if sys.platform == "darwin":
        function = getattr(library, "renamex_np", None)
        return function and (lambda first, second: function(first, second, 2))
    function = getattr(library, "renameat2", None)
    return function and (lambda first, second: function(here, first, here, second, 2))


def to_system(name: str) -> str:
    """A name as this process gives it to the system, so that it is UTF-8 on the disk, whatever the locale is."""
    return name if _IS_UTF_8 else os.fsdecode(name.encode("utf-8", "surrogateescape"))


def from_system(name: str) -> str:
    """The name that the system gave this process; see `to_system`."""
    return name if _IS_UTF_8 else os.fsencode(name).decode("utf-8", "surrogateescape")


def new_temporary(folder: Path) -> Path:
    """An unused file name in the folder; see `is_temporary`."""
    return folder / f".silica-{os.urandom(8).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether this is the name of a temporary file, of a running or an interrupted write."""
    return name.startswith(".silica-") and name.endswith(".tmp")


def make_folder(folder: Path, is_flushed: bool = True) -> None:
    """Creates the folder and its parents, for their owner only. An existing folder stays as it is."""
    try:
        folder.mkdir(mode=0o700)  # without looking first: a network disk may answer from its cache
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        make_folder(folder.parent, is_flushed)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        if folder.is_dir():
            return
        if isinstance(error, FileExistsError):
            problem = "a file is where a folder should be"
            raise NotADirectoryError(errno.ENOTDIR, problem, str(folder)) from error
        raise
    leave_to_owner_above(folder)
    _permit(folder, 0o700)
    if is_flushed:
        sync_folder(folder.parent)


def _permit(place: Path, mode: int) -> None:
    """Sets the mode, regardless of the umask. Disks without file modes, such as a memory stick, are left as they
    are."""
    try:
        place.chmod(mode)
    except OSError as error:
        if error.errno not in (errno.EPERM, *_UNSUPPORTED):
            raise


def create_private(file: Path) -> None:
    """Creates an empty file that only its owner can read, unless the file is there: SQLite would let others read it."""
    # Never open an existing file here: closing it again would drop the locks that SQLite holds on it in this process.
    with suppress(FileExistsError):
        os.close(os.open(file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        leave_to_owner_above(file)


def leave_to_owner_above(place: Path) -> None:
    """Gives what root has just created to the owner of the folder that it is in, who could not read it otherwise."""
    if sys.platform != "win32" and os.geteuid() == 0:
        _give_to_owner(place, place.parent.stat())


def _give_to_owner(place: Path, like: os.stat_result) -> None:
    """Sets a file's owner and group to those of another file, if that is allowed: root may write in another user's
    folder."""
    if sys.platform != "win32":
        for owner, group in ((-1, like.st_gid), (like.st_uid, -1)):
            with suppress(OSError):
                os.chown(place, owner, group, follow_symlinks=False)


def sync_folder(folder: Path) -> None:
    """Flushes the names in the folder to the disk. Does nothing on Windows and on disks that cannot do it."""
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


def lstat(place: Path) -> os.stat_result | None:
    """The status of a file or folder, without following links; `None` if it does not exist."""
    try:
        return os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_file(found: os.stat_result | None) -> TypeGuard[os.stat_result]:
    """Whether it is a regular file."""
    return found is not None and stat.S_ISREG(found.st_mode)


def is_link(found: os.stat_result) -> bool:
    """Whether it is a symbolic link, or a junction on Windows."""
    junction = 0xA0000003  # IO_REPARSE_TAG_MOUNT_POINT: a link between folders that is not a symbolic link
    return stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == junction


def spelling(place: Path) -> str:
    """The file's name as stored on the disk, in NFC: a disk that ignores case also finds it under other spellings."""
    if not _is_found_in_other_case(place):
        return place.name
    names = [unicodedata.normalize("NFC", other.name) for other in place.parent.iterdir()]
    if place.name in names:
        return place.name
    return next((name for name in names if fold(name) == fold(place.name)), place.name)


def _is_found_in_other_case(place: Path) -> bool:
    name = place.name
    other = "".join(c.swapcase() if c.isascii() else c for c in name)
    if other == name:
        other = name.swapcase()
    try:
        return other != name and lstat(place.with_name(other)) is not None
    except OSError:  # the name is too long: "ß" becomes two letters in the other case
        return False


@contextmanager
def explained(action: str, place: Path, kind: type[StorageError] = StorageError) -> Iterator[None]:
    """Turns an `OSError` into a `StorageError`, of this kind, that says what to do."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        explanation = kind(f"cannot {action} {place}: {advice(error)}")
        explanation.errno = error.errno
        raise explanation from error


@contextmanager
def reading(place: Path) -> Iterator[None]:
    """Turns an `OSError` into `Unreadable`, or into another `StorageError` if other files cannot be read either."""
    try:
        with explained("read", place, Unreadable):
            yield
    except Unreadable as error:
        if error.errno in _EVERYWHERE:
            raise StorageError(str(error)) from error
        raise


def advice(error: OSError) -> str:
    """What happened and what to do about it."""
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
            said = error.strerror or error
            return f"its folder cannot be made there, or was removed meanwhile ({said}); choose another folder"
        case errno.ENOTDIR | errno.EEXIST:
            return "a file is where a folder should be; move it away, or choose another folder"
        case errno.ENOLCK | errno.ENOSYS | errno.ENOTSUP | errno.EOPNOTSUPP:
            return f"this disk cannot do that ({error.strerror or error}); choose a folder on another one"
        case _:
            return f"{error.strerror or error}; see whether the disk is all right and try again"


UNSETTLED_NS = 50_000_000
"""The age, in nanoseconds, below which a file's times may not show a later change: several ticks of a disk's clock."""


def mark_of(info: os.stat_result, now: int) -> str:
    """The mark of a file or folder, at a moment in nanoseconds."""
    mark = f"{info.st_mtime_ns:x}-{info.st_ctime_ns:x}-{info.st_ino:x}"
    # A disk's clock ticks every few milliseconds: a file changed just now can change again and keep its times. So the
    # marks of a recently changed file are never equal to later ones.
    settled = abs(now - max(info.st_mtime_ns, info.st_ctime_ns)) > UNSETTLED_NS
    return mark if settled else f"{mark}-{now:x}"


def is_untouched(before: os.stat_result | None, after: os.stat_result | None, now: int) -> bool:
    """Whether a file that was perhaps renamed in between has certainly the bytes that it had; see `mark_of`."""
    if before is None or after is None or now - before.st_mtime_ns <= UNSETTLED_NS:
        return False
    return (before.st_ino, before.st_size, before.st_mtime_ns) == (after.st_ino, after.st_size, after.st_mtime_ns)
