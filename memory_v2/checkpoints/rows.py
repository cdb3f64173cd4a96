"""The operations on checkpoints: their rows of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_v2.operations.row import Argument, Row

if TYPE_CHECKING:
    from memory_v2.checkpoints.checkpoint import Checkpoint, CheckpointContents, ExportedCheckpoint
    from memory_v2.operations.results import Result

NAME = Argument("name", "str", "The checkpoint.")

CREATE_CHECKPOINT: Row[Checkpoint] = Row(
    "create_checkpoint",
    "checkpoints.points:create_checkpoint",
    "Give the present state of all pages and entries a name.",
    (NAME,),
    changes="store",
)

LIST_CHECKPOINTS: Row[list[Checkpoint]] = Row(
    "list_checkpoints",
    "checkpoints.points:list_checkpoints",
    "List the checkpoints, oldest first.",
    listed_as="checkpoints",
)

SHOW_CHECKPOINT: Row[CheckpointContents] = Row(
    "show_checkpoint",
    "checkpoints.points:show_checkpoint",
    "Show what a checkpoint holds, and what differs from it now.",
    (NAME,),
)

EXPORT_CHECKPOINT: Row[ExportedCheckpoint] = Row(
    "export_checkpoint",
    "checkpoints.points:export_checkpoint",
    "Write a checkpoint to a file.",
    (
        NAME,
        Argument("file", "str | Path", "The file."),
        Argument("force", "bool", "Replace the file if it is there.", False),
    ),
)

LOAD_CHECKPOINT: Row[Result] = Row(
    "load_checkpoint",
    "checkpoints.points:load_checkpoint",
    "Make all pages and entries those of a checkpoint's file.",
    (Argument("file", "str | Path", "The file."),),
    changes="tree",
    is_recorded=True,
)

RESTORE_CHECKPOINT: Row[Result] = Row(
    "restore_checkpoint",
    "checkpoints.points:restore_checkpoint",
    "Make all pages and entries those of a checkpoint.",
    (NAME,),
    changes="tree",
    is_recorded=True,
)

ROWS: tuple[Row[Any], ...] = (
    CREATE_CHECKPOINT,
    LIST_CHECKPOINTS,
    SHOW_CHECKPOINT,
    EXPORT_CHECKPOINT,
    LOAD_CHECKPOINT,
    RESTORE_CHECKPOINT,
)
