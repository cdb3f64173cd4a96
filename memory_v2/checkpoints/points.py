"""Making checkpoints, exporting them, and going back to one. A checkpoint is a revision of its own, which changes
nothing and has a name, so that it is in every storage's history, and follows when that is rewritten."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from memory_v2.agent.operation import new_id
from memory_v2.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointContents,
    ExportedCheckpoint,
    checkpoint_lines,
    read_checkpoint,
)
from memory_v2.entries.checking import record_entries, stored_paths
from memory_v2.entries.places import is_pack, place_of, read_pack
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidSetting, NotAllowed, UsageError
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.history import put_back, settled
from memory_v2.operations.operation import operation
from memory_v2.operations.results import Result
from memory_v2.storage.history import Change, PageChange, Revision, compared
from memory_v2.storage.local.disk import explained, read_bytes, replace_bytes
from memory_v2.tree.path import is_entry

CHECKPOINT = "checkpoint"
"""The kind of a revision that is a checkpoint; its summary is the name."""
_NAME = re.compile(r"\w[\w.-]{0,63}\Z")


@operation("create_checkpoint", changes="store")
def create_checkpoint(context: Context, name: str) -> Checkpoint:
    """Gives the present state a name. Raises `InvalidSetting`, `NotAllowed` if it is taken or there is nothing to keep,
    and `StorageError`."""
    if not _NAME.match(str(name)):
        raise InvalidSetting(f"a checkpoint's name has letters, digits, '.', '_' and '-', up to 64, not {name!r}")
    store, storage = _area(context), context.storage
    with storage.lock():
        if not storage.list_files() and not stored_paths(store):
            raise NotAllowed("the memory is empty: there is nothing to keep")
        storage.begin(context.now())
        _record_all(context)
        if any(one.summary == name for one in _revisions(context)):
            raise NotAllowed(f"there is a checkpoint {name!r} already; 'silica memory checkpoint list' shows all")
        made = storage.commit(Change((), Revision(CHECKPOINT, name, new_id(), when=context.now())))
    return _checkpoint(made.revision)


@operation("list_checkpoints")
def list_checkpoints(context: Context) -> list[Checkpoint]:
    """The checkpoints, oldest first."""
    return [_checkpoint(one) for one in _revisions(context)][::-1]


@operation("show_checkpoint")
def show_checkpoint(context: Context, name: str) -> CheckpointContents:
    """What a checkpoint holds, and what differs from it now. Raises `NotAllowed` if there is none of this name."""
    revision = _find(context, name)
    _record_all(context)
    files, history = _files(context, revision), context.storage.history
    changed = tuple(one.path for one in history.difference(revision.id, history.head))
    size = sum(map(len, files.values()))
    return CheckpointContents(_checkpoint(revision), *_counts(files), size, changed)


@operation("export_checkpoint")
def export_checkpoint(context: Context, name: str, file: str | Path, force: bool = False) -> ExportedCheckpoint:
    """Writes a checkpoint to a file, whole or not at all; one that is there is only replaced by `force`. Raises
    `NotAllowed`, `UsageError`, `StorageError`."""
    revision, place = _find(context, name), _place(file)
    if place.is_dir() or (place.exists() and not force):
        raise UsageError(f"{file} is there already; name another file" + ("" if place.is_dir() else ", or use --force"))
    files = _files(context, revision)
    data, checksum = checkpoint_lines(_checkpoint(revision), files)
    with explained("write", place):
        replace_bytes(place, data)
    return ExportedCheckpoint(_checkpoint(revision), str(file), *_counts(files), len(data), checksum)


@operation("load_checkpoint", changes="tree", recorded=True)
def load_checkpoint(context: Context, file: str | Path) -> Result:
    """Makes all pages and entries those of a checkpoint's file, in one operation; the present ones stay in the history.
    Raises `InvalidText` if the file is not what was exported, and `StorageError`."""
    place = _place(file)
    try:
        data = read_bytes(place)
    except OSError as error:
        raise UsageError(f"cannot read {place}: {error.strerror or error}") from error
    with context.storage.lock():
        result = _put_back(context, read_checkpoint(data, str(file)))
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
    store = _area(context)
    now = {path: data for path in stored_paths(store) if (data := store.data(path)) is not None}
    changes = compared(now, {path: data for path, data in files.items() if is_entry(path)})
    result = put_back(context, {path: data for path, data in files.items() if not is_entry(path)}, changes)
    store.remember(changes)
    store.known.close()
    return result


def _place(file: str | Path) -> Path:
    """The file, which need not exist. Raises `UsageError` if no file can have this name."""
    place = Path(file)
    try:
        os.lstat(place)
    except (OSError, ValueError) as error:  # ValueError: it cannot be encoded, or holds NUL
        if isinstance(error, ValueError) or error.errno == errno.ENAMETOOLONG:
            raise UsageError(f"no file can have the name {str(file)!r}: {error}") from error
    return place


def _area(context: Context) -> EntryStore:
    return EntryStore(context.storage, context.calendar)


def _record_all(context: Context) -> None:
    """Brings edits by hand and captured entries into the history."""
    refresh(context, even_if_fresh=True)
    record_entries(_area(context))


def _revisions(context: Context) -> Iterator[Revision]:
    history = context.storage.history
    return (one for one in (history.revisions() if history.begun else ()) if one.kind == CHECKPOINT)


def _find(context: Context, name: str) -> Revision:
    there = {one.summary: one for one in _revisions(context)}
    if name not in there:
        known = ", ".join(list(there)[:10]) or "none"
        raise NotAllowed(f"there is no checkpoint {name!r}; there are: {known}")
    return there[name]


def _files(context: Context, revision: Revision) -> dict[str, bytes]:
    """All pages and entries after a revision."""
    changes: tuple[PageChange, ...] = context.storage.history.difference("", revision.id)
    return {one.path: one.after for one in changes if one.after is not None}


def _counts(files: Mapping[str, bytes]) -> tuple[int, int]:
    entries = (
        len(read_pack(data).entries) if is_pack(path) else place_of(path) is not None for path, data in files.items()
    )
    return sum(not is_entry(path) for path in files), sum(entries)


def _checkpoint(revision: Revision) -> Checkpoint:
    return Checkpoint(revision.summary, revision.id[:12], revision.when)
