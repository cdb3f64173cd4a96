"""Disks of other kinds than the one that the tests run on: the system answers Python as it would on such a disk.

Only what lies in one folder is on that disk. What was seen on real ones (exFAT, NTFS, mounts that are read-only) is
played here; a file that is replaced keeps the spelling of its name, as on NTFS.
"""

from __future__ import annotations

import errno
import fcntl
import os
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_PLACES = {
    "access": 1,
    "chmod": 1,
    "chown": 1,
    "link": 2,
    "listdir": 1,
    "lstat": 1,
    "mkdir": 1,
    "open": 1,
    "remove": 1,
    "rename": 2,
    "replace": 2,
    "rmdir": 1,
    "scandir": 1,
    "stat": 1,
    "unlink": 1,
    "utime": 1,
}
"""The calls of `os` with which a disk is asked, and how many of their arguments are places."""

_WRITING = {"chmod", "chown", "link", "remove", "rename", "replace", "rmdir", "unlink", "utime"}
_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


class Disk:
    """A disk on which a folder lies; each method gives it another property."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._patch = monkeypatch
        self._listdir: Callable[[str | Path], list[str]] = os.listdir
        self._refused: set[Path] = set()

    def ignore_case(self, forms: bool = False) -> None:
        """Names are found in any case, and kept as they were given; with `forms` also in any form of Unicode, as on
        a Mac."""
        for name, places in _PLACES.items():
            self._wrap(name, self._ignoring(places, forms))

    def make_read_only(self, besides: Path | None = None) -> None:
        """Nothing can be changed any more, but what lies below another folder."""
        for name, places in _PLACES.items():
            self._wrap(name, self._refusing(name, places, besides))

    def refuse(self, *places: str) -> None:
        """These files and folders, and what lies below, may not be read."""
        self._refused = {self.folder / place for place in places}
        for place in self._refused:
            os.utime(place)  # as a change of its mode would show
        for name in ("open", "listdir", "scandir", "stat", "lstat"):
            self._wrap(name, self._hiding(name))

    def keep_no_modes(self) -> None:
        """Files have no owners, no modes and no second names, as on a memory stick."""
        for name in ("chmod", "chown", "link"):
            self._wrap(name, self._failing(errno.EPERM))

    def fail_to_open(self, number: int) -> None:
        """No file can be opened; the system says why by this number."""
        self._wrap("open", self._failing(number))

    def keep_no_locks(self, number: int) -> None:
        """Files cannot be locked, as on some disks of other machines; the system says why by this number."""

        def flock(*_: Any) -> None:
            raise OSError(number, os.strerror(number))

        self._patch.setattr(fcntl, "flock", flock)

    def _wrap(self, name: str, behave: Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]) -> None:
        real = getattr(os, name)
        self._patch.setattr(os, name, lambda *args, **more: behave(real, args, more))

    def _ignoring(self, places: int, forms: bool) -> Callable[..., Any]:
        def behave(real: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> Any:
            given = [self._found(arg, forms) if number < places else arg for number, arg in enumerate(args)]
            return real(*given, **more)

        return behave

    def _refusing(self, name: str, places: int, besides: Path | None) -> Callable[..., Any]:
        def behave(real: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> Any:
            where = [Path(os.fsdecode(arg)) for arg in args[:places] if not isinstance(arg, int)]
            here = any(self._has(place) and not (besides and place.is_relative_to(besides)) for place in where)
            writes = name in _WRITING or (name == "open" and args[1] & _FLAGS)
            if here and name == "access" and args[1] & os.W_OK:
                return False
            if here and (writes or (name == "mkdir" and not os.path.lexists(where[0]))):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(where[0]))
            return real(*args, **more)

        return behave

    def _hiding(self, name: str) -> Callable[..., Any]:
        def behave(real: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> Any:
            place = Path() if not args or isinstance(args[0], int) else Path(os.fsdecode(args[0]))
            refused = self._refused.intersection(place.parents if name.endswith("stat") else [place, *place.parents])
            if refused:
                raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(place))
            return real(*args, **more)

        return behave

    def _failing(self, number: int) -> Callable[..., Any]:
        def behave(real: Callable[..., Any], args: tuple[Any, ...], more: dict[str, Any]) -> Any:
            if not isinstance(args[0], int) and self._has(Path(os.fsdecode(args[0]))):
                raise OSError(number, os.strerror(number), str(args[0]))
            return real(*args, **more)

        return behave

    def _has(self, place: Path) -> bool:
        return place.is_relative_to(self.folder)

    def _found(self, given: Any, forms: bool) -> Any:
        """The place as the disk has it, as far as there is something."""
        if isinstance(given, int) or not self._has(Path(os.fsdecode(given))):
            return given
        place = self.folder
        for part in Path(os.fsdecode(given)).relative_to(self.folder).parts:
            try:
                names = self._listdir(place)
            except (FileNotFoundError, NotADirectoryError):
                names = []
            alike = [name for name in names if _alike(name, forms) == _alike(part, forms)]
            place /= part if part in names or not alike else alike[0]
        return str(place)


def _alike(name: str, forms: bool) -> str:
    return unicodedata.normalize("NFD", name).casefold() if forms else name.casefold()
