"""Packs: old entries of a month in one file of the archive, each with its own header, to the byte.

    # Packed entries of hawk, 2026-02

    # Entry obs-2026-02-15-001
    ---
    tags: [ctr]
    ---
    Insurance CTR dropped 12% this week

An entry in a pack has a path too, as if the pack were its folder: `…/archive/packed/2026-02-001/obs-2026-02-15-001`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest

from memory_v2.entries.places import pack_of
from memory_v2.errors import NotAllowed, StorageConflict
from memory_v2.storage.history import PageChange
from memory_v2.tree.path import is_page_path

MAX_BYTES = 262_144
"""Limits a pack, in bytes: an editor opens it at once, and a change of one entry stores that much again."""

_HEADING = re.compile(rb"^# Entry ([^\r\n]+)\r?\n", re.M)


@dataclass(frozen=True, slots=True)
class Packed:
    """An entry in a pack: its name, its bytes, as its own file had them, the line of the pack at which they begin, and
    where in its bytes the entry begins, with its heading, and ends."""

    name: str
    data: bytes
    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pack:
    """What a pack holds: its entries by name, and what is wrong with it, as (line, message)."""

    entries: dict[str, Packed]
    problems: tuple[tuple[int, str], ...] = ()


def read_pack(data: bytes) -> Pack:
    """The entries in a pack. A heading that names no entry, or one that is there already, begins none: its lines stay
    in the file."""
    found: dict[str, Packed] = {}
    problems: list[tuple[int, str]] = []
    headings = list(_HEADING.finditer(data))
    line, counted = 1, 0
    for heading, following in zip_longest(headings, headings[1:]):
        end = following.start() if following else len(data)
        line, counted = line + data.count(b"\n", counted, heading.end()), heading.end()
        name = heading[1].decode("utf-8", "replace").strip()
        if "/" in name or not is_page_path(name):
            problems.append((line - 1, f"{name!r} cannot be the name of an entry"))
        elif name in found:
            problems.append((line - 1, f"the pack has the entry {name} twice; the first one counts"))
        else:
            gap = b"\r\n" if heading[0].endswith(b"\r\n") else b"\n"
            found[name] = Packed(name, data[heading.end() : end].removesuffix(gap), line, heading.start(), end)
    if not headings:
        problems.append((1, "the pack holds no entry: each begins with a line such as '# Entry obs-2026-02-15-001'"))
    return Pack(found, tuple(problems))


def can_be_packed(name: str, data: bytes) -> bool:
    """Whether an entry comes out of a pack as it went in: none of its lines looks like the heading of one."""
    return is_page_path(name) and _HEADING.search(data + b"\n") is None


def packed_size(name: str, data: bytes) -> int:
    """How many bytes an entry takes in a pack."""
    return len(_written(name, data))


def stored_changes(changes: Iterable[PageChange], read: Callable[[str], bytes | None]) -> list[PageChange]:
    """The changes of files that these changes of entries are: those of packed entries become one of their pack, which
    `read` reads. Raises `StorageConflict` if a packed entry is not as it was `before`."""
    files: list[PageChange] = []
    packs: dict[str, list[tuple[str, PageChange]]] = {}
    for change in changes:
        if where := pack_of(change.path):
            packs.setdefault(where[0], []).append((where[1], change))
        else:
            files.append(change)
    changed = ((pack, before := read(pack), _changed(pack, before, wanted)) for pack, wanted in packs.items())
    return [*(PageChange(pack, before, after) for pack, before, after in changed if before != after), *files]


def _changed(pack: str, data: bytes | None, changes: Iterable[tuple[str, PageChange]]) -> bytes | None:
    """The bytes of a pack with entries changed, added or taken out; `None` if none is left."""
    title = _title(pack)
    before = title if data is None else data
    entries = read_pack(before).entries
    now: dict[str, bytes | None] = {name: one.data for name, one in entries.items()}
    for name, change in changes:
        if now.get(name) != change.before:
            raise StorageConflict(f"the entry {name} in {pack} is no longer as it was when it was read; try again")
        if change.after is not None and not can_be_packed(name, change.after):
            raise NotAllowed(f"the entry {name} has a line that begins with '# Entry', so it cannot be in a pack")
        now[name] = change.after
    after, end = b"", 0
    for name, one in entries.items():
        text = now.pop(name)
        kept = before[one.start : one.end] if text == one.data else _written(name, text)
        after, end = after + before[end : one.start] + kept, one.end
    after += before[end:]
    after += b"" if after.endswith(b"\n") else b"\n"
    after += b"".join(_written(name, text) for name, text in now.items())
    return None if after.strip() == title.strip() else after


def _written(name: str, data: bytes | None) -> bytes:
    return b"" if data is None else b"# Entry " + name.encode() + b"\n" + data + b"\n"


def _title(pack: str) -> bytes:
    parts = pack.split("/")
    space = parts[2] if parts[1] == "agents" else parts[1]
    return f"# Packed entries of {space}, {parts[-1].rpartition('-')[0]}\n\n".encode()
