"""Where entries are, what an entry is called (`hawk/obs-2026-02-15-001` is one of the agent hawk's), and their files.

entries/agents/hawk/memory/vault/2026-02/obs-2026-02-15-001.md     as it is captured, a folder for each month
entries/agents/hawk/memory/vault/obs-2026-02-15-001.md             as Ocean has it, which is read as well
entries/agents/hawk/memory/archive/…                               what has expired
entries/agents/hawk/memory/archive/packed/2026-02-001.md           old ones of a month, in one file
entries/shared/observations/…                                      what all agents read; its archive is beside it

A pack has old entries of a month, each with its own header, to the byte:

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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import zip_longest

from memory_v2.entries.entry import SHARED
from memory_v2.errors import InvalidSetting, NotAllowed, StorageConflict
from memory_v2.storage.history import PageChange
from memory_v2.tree.path import ENTRIES, fold, is_page_path

_AGENTS, _SHARED = f"{ENTRIES}/agents", f"{ENTRIES}/{SHARED}"
_PLACE = re.compile(
    rf"(?:{_AGENTS}/(?P<agent>[^/]+)/memory/(?P<state>vault|archive)|{_SHARED}/(?P<shared>observations|archive))"
    r"/(?:[^/]+/)*(?P<name>[^/]+)\Z"
)
_PACK = re.compile(rf"((?:{_AGENTS}/[^/]+/memory|{_SHARED})/archive/packed/(\d{{4}}-\d\d)-(\d{{3,}}))(?:/([^/]+))?\Z")
_NAMED = re.compile(r"(?:.*/)?((?:agents|shared)/.+?)(?:\.md)?\Z", re.S)
_NAME = re.compile(r"obs-(\d{4})-(\d\d)-(\d\d)-(\d{3,})\Z")


@dataclass(frozen=True, slots=True)
class EntryLocation:
    """Where an entry is: its path in the storage, its space and name, whether that is the archive, and the day and
    the number in its name, if it has them."""

    path: str
    space: str
    name: str
    archived: bool
    day: date | None = None
    number: int = 0

    @property
    def id(self) -> str:
        """What the entry is called."""
        return f"{self.space}/{self.name}"


def place_of(path: str) -> EntryLocation | None:
    """The place that a path is; `None` for a file where no entries are looked for, and for a pack of them."""
    found = _PLACE.match(path)
    if found is None or is_pack(path):
        return None
    space, state = (found["agent"], found["state"]) if found["agent"] else (SHARED, found["shared"])
    day, number = _numbered(found["name"])
    return EntryLocation(path, space, found["name"], state == "archive", day, number)


def is_pack(path: str) -> bool:
    """Whether this is the path of a pack."""
    found = _PACK.match(path)
    return found is not None and found[4] is None


def pack_of(path: str) -> tuple[str, str] | None:
    """The pack that an entry is in by its path, and its name; `None` if it has a file of its own."""
    found = _PACK.match(path)
    return (found[1], found[4]) if found and found[4] else None


def is_stored_place(path: str) -> bool:
    """Whether a file holds an entry, or is a pack of them."""
    return is_pack(path) or place_of(path) is not None


def packs_folder(space: str) -> str:
    """The folder of a space's packs."""
    return f"{folder_of(space, archived=True)}/packed"


def pack_path(space: str, month: str, number: int) -> str:
    """The path of a pack of a month, such as 2026-02."""
    return f"{packs_folder(space)}/{month}-{number:03}"


def path_named(file: str) -> str | None:
    """The path of a file that is named in any way: in a memory, in a vault such as Ocean's, with or without `.md`."""
    found = _NAMED.match(file)
    return f"{ENTRIES}/{found[1]}" if found else None


def place_named(file: str) -> EntryLocation | None:
    """The place of a file that is named in any way."""
    path = path_named(file)
    return place_of(path) if path else None


def _numbered(name: str) -> tuple[date | None, int]:
    found = _NAME.match(name)
    try:
        return (date(int(found[1]), int(found[2]), int(found[3])), int(found[4])) if found else (None, 0)
    except ValueError:  # no such day
        return None, 0


def entry_name(day: str, number: int) -> str:
    """The name of an entry: `obs-2026-02-15-001`."""
    return f"obs-{day}-{number:03}"


def month_of(name: str, observed: str = "") -> str:
    """The month of an entry, such as 2026-02: that in its name, else that of the day it was observed."""
    day, _ = _numbered(name)
    return str(day)[:7] if day else observed[:7]


def folder_of(space: str, archived: bool = False) -> str:
    """The folder of the entries of a space, or of those in its archive."""
    if space == SHARED:
        return f"{_SHARED}/{'archive' if archived else 'observations'}"
    return f"{_AGENTS}/{space}/memory/{'archive' if archived else 'vault'}"


def path_of(space: str, name: str, archived: bool = False) -> str:
    """The path that an entry gets: in the folder of its month, if its name tells the day."""
    day, _ = _numbered(name)
    month = f"{day.isoformat()[:7]}/" if day else ""
    return f"{folder_of(space, archived)}/{month}{name}"


def likely_paths(entry_id: str) -> Iterator[str]:
    """The paths at which an entry may be, the likeliest first."""
    space, _, name = entry_id.rpartition("/")
    for archived in (False, True):
        yield path_of(space, name, archived)
        yield f"{folder_of(space, archived)}/{name}"


def moved_to(path: str, archived: bool) -> str:
    """The same path in the archive, or out of it."""
    place = place_of(path)
    assert place is not None, path
    below = path.removeprefix(folder_of(place.space, place.archived))
    moved = folder_of(place.space, archived) + below
    return path_of(place.space, place.name, archived) if is_pack(moved) else moved  # it is called as packs are


def check_agent(agent: object) -> str:
    """The name of an agent. Raises `InvalidSetting` unless it can be that of a folder."""
    if not isinstance(agent, str) or "/" in agent or not is_page_path(agent):
        raise InvalidSetting(f"an agent is named by one word that a folder can have, such as hawk, not {agent!r}")
    if fold(agent) == SHARED:
        raise InvalidSetting(f"no agent can be called {SHARED!r}: that is what all agents share")
    return agent


MAX_BYTES = 262_144
"""Limits a pack, in bytes: an editor opens it at once, and a change of one entry stores that much again."""

_HEADING = re.compile(rb"^# Entry ([^\r\n]+)\r?\n", re.M)


@dataclass(frozen=True, slots=True)
class PackedEntry:
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

    entries: dict[str, PackedEntry]
    problems: tuple[tuple[int, str], ...] = ()


def read_pack(data: bytes) -> Pack:
    """The entries in a pack. A heading that names no entry, or one that is there already, begins none: its lines stay
    in the file."""
    found: dict[str, PackedEntry] = {}
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
            found[name] = PackedEntry(name, data[heading.end() : end].removesuffix(gap), line, heading.start(), end)
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
    parts = pack.split("/")
    space = parts[2] if parts[1] == "agents" else parts[1]
    title = f"# Packed entries of {space}, {parts[-1].rpartition('-')[0]}\n\n".encode()
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
