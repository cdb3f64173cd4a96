"""Results as JSON documents: the same for every face.

A result's document has the names that it has in Python. A dataclass is an object of its fields; one that is told in
another way says so in its `to_dict`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from memory_v2.tree.page import parse_page

if TYPE_CHECKING:
    from memory_v2.operations.check import Checkup
    from memory_v2.operations.history import PastOperation
    from memory_v2.storage.history import Change
    from memory_v2.trace.recording import Trace


@runtime_checkable
class _HasDocument(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def document(value: Any) -> Any:
    """A value as plain JSON data."""
    if isinstance(value, _HasDocument):
        value = value.to_dict()
    elif is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, dict):
        return {key: document(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [document(one) for one in value]
    return value.isoformat() if isinstance(value, date) else value


def read_document(path: str, text: str, size: int) -> dict[str, Any]:
    """A page with its text; `size` is that on the disk."""
    return {"path": path, "title": parse_page(path, text).title, "size_bytes": size, "text": text}


def check_document(checkup: Checkup, pages: int) -> dict[str, Any]:
    """The findings among so many pages; after a repair also what was repaired, and the changes."""
    told: dict[str, Any] = {"pages": pages, "findings": document(checkup.findings)}
    if checkup.changes:
        told |= {"mended": document(checkup.mended), "result": document(checkup.changes)}
    return told


def shown_document(operation: PastOperation, changes: Change) -> dict[str, Any]:
    """A past operation with its revisions, oldest first, and what it changed."""
    entries = [document(revision) for revision in reversed(operation.revisions)]
    return {**document(operation), "entries": entries, "changes": changes.diff}


def trace_document(trace: Trace) -> dict[str, Any]:
    """One trace, its events as they were kept."""
    return {"trace": trace.name, "events": trace.events}
