"""Every change that this process makes to the files below a folder passes a boundary, at which anything can happen."""

from __future__ import annotations

import builtins
import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from memory_v2.storage.local import disk

CHANGING: Final = ("chmod", "link", "mkdir", "remove", "rename", "replace", "rmdir", "truncate", "unlink")
"""The functions of `os` that change something under a name."""

_ANY_CHANGE = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True, slots=True)
class Boundary:
    """What is about to be done to which file: `write`, `replace`, …, or `torn` and `made`: half a write, and the making
    of a file, are done."""

    number: int
    action: str
    place: str

    def __str__(self) -> str:
        return f"{self.number} {self.action} {self.place}"


Act = Callable[[Boundary], None]
"""What happens at a boundary: nothing, a kill, an error that it raises instead of the disk."""


@contextmanager
def watched(folder: Path, act: Act) -> Iterator[None]:
    """Calls `act` at every boundary below the folder, in order, from 1.

    Python's own files, dulwich's and sqlite's commits among them. Nothing waits for the disk meanwhile: `fsync` is a
    boundary and no more, since a process that is killed leaves to the system what it has written.
    """
    watch = _Watch(str(folder), act)
    with ExitStack() as stack:
        for name in CHANGING:
            stack.enter_context(patch.object(os, name, watch.changing(name, getattr(os, name))))
        for module, name, instead in (
            (os, "open", watch.open),
            (os, "write", watch.write),
            (os, "fsync", watch.fsync),
            (os, "close", watch.close),
            (os, "fdopen", watch.fdopen),
            (io, "open", watch.stream),
            (builtins, "open", watch.stream),
            (sqlite3, "connect", watch.connect),
            (disk, "exchange", lambda *_: False),  # as on a disk that cannot: `replace` follows
        ):
            stack.enter_context(patch.object(module, name, instead))
        yield


class _Watch:
    def __init__(self, folder: str, act: Act) -> None:
        self._folder = folder
        self._act = act
        self._number = 0
        self._is_acting = False
        self._open: dict[int, str] = {}
        self._os_open, self._os_close, self._os_write = os.open, os.close, os.write
        self._io_open, self._connect = io.open, sqlite3.connect

    def pass_boundary(self, action: str, place: str) -> None:
        if self._is_acting:  # what is done at a boundary passes none
            return
        self._number += 1
        self._is_acting = True
        try:
            self._act(Boundary(self._number, action, place))
        finally:
            self._is_acting = False

    def changing(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def watched_function(path: Any, *args: Any, **options: Any) -> Any:
            if place := self._place(path, options.get("dir_fd")):
                self.pass_boundary(name, place)
            return function(path, *args, **options)

        return watched_function

    def open(self, path: Any, flags: int, *args: Any, **options: Any) -> int:
        place = self._place(path, options.get("dir_fd"))
        changes = place and flags & _ANY_CHANGE
        if changes:
            self.pass_boundary("open", place)
        descriptor = self._os_open(path, flags, *args, **options)
        if place:
            self._open[descriptor] = place
        if changes:
            self.pass_boundary("made", place)
        return descriptor

    def close(self, descriptor: int) -> None:
        self._open.pop(descriptor, None)
        self._os_close(descriptor)

    def write(self, descriptor: int, data: Any) -> int:
        if (place := self._open.get(descriptor)) is None:
            return self._os_write(descriptor, data)
        view = memoryview(data)
        self.pass_boundary("write", place)
        done = self._os_write(descriptor, view[: len(view) // 2])
        self.pass_boundary("torn", place)
        return done + self._os_write(descriptor, view[done:])

    def fsync(self, descriptor: int) -> None:
        if (place := self._open.get(descriptor)) is not None:
            self.pass_boundary("fsync", place)

    def fdopen(self, descriptor: int, mode: str = "r", buffering: int = -1, *args: Any, **options: Any) -> Any:
        if descriptor in self._open and mode in ("wb", "w+b"):
            raw = _Raw(self, descriptor, mode)
            return io.BufferedWriter(raw) if mode == "wb" else io.BufferedRandom(raw)
        return self._io_open(descriptor, mode, buffering, *args, **options)

    def stream(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if (place := self._place(file)) and set(mode) & set("wax+"):
            self.pass_boundary("open", place)
        return self._io_open(file, mode, *args, **options)

    def connect(self, database: Any, *args: Any, **options: Any) -> Any:
        watch, place = self, self._place(database)

        class Connection(sqlite3.Connection):
            def execute(self, statement: str, *parameters: Any) -> sqlite3.Cursor:
                if place and statement == "COMMIT":
                    watch.pass_boundary("commit", place)
                return super().execute(statement, *parameters)

        return self._connect(database, *args, factory=Connection, **options)

    def _place(self, path: Any, inside: int | None = None) -> str:
        """The place below the folder; empty for one that is elsewhere. It may be told from `inside` an open folder."""
        if isinstance(path, int):
            return ""
        above = os.path.join(self._folder, self._open.get(inside, "..")) if inside is not None else ""
        name = os.path.abspath(os.path.join(above, os.fsdecode(os.fspath(path))))
        return (
            os.path.relpath(name, self._folder) if name == self._folder or name.startswith(f"{self._folder}/") else ""
        )


class _Raw(io.FileIO):
    """What a stream writes through, so that its writes pass boundaries too."""

    def __init__(self, watch: _Watch, descriptor: int, mode: str) -> None:
        super().__init__(descriptor, mode)
        self._watch = watch

    def write(self, data: Any) -> int:
        return self._watch.write(self.fileno(), data)
