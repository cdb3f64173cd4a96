"""Archiving daily logs: a plan of which are moved and which stay as something still needs them; moving them, and back.

A folder of notes has no history, so what is to be moved is written into a journal in it before anything is. Each file
has one of its two names, or for a moment both; so it can always be moved on or back, and no file ever takes the place
of another one. The journal is data that anybody may have written: it moves archived logs of this folder, and nothing
else.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path, PurePath

from memory_v2.errors import StorageConflict, StorageError, UsageError
from memory_v2.files.links import FileLink, LinkResolver
from memory_v2.notes.audit.audit import Choice, audit_notes
from memory_v2.notes.audit.context import AuditContext
from memory_v2.notes.audit.gaps import missing
from memory_v2.notes.extract import Extracted, extracted_in
from memory_v2.notes.links import links, resolver_of
from memory_v2.notes.note import Note
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.local.disk import explained, make_folder, read_bytes, replace_bytes, sync_folder
from memory_v2.text.amounts import counted
from memory_v2.text.days import days_before, named_day
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import fold

ARCHIVE = "archive"
"""The folder beside a log into which it is moved."""
MOVE = "move"
"""The action of a step that moves a log."""
CAPTURED = "captured"
"""The key under which is noted what was captured as entries of a memory: the ids of what was extracted."""
LOCK_SECONDS = 10
"""Seconds to wait for another run that moves files: to move thousands takes less."""
JOURNAL = ".silica-notes/archive.json"
"""Where it is written what is moved, in the folder of notes: a cache may be deleted at any time."""


def archive_plan(context: AuditContext, older_than: int, force: bool = False) -> Plan:
    """The logs that are more than so many days old. If it is forced, only what is in the way of a log keeps it, and the
    links that are broken are warned of. Raises `UsageError`."""
    folder, cache = context.folder, context.cache
    if older_than < 0:
        raise UsageError(f"a log is at least 0 days old, not {older_than}")
    if (folder / ".metadata").is_dir():
        raise UsageError(f"{folder} is a memory, whose pages have their places; its entries are archived by 'age'")
    before = days_before(context.today, older_than)
    captured = set(json.loads(cache.get(CAPTURED) or "[]"))
    extracted = [one for one in extracted_in(cache) if one.id not in captured or one.category != "pending"]
    days = {note.name: day for note in context.notes if (day := _day(note.name)) and day < before}
    needed = {} if force else _needed(context, extracted, captured)
    reasons = {name: [*_in_the_way(folder, name), *needed.get(name, ())] for name in days}
    moves = {name: archived(name) for name in days if not reasons[name]}
    while (broken := list(_broken(context, moves))) and not force:
        for note, link, files in broken:  # what it leads to stays, else the log that it is in
            for name in [name for name in files if name in moves] or [note.name] * (note.name in moves):
                reasons[name].append(f"the link to {link.target} in {note.name}:{link.line} would lead nowhere")
                del moves[name]
    items = Counter(one.file for one in extracted if one.grade != "keyword")
    moving = [
        Step(MOVE, name, moves[name], f"{counted(items[name], 'item')} extracted", facts={"day": days[name]})
        for name in sorted(moves)
    ]
    staying = [
        Step(SKIP, name, reason="; ".join(reasons[name]), facts={"day": days[name]})
        for name in sorted(days.keys() - moves.keys())
    ]
    logs = counted(len(days), "daily log") if days else "no daily log"
    warnings = tuple(
        Finding("dangling-link", "error", note.name, link.line, f"the link to {link.target} leads nowhere then")
        for note, link, _ in broken
    )
    title = f"{logs} {'is' if len(days) < 2 else 'are'} from before {before}"
    return Plan("archive", title, (*moving, *staying), warnings, {"before": before})


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
    """What notes have that is nowhere else, or is not done yet, by their names."""
    findings = audit_notes(context, Choice(), [missing]).findings
    uncurated = Counter(finding.path for finding in findings if finding.about not in captured)
    pending = Counter(
        one.file for one in extracted if one.category == "pending" and one.grade != "keyword" and not one.is_closed
    )
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, count in uncurated.items():
        reasons[name].append(f"{counted(count, 'item')} marked as decision or lesson that no lasting note has")
    for name, count in pending.items():
        reasons[name].append(f"{counted(count, 'item')} still pending")
    return reasons


def _broken(context: AuditContext, moves: Mapping[str, str]) -> Iterator[tuple[Note, FileLink, Sequence[str]]]:
    """The links that lead to files now, and would not lead there any more."""
    if not moves:
        return
    moved = [replace(note, name=moves.get(note.name, note.name)) for note in context.notes]
    after = resolver_of(context.folder, {moves.get(name, name) for name in context.files}, moved)
    for (note, _, link), (now, *_) in zip(links(context.notes), links(moved), strict=True):
        files = _led(context.links, note, link)
        expected = [fold(moves.get(name, name)) for name in files]
        is_lost = [*map(fold, _led(after, now, link))] != expected
        if files and (is_lost or (_is_beside(note, link, files) and not _is_beside(now, link, expected))):
            yield note, link, files


def _led(resolver: LinkResolver, note: Note, link: FileLink) -> Sequence[str]:
    return resolver.resolve(note.name, link.target, link.is_wiki)


def _is_beside(note: Note, link: FileLink, files: Sequence[str]) -> bool:
    """Whether a link is a path from its note, as those of Markdown are, and not from the folder."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(note.name), link.target.strip()))
    return not link.is_wiki and fold(path) in map(fold, files)


