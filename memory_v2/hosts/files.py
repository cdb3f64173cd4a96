"""The files of hosts: read and written through symbolic links, their modes kept; each before and after a change."""

from __future__ import annotations

import difflib
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from memory_v2.errors import SilicaError
from memory_v2.storage.local.disk import lstat, make_folder, new_temporary, read_bytes, store_bytes, sync_folder

LINE_WIDTH = 1_000
"""Characters of a line of a diff that are shown: a file may be one line of a megabyte."""


class Unclear(SilicaError):
    """A file cannot be understood, or not be changed safely: it is left as it is. The message says why."""


def real_path(file: Path) -> Path:
    """Where a file is, through symbolic links; of one that leads to itself, the link."""
    return Path(os.path.realpath(file))


def bytes_of(file: Path) -> bytes | None:
    """What is in a file, through symbolic links; `None` if it does not exist."""
    real = real_path(file)
    found = lstat(real)
    if found is None:
        return None
    if stat.S_ISLNK(found.st_mode):
        raise Unclear("it is a symbolic link to itself")
    if not stat.S_ISREG(found.st_mode):
        raise Unclear("it is not a file")
    return read_bytes(real)


def why_unwritable(file: Path) -> str:
    """Why a file must not be replaced, although its folder might allow it."""
    found = lstat(real_path(file))
    return "it is read-only" if found and not found.st_mode & 0o222 else ""


def write(file: Path, data: bytes | None) -> None:
    """Replaces the bytes of a file, through symbolic links, keeping its mode; or deletes it."""
    real = real_path(file)
    if data is None:
        real.unlink(missing_ok=True)
        return
    make_folder(real.parent)
    temporary = new_temporary(real.parent)
    try:
        store_bytes(temporary, data, lstat(real))
        temporary.replace(real)
    finally:
        with suppress(OSError):
            temporary.unlink()
    sync_folder(real.parent)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of one or more hosts, with its bytes before and after; `None` means that there is no such file. With a
    `problem`, the file is left as it is, and the problem says why."""

    file: Path
    hosts: tuple[str, ...] = ()
    purposes: tuple[str, ...] = ()
    before: bytes | None = None
    after: bytes | None = None
    problem: str = ""

    @property
    def is_change(self) -> bool:
        """Whether the file becomes another."""
        return not self.problem and self.before != self.after

    def diff(self) -> list[str]:
        """What goes and what comes, by line. Nothing else is shown, also not the rest of a line that is changed: it may
        hold the keys of others."""
        if not self.is_change:
            return []
        old, new = ((data or b"").decode("utf-8", "replace").splitlines() for data in (self.before, self.after))
        shown: list[str] = []
        for tag, i, i_end, j, j_end in difflib.SequenceMatcher(None, old, new).get_opcodes():
            if tag != "equal":
                gone, come = _apart("\n".join(old[i:i_end]), "\n".join(new[j:j_end]))
                lines = [f"@@ line {j + 1}", *(f"-{line}" for line in gone), *(f"+{line}" for line in come)]
                shown += [line if len(line) <= LINE_WIDTH else f"{line[: LINE_WIDTH - 1]}…" for line in lines]
        return shown


def _apart(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines in which two texts differ, without what both have before and after it."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    before = "…" if old[:start].rpartition("\n")[2] else ""
    after = "…" if end and old[len(old) - end] != "\n" else ""
    middles = (text[start : len(text) - end] for text in (old, new))
    gone, come = (f"{before}{middle}{after}".split("\n") if middle else [] for middle in middles)
    return gone, come


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common from their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
