"""Archiving daily logs: which are old enough, which stay because something still needs them, and moving them."""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from memory_v2.errors import StorageConflict, StorageError, UsageError
from memory_v2.notes.audit.audit import Choice, audit_notes
from memory_v2.notes.audit.context import AuditContext
from memory_v2.notes.audit.coverage import missing
from memory_v2.notes.extract import Extracted, extracted_in
from memory_v2.notes.links import Link, LinkResolver, links
from memory_v2.storage.local.disk import make_folder, replace_bytes, sync_folder
from memory_v2.text.amounts import counted
from memory_v2.text.calendar import days_before, named_day
from memory_v2.tree.path import fold

ARCHIVE = "archive"
"""The folder beside a log into which it is moved."""


@dataclass(frozen=True, slots=True)
class Move:
    """A log with its day, where it is moved to, and how many of its items are extracted."""

    file: str
    to: str
    day: date
    items: int


@dataclass(frozen=True, slots=True)
class Stay:
    """A log that is old enough and stays, with the reasons."""

    file: str
    day: date
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArchivePlan:
    """The logs from before a day: those that are moved, and those that stay. `broken` are the links that a move breaks
    all the same, as it was forced. `applied` tells whether the files are moved."""

    before: date
    moves: tuple[Move, ...] = ()
    stays: tuple[Stay, ...] = ()
    broken: tuple[str, ...] = ()
    applied: bool = False


def archive_plan(context: AuditContext, older_than: int, force: bool = False) -> ArchivePlan:
    """The logs that are more than so many days old. If it is forced, only what is in the way of a log keeps it. Raises
    `UsageError`."""
    if older_than < 0:
        raise UsageError(f"a log is at least 0 days old, not {older_than}")
    if (context.folder.path / ".metadata").is_dir():
        raise UsageError(
            f"{context.folder.path} is a memory, whose pages have their places; its entries are archived by 'age'"
        )
    before = days_before(context.today, older_than)
    captured = set(json.loads(context.folder.cache.get(CAPTURED) or "[]"))
    extracted = [
        one for one in extracted_in(context.folder.cache) if one.id not in captured or one.category != "pending"
    ]
    days = {note.name: day for note in context.notes if (day := _day(note.name)) and day < before}
    needed = {} if force else _needed(context, extracted, captured)
    reasons = {name: [*_in_the_way(context.folder.path, name), *needed.get(name, ())] for name in days}
    moves = {name: archived(name) for name in days if not reasons[name]}
    broken = list(_broken(context, moves))
    while broken and not force:
        staying = [(name, link) for link in broken for name in _moving(context, link, moves)]
        for name, link in staying:
            reasons[name].append(f"the link to {link.target} in {link.note.name}:{link.line} would lead nowhere")
            moves.pop(name, None)
        broken = list(_broken(context, moves))
    items = Counter(one.file for one in extracted if one.grade != "keyword")
    return ArchivePlan(
        before,
        tuple(Move(name, moves[name], days[name], items[name]) for name in sorted(moves)),
        tuple(Stay(name, days[name], tuple(reasons[name])) for name in sorted(days.keys() - moves.keys())),
        tuple(f"{link.note.name}:{link.line} links to {link.target}" for link in broken),
    )


def archived(name: str) -> str:
    """The name of a log in the archive."""
    above, slash, last = name.rpartition("/")
    return f"{above}{slash}{ARCHIVE}/{last}"


def _day(name: str) -> date | None:
    """The day in the name of a log that is not in an archive."""
    *above, last = name.split("/")
    return None if ARCHIVE in map(str.casefold, above[-1:]) else named_day(last)


def _in_the_way(folder: Path, name: str) -> Iterator[str]:
    target, place = folder / archived(name), folder / name
    if not place.is_file():
        yield "its name cannot be printed"
    elif target.parent.is_symlink() or (target.parent.exists() and not target.parent.is_dir()):
        yield f"{ARCHIVE} beside it is no folder"
    elif target.exists() and not target.samefile(place):
        yield f"{archived(name)} is there already"


def _needed(context: AuditContext, extracted: Iterable[Extracted], captured: Collection[str]) -> dict[str, list[str]]:
    """What notes have that stands nowhere else, or is not done yet, by their names."""
    findings = audit_notes(context, Choice(), [missing]).findings
    unkept = Counter(one.path for one in findings if one.about not in captured)
    pending = Counter(
        one.file for one in extracted if one.category == "pending" and one.grade != "keyword" and not one.is_closed
    )
    found: dict[str, list[str]] = defaultdict(list)
    for name, count in unkept.items():
        found[name].append(f"{counted(count, 'item')} marked as decision or lesson that no lasting note has")
    for name, count in pending.items():
        found[name].append(f"{counted(count, 'item')} still pending")
    return found


