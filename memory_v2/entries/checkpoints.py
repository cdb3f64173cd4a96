"""Checkpoints: named points of the history, which can be exported, loaded elsewhere, and gone back to. A checkpoint is
a revision that changes nothing and has a name, so it is in every storage's history, and is rewritten with it.

Its file has a line of JSON that says what it is, then one for each page and entry. A checksum in the first line tells
whether the others are what was written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_v2.agent.operation import new_id, operation
from memory_v2.entries.entry_paths import is_pack, is_stored_place, place_of, read_pack
from memory_v2.entries.store import DOMAINS_PAGE, entries_of
from memory_v2.errors import InvalidSetting, InvalidText, NotAllowed, UsageError
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.history import put_back, settled
from memory_v2.operations.results import Result
from memory_v2.storage.history import Change, Revision, compared
from memory_v2.storage.local.disk import explained, read_bytes, replace_bytes
from memory_v2.tree.block import decode, encode
from memory_v2.tree.path import TakenPaths, fold, is_entry, is_page_path, is_reserved

CHECKPOINT = "checkpoint"
"""The kind of a revision that is a checkpoint; its summary is the name."""
VERSION = 1
"""The version of the file's format. A newer one is refused."""
_KEY = "silica_checkpoint"
_NAME = re.compile(r"\w[\w.-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A named point of the history: the id of its revision, and when it was made, to the second."""

    name: str
    revision: str
    when: datetime


@dataclass(frozen=True, slots=True)
class CheckpointContents:
    """What a checkpoint holds: how many pages, entries and bytes; and the pages and entries that differ from it now."""

    checkpoint: Checkpoint
    pages: int
    entries: int
    size_bytes: int
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportedCheckpoint:
    """A checkpoint in a file: how many pages and entries, the size of the file, and the checksum in it."""

    checkpoint: Checkpoint
    file: str
    pages: int
    entries: int
    size_bytes: int
    sha256: str


@operation("create_checkpoint", changes="store")
def create_checkpoint(context: Context, name: str) -> Checkpoint:
    """Gives the present state a name. Raises `InvalidSetting`, `NotAllowed` if it is taken or there is nothing to keep,
    and `StorageError`."""
    if not _NAME.match(str(name)):
        raise InvalidSetting(f"a checkpoint's name has letters, digits, '.', '_' and '-', up to 64, not {name!r}")
    storage = context.storage
    with storage.lock():
        if not storage.list_files() and not entries_of(context).paths():
            raise NotAllowed("the memory is empty: there is nothing to keep")
        storage.begin(context.now())
        _record_all(context)
        if any(point.summary == name for point in _revisions(context)):
            raise NotAllowed(f"there is a checkpoint {name!r} already; 'silica memory checkpoint list' shows all")
        made = storage.commit(Change((), Revision(CHECKPOINT, name, new_id(), when=context.now())))
    return _checkpoint(made.revision)


@operation("list_checkpoints")
def list_checkpoints(context: Context) -> list[Checkpoint]:
    """The checkpoints, oldest first."""
    return [_checkpoint(revision) for revision in _revisions(context)][::-1]


@operation("show_checkpoint")
def show_checkpoint(context: Context, name: str) -> CheckpointContents:
    """What a checkpoint holds, and what differs from it now. Raises `NotAllowed` if there is none of this name."""
    revision = _find(context, name)
    _record_all(context)
    files, history = _files(context, revision), context.storage.history
    changed = tuple(change.path for change in history.difference(revision.id, history.head))
    size = sum(map(len, files.values()))
    return CheckpointContents(_checkpoint(revision), *_counts(files), size, changed)


@operation("export_checkpoint")
def export_checkpoint(context: Context, name: str, file: str | Path, force: bool = False) -> ExportedCheckpoint:
    """Writes a checkpoint to a file, whole or not at all; one that is there is only replaced by `force`. Raises
    `NotAllowed`, `UsageError`, `StorageError`."""
    revision, place = _find(context, name), Path(file)
    files = _files(context, revision)
    data, checksum = _file_of(_checkpoint(revision), files)
    with explained("write", place):
        if place.is_dir() or (place.exists() and not force):
            hint = "" if place.is_dir() else ", or use --force"
            raise UsageError(f"{file} is there already; name another file{hint}")
        try:
            replace_bytes(place, data)
        except ValueError as error:
            raise UsageError(f"cannot write {str(file)!r}: {error}") from error
    return ExportedCheckpoint(_checkpoint(revision), str(file), *_counts(files), len(data), checksum)


@operation("load_checkpoint", changes="tree", recorded=True)
def load_checkpoint(context: Context, file: str | Path) -> Result:
    """Makes all pages and entries those of a checkpoint's file, in one operation; the present ones stay in the history.
    Raises `InvalidText` if the file is not what was exported, and `StorageError`."""
    try:
        data = read_bytes(Path(file))
    except (OSError, ValueError) as error:  # ValueError: no file can have this name
        raise UsageError(f"cannot read {str(file)!r}: {error}") from error
    with context.storage.lock():
        result = _put_back(context, _files_in(data, str(file)))
    return settled(context, result)


@operation("restore_checkpoint", changes="tree", recorded=True)
def restore_checkpoint(context: Context, name: str) -> Result:
    """Makes all pages and entries those of a checkpoint, in one operation; the present ones stay in the history. Raises
    `NotAllowed`, `StorageError`."""
    with context.storage.lock():  # else a text that is forgotten meanwhile would come back
        result = _put_back(context, _files(context, _find(context, name)))
    return settled(context, result)


def _put_back(context: Context, files: Mapping[str, bytes]) -> Result:
    _record_all(context)
    store = entries_of(context)
    now = {path: data for path in store.paths() if (data := store.data(path)) is not None}
    changes = compared(now, {path: data for path, data in files.items() if is_entry(path)})
    result = put_back(context, {path: data for path, data in files.items() if not is_entry(path)}, changes)
    store.remember(changes)
    store.known.close()
    return result


def _record_all(context: Context) -> None:
    """Brings edits by hand and captured entries into the history."""
    refresh(context, even_if_fresh=True)
    entries_of(context).record_all()


def _revisions(context: Context) -> Iterator[Revision]:
    history = context.storage.history
    return (revision for revision in (history.revisions() if history.begun else ()) if revision.kind == CHECKPOINT)


def _find(context: Context, name: str) -> Revision:
    there = {revision.summary: revision for revision in _revisions(context)}
    if name not in there:
        known = ", ".join(list(there)[:10]) or "none"
        raise NotAllowed(f"there is no checkpoint {name!r}; there are: {known}")
    return there[name]


def _files(context: Context, revision: Revision) -> dict[str, bytes]:
    """All pages and entries after a revision."""
    changes = context.storage.history.difference("", revision.id)
    return {change.path: change.after for change in changes if change.after is not None}


def _counts(files: Mapping[str, bytes]) -> tuple[int, int]:
    entries = (
        len(read_pack(data).entries) if is_pack(path) else place_of(path) is not None for path, data in files.items()
    )
    return sum(not is_entry(path) for path in files), sum(entries)


def _checkpoint(revision: Revision) -> Checkpoint:
    return Checkpoint(revision.summary, revision.id[:12], revision.when.replace(microsecond=0))


def _file_of(checkpoint: Checkpoint, files: Mapping[str, bytes]) -> tuple[bytes, str]:
    """The bytes of a checkpoint's file, and their checksum. `files` are its pages and entries by path."""
    lines = b"".join(_line({"path": path, "text": decode(files[path])}) for path in sorted(files))
    checksum = hashlib.sha256(lines).hexdigest()
    when = checkpoint.when.astimezone(UTC).isoformat(timespec="seconds")
    return _line({_KEY: VERSION, "name": checkpoint.name, "when": when, "sha256": checksum}) + lines, checksum


def _line(value: Mapping[str, Any]) -> bytes:
    return encode(f"{json.dumps(value, ensure_ascii=False)}\n")


def _files_in(data: bytes, file: str) -> dict[str, bytes]:
    """The pages and entries in a checkpoint's file, by path. Raises `InvalidText` if it is none, of a newer version, or
    not as it was written."""
    head, _, lines = data.partition(b"\n")
    first = _object(head)
    version = first.get(_KEY)
    if not isinstance(version, int):
        raise InvalidText(f"{file} is no checkpoint: its first line does not say so")
    if version > VERSION:
        raise InvalidText(f"{file} is a checkpoint of version {version}, and this program reads {VERSION}: update it")
    if hashlib.sha256(lines).hexdigest() != first.get("sha256"):
        raise InvalidText(f"{file} is damaged: its checksum is not that of its lines. Get it or export it again")
    files: dict[str, bytes] = {}
    pages, entries = TakenPaths(()), set[str]()
    for number, line in enumerate(lines.splitlines(), 2):
        path, text = (_object(line).get(key) for key in ("path", "text"))
        if not isinstance(path, str) or not isinstance(text, str) or not _is_storable(path):
            raise InvalidText(f"{file}:{number}: this is no page and no entry")
        if fold(path) in entries if is_entry(path) else path in pages:
            raise InvalidText(f"{file}:{number}: {path!r} is there twice, or differs from another one only in case")
        (entries.add(fold(path)) if is_entry(path) else pages.add(path))
        files[path] = encode(text)
    return files


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(decode(line))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _is_storable(path: str) -> bool:
    if not is_page_path(path):
        return False
    return is_stored_place(path) or path == DOMAINS_PAGE if is_entry(path) else not is_reserved(path)
