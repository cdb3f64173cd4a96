"""What users hold as `memory.checkpoints`. Each method is a row of the table, run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memory_v2.checkpoints import rows
from memory_v2.entries.arguments import check_arguments

if TYPE_CHECKING:
    from memory_v2.checkpoints.checkpoint import Checkpoint, CheckpointContents, ExportedCheckpoint
    from memory_v2.operations.results import Result
    from memory_v2.operations.row import Row

T = TypeVar("T")


class Checkpoints:
    """The checkpoints of a memory: named points of its history, each with all pages and entries as they were."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self._carry_out = run

    def _run(self, row: Row[T], /, **given: Any) -> T:
        check_arguments(row, given)
        done: T = self._carry_out(row, **given)
        return done

    def create_checkpoint(self, name: str) -> Checkpoint:
        """Gives the present state a name; edits by hand and captured entries are in it. Raises `InvalidSetting`,
        `NotAllowed` if the name is taken or the memory is empty, and `StorageError`."""
        made: Checkpoint = self._run(rows.CREATE_CHECKPOINT, name=name)
        return made

    def list_checkpoints(self) -> list[Checkpoint]:
        """Lists the checkpoints, oldest first."""
        listed: list[Checkpoint] = self._run(rows.LIST_CHECKPOINTS)
        return listed

    def show_checkpoint(self, name: str) -> CheckpointContents:
        """Returns what a checkpoint holds, and which pages and entries differ from it now. Raises `NotAllowed` if there
        is none of this name."""
        shown: CheckpointContents = self._run(rows.SHOW_CHECKPOINT, name=name)
        return shown

    def export_checkpoint(self, name: str, file: str | Path, force: bool = False) -> ExportedCheckpoint:
        """Writes a checkpoint to a file, with a version and a checksum, whole or not at all. A file that is there is
        only replaced with `force`. Raises `NotAllowed`, `UsageError`, `StorageError`."""
        exported: ExportedCheckpoint = self._run(rows.EXPORT_CHECKPOINT, name=name, file=file, force=force)
        return exported

    def load_checkpoint(self, file: str | Path) -> Result:
        """Makes all pages and entries those of a checkpoint's file, in one operation that `undo` takes back. Raises
        `InvalidText` if the file is not as it was exported or is of a newer version, and `StorageError`."""
        result: Result = self._run(rows.LOAD_CHECKPOINT, file=file)
        return result

    def restore_checkpoint(self, name: str) -> Result:
        """Makes all pages and entries those of a checkpoint, in one operation that `undo` takes back. Raises
        `NotAllowed`, `StorageError`."""
        result: Result = self._run(rows.RESTORE_CHECKPOINT, name=name)
        return result
