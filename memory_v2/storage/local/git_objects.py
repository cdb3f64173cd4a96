"""Writing git objects so that they survive a power cut, and telling whether packs of them are whole."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from memory_v2.storage.local.disk import leave_to_owner_above, lstat, new_temporary, store_bytes, sync_folder

MANY = 100
"""How many objects of one revision are written as a pack: two files to flush instead of hundreds."""

_IS_ID = re.compile("[0-9a-f]{40}").fullmatch


class FlushedObjects:
    """An object store that writes the objects of a revision durably: each to its own file, or many as one pack.
    Temporary files are made where `sweep` finds them: among the packs, and in `objects/` itself, without listing its
    256 subfolders."""

    def __init__(self, store: Any, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._added: dict[bytes, Any] = {}

    def __getitem__(self, object_id: bytes) -> Any:
        return self._added[object_id] if object_id in self._added else self._store[object_id]

    def add_object(self, added: Any) -> None:
        """Adds an object, which `flush` writes."""
        self._added[added.id] = added

    def flush(self) -> None:
        """Writes and flushes all added objects that are not there yet, and their names."""
        added = list(self._added.values())
        if len(added) >= MANY:
            added = [one for one in added if one.id not in self._store]
        if len(added) >= MANY:
            self.write_pack(added)
            return
        changed: set[Path] = set()
        for one in added:
            self._write_loose(one, changed)
        for folder in changed:
            sync_folder(folder)

    def pack_loose(self) -> int:
        """Writes all objects that have a file of their own as a pack, and removes those files once it is durable.
        Returns their number."""
        names = ["".join(file.parts[-2:]) for file in self._folder.glob("[0-9a-f][0-9a-f]/*")]
        loose = [self._store[name.encode()] for name in names if _IS_ID(name)]
        if loose:
            self.write_pack(loose)
        for one in loose:
            self._store.delete_loose_object(one.id)
        return len(loose)

    def _write_loose(self, added: Any, changed: set[Path]) -> None:
        name = added.id.decode()
        file = self._folder / name[:2] / name[2:]
        changed.add(file.parent)
        if file.exists():
            return
        if not file.parent.exists():
            file.parent.mkdir(mode=0o700, exist_ok=True)
            leave_to_owner_above(file.parent)
            changed.add(self._folder)
        temporary = new_temporary(self._folder)
        store_bytes(temporary, added.as_legacy_object())
        temporary.replace(file)

    def write_pack(self, objects: Sequence[Any]) -> None:
        """Writes these objects as a pack, durably."""
        self._store.fsync_object_files = True
        pack = self._store.add_objects([(added, None) for added in objects])
        packs = self._folder / "pack"
        for kind in ("pack", "idx"):
            leave_to_owner_above(packs / f"pack-{pack.name().decode()}.{kind}")
        sync_folder(packs)


_HASH = 20
"""The length of a SHA-1, in bytes. A pack ends with its own; its index ends with that of the pack and its own."""


def damaged_pack(folder: Path) -> str:
    """The name of a pack that was cut off or whose index is damaged; empty if there is none. The objects in a pack are
    not read: that would take long."""
    for index in sorted(folder.glob("*.idx")):
        pack = index.with_suffix(".pack")
        if not _ends_with(pack, _hash_of_pack(index, index.stat().st_mtime_ns)) and lstat(index):  # else just replaced
            return pack.name
    return ""


@lru_cache(maxsize=64)
def _hash_of_pack(index: Path, _: int) -> bytes:
    """The hash of its pack that an index names; empty if the index is damaged."""
    data = index.read_bytes()
    is_whole = hashlib.sha1(data[:-_HASH], usedforsecurity=False).digest() == data[-_HASH:]
    return data[-2 * _HASH : -_HASH] if is_whole else b""


def _ends_with(pack: Path, ending: bytes) -> bool:
    try:
        with pack.open("rb") as stream:
            stream.seek(-_HASH, os.SEEK_END)
            return stream.read() == ending
    except OSError:  # it is gone, or shorter than that
        return False
