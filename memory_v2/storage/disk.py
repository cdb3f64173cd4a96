"""What a file system can be asked for, done durably: whole files, folders, and errors that say what to do."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeGuard

from memory_v2.errors import StorageError


def read_bytes(file: Path) -> bytes:
    """The bytes of a file that is no link."""
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with os.fdopen(os.open(file, flags), "rb") as stream:
        return stream.read()


def store_bytes(temporary: Path, data: bytes) -> None:
    """Makes a new file of these bytes that only its owner can read, on the disk when the call returns."""
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


def make_folder(folder: Path) -> None:
    """Makes the folder and those above it, for their owner only; one that is there stays as it is."""
    if folder.is_dir():
        return
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileExistsError as error:
        if folder.is_dir():
            return  # somebody else was faster
        raise NotADirectoryError(errno.ENOTDIR, "a file is where a folder should be", str(folder)) from error
    folder.chmod(0o700)
    sync_folder(folder.parent)


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
        case _:
            return f"{error.strerror or error}; see whether the disk is all right and try again"
