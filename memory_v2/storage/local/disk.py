"""What a file system can be asked for, done durably: whole files, folders, and errors that say what to do."""

from __future__ import annotations

import errno
import os
import stat
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeGuard

from memory_v2.errors import StorageError
from memory_v2.tree.path import fold

_UNSUPPORTED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def read_bytes(file: Path) -> bytes:
    """The bytes of a file that is no link."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags), "rb") as stream:
        return stream.read()


def store_bytes(temporary: Path, data: bytes, instead_of: os.stat_result | None = None) -> None:
    """Makes a new file of these bytes, on the disk when the call returns. Only its owner can read it, or whoever could
    read the file that it takes the place of."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, 0o600)
    try:
        if instead_of is not None:
            _give_to_owner(temporary, instead_of)
        _permit(temporary, stat.S_IMODE(instead_of.st_mode) & 0o777 if instead_of else 0o600)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_bytes(file: Path, data: bytes) -> None:
    """Makes the file one of these bytes, whatever it was: durable when the call returns, and never half of it."""
    temporary = new_temporary(file.parent)
    try:
        make_folder(file.parent)
        store_bytes(temporary, data)
        temporary.replace(file)
    finally:
        with suppress(OSError):
            temporary.unlink()
    sync_folder(file.parent)


def new_temporary(folder: Path) -> Path:
    """A name that no file has yet; see `is_temporary`."""
    return folder / f".silica-{os.urandom(8).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether a file of this name was made by a write that did not end, or has not yet."""
    return name.startswith(".silica-") and name.endswith(".tmp")


def make_folder(folder: Path) -> None:
    """Makes the folder and those above it, for their owner only; one that is there stays as it is."""
    try:
        folder.mkdir(mode=0o700)  # whether it is there is not asked first: a network disk may answer from memory
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        if folder.is_dir():
            return
        if isinstance(error, FileExistsError):
            told = "a file is where a folder should be"
            raise NotADirectoryError(errno.ENOTDIR, told, str(folder)) from error
        raise
    _permit(folder, 0o700)
    sync_folder(folder.parent)


def _permit(place: Path, mode: int) -> None:
    """Sets the mode, of which the umask may have taken some away, on a disk that keeps modes: a memory stick does
    not."""
    try:
        place.chmod(mode)
    except OSError as error:
        if error.errno not in (errno.EPERM, *_UNSUPPORTED):
            raise


def _give_to_owner(place: Path, like: os.stat_result) -> None:
    """Gives a file to whom another one belongs, as far as we may: root writes in the folder of somebody else, say."""
    if sys.platform != "win32":
        for owner, group in ((-1, like.st_gid), (like.st_uid, -1)):
            with suppress(OSError):
                os.chown(place, owner, group, follow_symlinks=False)


def sync_folder(folder: Path) -> None:
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


def lstat(place: Path) -> os.stat_result | None:
    """What is in a place, links not followed; `None` if nothing."""
    try:
        return place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def is_file(found: os.stat_result | None) -> TypeGuard[os.stat_result]:
    """Whether it is a regular file."""
    return found is not None and stat.S_ISREG(found.st_mode)


def is_link(found: os.stat_result) -> bool:
    """Whether it leads elsewhere."""
    junction = 0xA0000003  # what Windows calls a mount point: a link between folders that is no symbolic link
    return stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) == junction


def spelling(place: Path) -> str:
    """The name, in NFC, that the disk has for what is in a place: one that ignores case finds it under other names."""
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
    except OSError:  # too long a name: "ß" has two letters in the other case
        return False


@contextmanager
def explained(action: str, place: Path) -> Iterator[None]:
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
        case errno.ENOLCK | errno.ENOSYS | errno.ENOTSUP | errno.EOPNOTSUPP:
            return f"this disk cannot do that ({error.strerror or error}); choose a folder on another one"
        case _:
            return f"{error.strerror or error}; see whether the disk is all right and try again"
