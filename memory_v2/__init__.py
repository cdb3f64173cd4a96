"""Silica Memory: a memory for AI agents that starts as one Markdown file and grows into a tree by itself.

from memory_v2 import Memory

memory = Memory.open()
memory.write("Silica uses pytest for testing")
memory.search("How is Silica tested?")[0].excerpt
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memory_v2.errors import (
    Cancelled,
    EntryNotFound,
    InvalidPath,
    InvalidPattern,
    InvalidSetting,
    InvalidText,
    ModelError,
    NotAllowed,
    PageExists,
    PageNotFound,
    SilicaError,
    StorageConflict,
    StorageError,
    UsageError,
)

if TYPE_CHECKING:
    from memory_v2.functions import (
        get_memory_graph,
        list_memory_files,
        read_memory,
        search_memory,
        split_memory,
        write_memory,
    )
    from memory_v2.memory import Memory
    from memory_v2.migrate.migration import migrate_memory_v1_to_v2
    from memory_v2.notes.notes import Notes
    from memory_v2.operations.results import PageInfo, SearchResult, WriteResult

    MemoryFileInfo = PageInfo

MemoryNotFoundError = PageNotFound
"""The same, by another name that the field has for it, as `MemoryFileInfo` is `PageInfo`."""
__version__ = "0.1.0"

__all__ = [
    "Cancelled",
    "EntryNotFound",
    "InvalidPath",
    "InvalidPattern",
    "InvalidSetting",
    "InvalidText",
    "Memory",
    "MemoryFileInfo",
    "MemoryNotFoundError",
    "ModelError",
    "NotAllowed",
    "Notes",
    "PageExists",
    "PageInfo",
    "PageNotFound",
    "SearchResult",
    "SilicaError",
    "StorageConflict",
    "StorageError",
    "UsageError",
    "WriteResult",
    "__version__",
    "get_memory_graph",
    "list_memory_files",
    "migrate_memory_v1_to_v2",
    "read_memory",
    "search_memory",
    "split_memory",
    "write_memory",
]


_HOMES = {
    "Memory": "memory",
    "Notes": "notes.notes",
    "migrate_memory_v1_to_v2": "migrate.migration",
    **dict.fromkeys(("MemoryFileInfo", "PageInfo", "SearchResult", "WriteResult"), "operations.results"),
}
"""Where they are defined; all else that is not imported above is one of the functions."""


def __getattr__(name: str) -> Any:
    """Imports what is asked for when it is first asked for: who reads notes needs no memory, and most need no notes."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    defined = "PageInfo" if name == "MemoryFileInfo" else name
    found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'functions')}"), defined)
    globals()[name] = found
    return found