@contextmanager
def alone(folder: Path, cache: Path | None) -> Iterator[None]:
    """Keeps other runs from moving files of the same folder. Raises `StorageError` if one does for long, and for an
    error of the system."""
    from filelock import FileLock, Timeout

    try:
        lock = FileLock(cache / "archive.lock", timeout=LOCK_SECONDS) if cache else nullcontext()
        with lock, explained("move the files of", folder):
            yield
    except Timeout as error:
        raise StorageError("another run is moving files of these notes; try again") from error


def apply_plan(folder: Path, plan: Plan) -> Plan:
    """Moves the logs of a plan. Raises `StorageConflict` if a new name is taken, `StorageError`."""
    if names := [step.name for step in plan.due]:
        _write(folder, [*_read(folder), names])
        for name in names:
            make_folder(_inside(folder, archived(name)).parent)
            _rename(_inside(folder, name), _inside(folder, archived(name)))
    return plan.applied(None)


def move_back(folder: Path) -> tuple[tuple[str, str], ...]:
    """Takes back what was moved last; returns each file's old name with the one in the archive. Raises
    `StorageConflict` if there is another file by an old name: it stays, and so do those that are not moved yet. Raises
    `StorageError`."""
    while journal := _read(folder):
        names = [name for name in journal[-1] if _rename(_inside(folder, archived(name)), _inside(folder, name))]
        for above in {_inside(folder, archived(name)).parent for name in journal[-1]}:
            with suppress(OSError):  # there is something else in it
                above.rmdir()
        _write(folder, journal[:-1])
        if names:
            return tuple((name, archived(name)) for name in names)
    return ()


def _inside(folder: Path, name: str) -> Path:
    """The place of a name in the folder. Raises `StorageError` if it is outside, or a link is on the way to it."""
    path = PurePath(name)
    above = [folder.joinpath(*path.parts[:count]) for count in range(1, len(path.parts))]
    is_plain = path.parts and not path.anchor and ".." not in path.parts and "\0" not in name
    if not is_plain or any(place.is_symlink() for place in above):
        raise StorageError(f"{name!r} is not inside {folder}: nothing is moved there or from there")
    return folder / path


def _rename(old: Path, new: Path) -> bool:
    """Gives a file its new name, if it has the old one."""
    if not os.path.lexists(old):
        return False
    if os.path.lexists(new) and not new.samefile(old):
        raise StorageConflict(f"{new} is there already, so {old} stays where it is; rename one of them by hand")
    try:
        os.link(old, new, follow_symlinks=False)  # unlike renaming, it replaces nothing
    except FileExistsError:
        pass  # it has both names, since a run was stopped
    except (OSError, NotImplementedError):
        old.rename(new)  # a disk without hard links
    old.unlink(missing_ok=True)
    sync_folder(new.parent)
    sync_folder(old.parent)
    return True


def _read(folder: Path) -> list[list[str]]:
    """The journal: the logs that were moved together, by their old names. Raises `StorageError` if it names anything
    else."""
    try:
        rows = json.loads(read_bytes(_inside(folder, JOURNAL)).decode("utf-8", "surrogateescape"))
        journal = [[*map(str.__str__, names)] for names in rows]
        for name in (name for names in journal for name in names):
            _inside(folder, archived(name))
            os.fsencode(name)  # a name that no file can have is a ValueError
            if not _day(name):
                raise ValueError("it moves something else than daily logs")
        return journal
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise StorageError(f"{folder / JOURNAL} is damaged, so nothing is moved: {error}; delete it") from error


def _write(folder: Path, journal: Sequence[Sequence[str]]) -> None:
    file = _inside(folder, JOURNAL)
    if journal:
        replace_bytes(file, json.dumps(journal, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape"))
        return
    file.unlink(missing_ok=True)
    with suppress(OSError):
        file.parent.rmdir()
