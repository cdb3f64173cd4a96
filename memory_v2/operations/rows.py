"""The operations on the tree and its history: their rows of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memory_v2.operations.row import Argument, Row
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from memory_v2.operations.check import Checkup
    from memory_v2.operations.forget import Forgotten
    from memory_v2.operations.gc import Packed
    from memory_v2.operations.history import BlamedLine, PastOperation
    from memory_v2.operations.imports import ImportResult
    from memory_v2.operations.results import (
        DeleteResult,
        PageInfo,
        Result,
        SplitResult,
        WriteResult,
    )
    from memory_v2.operations.session_start import SessionContext
    from memory_v2.storage.history import Change
    from memory_v2.tree.graph import Graph

PAGE = Argument("path", "str", "The page; the root if none is given.", ROOT)

READ: Row[str] = Row("read", "operations.read:read", "Read a page as it is stored.", (PAGE,), works_on="storage")

WRITE: Row[WriteResult] = Row(
    "write",
    "operations.write:write",
    "Write a text: where it belongs, or on a page.",
    (
        Argument("text", "str", "The text, in Markdown."),
        Argument(
            "path", "str | None", "The page to write to, created if missing. Default: where the text belongs.", None
        ),
        Argument(
            "mode",
            "str",
            "update works the text into the page; append adds it at the end; replace replaces the page's text.",
            "update",
            choices=("update", "append", "replace"),
        ),
        Argument(
            "source", "str | None", "Where the text came from: a file, a URL, a session, an author. Kept with it.", None
        ),
        Argument(
            "date",
            "date | str | None",
            "The day the text was said, such as 2026-02-03. Default: the day in the name of the source, if any.",
            None,
        ),
    ),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

LIST_FILES: Row[list[PageInfo]] = Row(
    "list_files",
    "operations.survey:list_pages",
    "List all pages with their size, date and links.",
    listed_as="pages",
)

GRAPH: Row[Graph] = Row("graph", "operations.survey:graph", "Get the pages and the links between them.")

SPLIT: Row[SplitResult] = Row(
    "split",
    "operations.overgrown:split_now",
    "Divide a page into a page and its children.",
    (PAGE,),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

MERGE: Row[Result] = Row(
    "merge",
    "operations.arrange:merge",
    "Fold a page back into its parent.",
    (Argument("path", "str", "The page."),),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

RENAME: Row[Result] = Row(
    "rename",
    "operations.arrange:rename",
    "Move a page, and the pages below it, to another path; links follow.",
    (Argument("old", "str", "The page."), Argument("new", "str", "Its new path.")),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

DELETE: Row[DeleteResult] = Row(
    "delete",
    "operations.arrange:delete",
    "Delete a page. Its children move to its parent.",
    (Argument("path", "str", "The page."),),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

CHECK: Row[Checkup] = Row(
    "check",
    "operations.check:check",
    "Check the tree for problems, and repair them.",
    (Argument("apply", "bool", "Repair what can be repaired.", False),),
    changes="tree",
    is_recorded=True,
    recorded_with="apply",
    is_replayable=True,
)

HISTORY: Row[list[PastOperation]] = Row(
    "history",
    "operations.history:history",
    "List past operations, newest first.",
    (Argument("path", "str | None", "Only operations that changed this page.", None),),
    listed_as="operations",
)

SHOW: Row[tuple[PastOperation, Change]] = Row(
    "show",
    "operations.history:changes",
    "Show a past operation and what it changed.",
    (Argument("revision", "str", "The operation's id, or the beginning of it."),),
)

DIFF: Row[Change] = Row(
    "diff",
    "operations.history:difference",
    "Show what changed between two past operations.",
    (
        Argument("old", "str", "Compare the pages as they were after this operation"),
        Argument("new", "str | None", "with the pages as they were after this one; else as they are now.", None),
    ),
    repeats=("old", "new"),
)

BLAME: Row[list[BlamedLine]] = Row(
    "blame",
    "operations.history:blame",
    "Show which operation brought each line of a page.",
    (PAGE,),
    listed_as="lines",
    repeats=("path",),
)

UNDO: Row[Result] = Row(
    "undo",
    "operations.history:undo",
    "Undo an operation.",
    (Argument("revision", "str | None", "The operation's id; else the newest that is not undone.", None),),
    changes="tree",
    is_recorded=True,
)

RESTORE: Row[Result] = Row(
    "restore",
    "operations.history:restore",
    "Restore a page, or all pages, to an earlier state.",
    (
        Argument("revision", "str", "The id of the operation after which the pages were as wanted."),
        Argument("path", "str | None", "The page; all pages if none is given.", None),
    ),
    changes="tree",
    is_recorded=True,
)

PACK_HISTORY: Row[Packed] = Row(
    "pack_history",
    "operations.gc:pack",
    "Pack the history into one file.",
    works_on="storage",
    changes="store",
)

CREATE: Row[Result] = Row(
    "create",
    "operations.exact:create",
    "Create a page with exactly this text.",
    (Argument("path", "str", "The page."), Argument("text", "str", "The text, in Markdown.")),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

INSERT: Row[Result] = Row(
    "insert",
    "operations.exact:insert",
    "Insert a text after a line of a page.",
    (
        Argument("path", "str", "The page."),
        Argument("line", "int", "The number of lines before the text; 0 is the top of the page."),
        Argument("text", "str", "The text, in Markdown."),
    ),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

REPLACE_TEXT: Row[Result] = Row(
    "replace_text",
    "operations.exact:replace_text",
    "Replace a part of a page's text.",
    (
        Argument("path", "str", "The page."),
        Argument("old", "str", "The part, which occurs exactly once."),
        Argument("new", "str", "What stands there instead."),
        Argument("source", "str | None", "Where the new words came from. Kept with them.", None),
        Argument("date", "date | str | None", "The day they were said, such as 2026-02-03.", None),
    ),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

DELETE_FOLDER: Row[Result] = Row(
    "delete_folder",
    "operations.exact:delete_folder",
    "Delete all pages below a path.",
    (Argument("path", "str", "The path; the page of this path stays."),),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

RENAME_FOLDER: Row[Result] = Row(
    "rename_folder",
    "operations.exact:rename_folder",
    "Move all pages below a path to another path; links follow.",
    (Argument("old", "str", "The path."), Argument("new", "str", "The other path.")),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

CONTEXT: Row[SessionContext] = Row(
    "context",
    "operations.session_start:context",
    "Get what a session begins with: the root page and the pages about a project.",
    (
        Argument("max_tokens", "int", "The maximum number of tokens, by an estimate.", 2_000),
        Argument("project", "str | None", "The name of the project.", None),
    ),
    works_on="storage",
)

FORGET: Row[Forgotten] = Row(
    "forget",
    "operations.forget:forget",
    "Take a text, a page or lines out of the memory and its past, for good.",
    (
        Argument("text", "str | None", "The text, to the letter, wherever it stands.", None),
        Argument("path", "str | None", "The page, with its past and each line that stands on it alone.", None),
        Argument("lines", "str | None", "Only these lines of the page, such as 3-5, wherever they stand.", None),
        Argument("apply", "bool", "Do it; otherwise only say where it stands.", False),
    ),
    changes="past",
)

EDIT: Row[Result] = Row(
    "edit",
    "operations.edit:edit",
    "Replace a page by the text that an editor has made of it.",
    (
        Argument("path", "str", "The page."),
        Argument("text", "str", "The whole page as it is to be stored."),
        Argument("was", "str", "The whole page as the editor was given it."),
    ),
    changes="tree",
    is_recorded=True,
    is_replayable=True,
)

IMPORT: Row[ImportResult] = Row(
    "import",
    "operations.imports:import_batch",
    "Bring in a batch of documents, each as a page of its own.",
    (Argument("batch", "Batch", "The documents, and the pages they get."),),
    changes="tree",
    is_recorded=True,
)

ROWS: tuple[Row[Any], ...] = (
    WRITE,
    READ,
    LIST_FILES,
    GRAPH,
    SPLIT,
    MERGE,
    RENAME,
    DELETE,
    CHECK,
    HISTORY,
    SHOW,
    DIFF,
    BLAME,
    UNDO,
    RESTORE,
    PACK_HISTORY,
    CREATE,
    INSERT,
    REPLACE_TEXT,
    DELETE_FOLDER,
    RENAME_FOLDER,
    CONTEXT,
    FORGET,
    EDIT,
    IMPORT,
)
