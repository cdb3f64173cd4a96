"""Writing the objects of a git repository so that they survive a power cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memory_v2.storage.local.disk import new_temporary, store_bytes, sync_folder


class FlushedObjects:
    """An object store that writes each object durably to its own file. Temporary files are made in `objects/` itself,
    where a sweep finds them without listing its 256 subfolders."""

    def __init__(self, store: Any, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._changed: set[Path] = set()

    def __getitem__(self, object_id: bytes) -> Any:
        return self._store[object_id]

    def add_object(self, added: Any) -> None:
        """Writes and flushes the object; its name is durable after `flush`."""
        name = added.id.decode()
        file = self._folder / name[:2] / name[2:]
        self._changed.add(file.parent)
        if file.exists():
            return
        if not file.parent.exists():
            file.parent.mkdir(mode=0o700, exist_ok=True)
            self._changed.add(self._folder)
        temporary = new_temporary(self._folder)
        store_bytes(temporary, added.as_legacy_object())
        temporary.replace(file)

    def flush(self) -> None:
        """Flushes the names of all added objects."""
        for folder in self._changed:
            sync_folder(folder)