def _broken(context: AuditContext, moves: Mapping[str, str]) -> Iterator[Link]:
    """The links that lead to a file now, and would not lead there any more."""
    if not moves:
        return
    moved = [replace(note, name=moves.get(note.name, note.name)) for note in context.notes]
    after = LinkResolver(context.folder.path, {moves.get(name, name) for name in context.files}, moved)
    for was, now in zip(links(context.notes), links(moved), strict=True):
        files = context.links.resolve(was)
        expected = [fold(moves.get(name, name)) for name in files]
        is_lost = [fold(name) for name in after.resolve(now)] != expected
        if files and (is_lost or (_is_beside(was, files) and not _is_beside(now, expected))):
            yield was


def _is_beside(link: Link, led: Sequence[str]) -> bool:
    """Whether a link is a path from its note, as those of Markdown are, and not from the folder."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(link.note.name), link.target.strip()))
    return not link.is_wiki and fold(path) in map(fold, led)


def _moving(context: AuditContext, link: Link, moves: Collection[str]) -> Iterator[str]:
    """The logs that must stay for a link: what it leads to, else the one that it stands in."""
    files = [name for name in context.links.resolve(link) if name in moves]
    yield from files or ([link.note.name] if link.note.name in moves else [])


CAPTURED = "captured"
"""The key under which is noted what was captured as entries of a memory: the ids of what was extracted."""
LOCK_SECONDS = 10
"""Seconds to wait for another run that moves files: to move thousands takes less."""


def apply_plan(folder: Path, plan: ArchivePlan) -> ArchivePlan:
    """Moves the logs of a plan. Raises `StorageConflict`, `StorageError`."""
    if plan.moves:
        move(folder, [(one.file, one.to) for one in plan.moves])
    return replace(plan, applied=True)


@contextmanager
def alone(cache: Path | None) -> Iterator[None]:
    """Keeps other runs from moving files of the same folder. Raises `StorageError` if one does for long."""
    if cache is None:
        yield
        return
    from filelock import FileLock, Timeout

    lock = FileLock(cache / "archive.lock", timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout as error:
        raise StorageError("another run is moving files of these notes; try again") from error
    try:
        yield
    finally:
        lock.release()


JOURNAL = ".silica-notes/archive.json"
"""Where it is written down, in the folder of notes: a cache may be deleted at any time."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Files that are moved together: their names before and after, and the folders that are made for them."""

    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...] = ()


def move(folder: Path, files: Sequence[tuple[str, str]]) -> None:
    """Moves files to their new names. Raises `StorageConflict` if one of these is taken, `StorageError`."""
    made = sorted({str(Path(to).parent) for _, to in files if not (folder / to).parent.exists()})
    try:
        _write(folder, [*_read(folder), Moved(tuple(files), tuple(made))])
        for name, to in files:
            make_folder((folder / to).parent)
            _rename(folder / name, folder / to)
    except OSError as error:
        raise _failed(folder, error) from error


def move_back(folder: Path) -> tuple[tuple[str, str], ...]:
    """Takes back what was moved last; returns the files that have their old names again. Raises `StorageConflict` if
    there is another file by an old name: it stays, and so do those that are not moved yet. Raises `StorageError`."""
    try:
        while journal := _read(folder):
            last = journal[-1]
            back = tuple(one for one in last.files if _rename(folder / one[1], folder / one[0]))
            for made in last.folders:
                with suppress(OSError):  # there is something else in it by now
                    (folder / made).rmdir()
            _write(folder, journal[:-1])
            if back:
                return back
    except OSError as error:
        raise _failed(folder, error) from error
    return ()


def _rename(old: Path, new: Path) -> bool:
    """Gives a file its new name, if it has the old one."""
    if not os.path.lexists(old):
        return False
    if os.path.lexists(new):
        if not new.samefile(old):
            raise StorageConflict(f"{new} is there already, so {old} stays where it is; rename one of them by hand")
    else:
        try:
            os.link(old, new, follow_symlinks=False)  # unlike renaming, it replaces nothing
        except (OSError, NotImplementedError):
            if os.path.lexists(new):
                raise
            old.rename(new)  # a disk without hard links
    old.unlink(missing_ok=True)
    sync_folder(new.parent)
    sync_folder(old.parent)
    return True


def _read(folder: Path) -> list[Moved]:
    try:
        told = json.loads((folder / JOURNAL).read_text("utf-8", "surrogateescape"))
        return [Moved(tuple((old, new) for old, new in one["files"]), tuple(one["folders"])) for one in told]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{folder / JOURNAL} is damaged, so nobody knows what was moved: {error}") from error


def _write(folder: Path, journal: Sequence[Moved]) -> None:
    file = folder / JOURNAL
    if journal:
        told = [{"files": one.files, "folders": one.folders} for one in journal]
        replace_bytes(file, json.dumps(told, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape"))
        return
    file.unlink(missing_ok=True)
    with suppress(OSError):
        file.parent.rmdir()


def _failed(folder: Path, error: OSError) -> StorageError:
    if isinstance(error, StorageError):
        return error
    return StorageError(
        f"a file in {folder} could not be moved: {error.strerror or error}; 'silica notes undo' goes back"
    )
