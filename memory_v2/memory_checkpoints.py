"""What users hold as `memory.checkpoints`. Each method is an operation, run by the engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memory_v2 import entries

if TYPE_CHECKING:
    from memory_v2.engine import Engine
    from memory_v2.entries.checkpoints import Checkpoint, CheckpointContents, ExportedCheckpoint
    from memory_v2.operations.results import Result

Name = Annotated[str, "The checkpoint."]


class Checkpoints:
    """The checkpoints of a memory: named points of its history, each with all pages and entries as they were."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def create_checkpoint(self, name: Name) -> Checkpoint:
        """Gives the present state a name; edits by hand and captured entries are in it. Raises `InvalidSetting`,
        `NotAllowed` if the name is taken or the memory is empty, and `StorageError`."""
        return self._engine.run(entries.checkpoints.create_checkpoint, name)

    def list_checkpoints(self) -> list[Checkpoint]:
        """Lists the checkpoints, oldest first."""
        return self._engine.run(entries.checkpoints.list_checkpoints)

    def show_checkpoint(self, name: Name) -> CheckpointContents:
        """Returns what a checkpoint holds, and which pages and entries differ from it now. Raises `NotAllowed` if there
        is none of this name."""
        return self._engine.run(entries.checkpoints.show_checkpoint, name)

    def export_checkpoint(
        self,
        name: Name,
        file: Annotated[str | Path, "The file."],
        force: Annotated[bool, "Replace the file if it is there."] = False,
    ) -> ExportedCheckpoint:
        """Writes a checkpoint to a file, with a version and a checksum, whole or not at all. A file that is there is
        only replaced with `force`. Raises `NotAllowed`, `UsageError`, `StorageError`."""
        return self._engine.run(entries.checkpoints.export_checkpoint, name, file, force)

    def load_checkpoint(self, file: Annotated[str | Path, "The file."]) -> Result:
        """Makes all pages and entries those of a checkpoint's file, in one operation that `undo` takes back. Raises
        `InvalidText` if the file is not as it was exported or is of a newer version, and `StorageError`."""
        return self._engine.run(entries.checkpoints.load_checkpoint, file)

    def restore_checkpoint(self, name: Name) -> Result:
        """Makes all pages and entries those of a checkpoint, in one operation that `undo` takes back. Raises
        `NotAllowed`, `StorageError`."""
        return self._engine.run(entries.checkpoints.restore_checkpoint, name)
