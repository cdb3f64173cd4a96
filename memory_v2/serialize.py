"""Results as JSON documents: the same for every face.

A result's document has the names that it has in Python. A dataclass is an object of its fields; one that is told in
another way says so in its `to_dict`.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any, Protocol, runtime_checkable

from memory_v2.tree.page import parse_page


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
