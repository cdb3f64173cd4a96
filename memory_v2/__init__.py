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
    from memory_v2.notes.notes import Notes

__version__ = "0.1.0"

__all__ = [
    "Cancelled",
    "EntryNotFound",
    "InvalidPath",
    "InvalidPattern",
    "InvalidSetting",
    "InvalidText",
    "Memory",
    "ModelError",
    "NotAllowed",
    "Notes",
    "PageExists",
    "PageNotFound",
    "SilicaError",
    "StorageConflict",
    "StorageError",
    "UsageError",
    "__version__",
    "get_memory_graph",
    "list_memory_files",
    "read_memory",
    "search_memory",
    "split_memory",
    "write_memory",
]


_HOMES = {"Memory": "memory", "Notes": "notes.notes"}
"""Where the classes are defined; all else that is not imported above is one of the functions."""


def __getattr__(name: str) -> Any:
    """Imports what is asked for when it is first asked for: who reads notes needs no memory, and most need no notes."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'functions')}"), name)
    globals()[name] = found
    return found
