"""The format of a store: the file `.metadata/format.json`, which the first change writes. A store in another format is
refused. While the history is rewritten, the file holds the journal too, and the next change finishes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memory_v2.errors import StorageError
from memory_v2.storage.base import StateFiles

FORMAT = 1
NOTE = "format"
REPAIR = f'make .metadata/format.json {{"format": {FORMAT}}}'
"""What to do about a file that cannot be read."""


def read_format(state: StateFiles) -> Mapping[str, Any]:
    """The content of the file; empty for a store that has none yet. Raises `StorageError` for another format."""
    data = state.read(NOTE)
    if data is None:
        return {}
    try:
        content = json.loads(data)
        number = content["format"]
        is_number = isinstance(number, int)
    except (ValueError, TypeError, LookupError):
        is_number = False
    if not is_number:
        raise StorageError(
            "the file .metadata/format.json of this memory cannot be read, so its format is unknown; "
            f"if no other version of this program has used it, {REPAIR}"
        )
    if number != FORMAT:
        raise StorageError(
            f"this memory is in format {number}, and this version of the program knows format {FORMAT} only: "
            "use the version of silica-memory that made it"
        )
    return dict(content)


def write_format(state: StateFiles, journal: Mapping[str, Any] | None = None) -> None:
    """Writes the file, with the journal of a rewriting that has been decided."""
    content = {"format": FORMAT} | ({"rewriting": journal} if journal else {})
    state.write(NOTE, json.dumps(content).encode() + b"\n")
