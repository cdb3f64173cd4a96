"""In which format a store is: how things lie beside the pages, and what a page looks like.

    1   pages, and perhaps a history; nothing says so
    2   the same, with notes of what is under way: who does not know of them must not write here

A store in an older format is brought up to date by the first change, after its pages have come into the history as they
were; one in a newer format is refused.
"""

from __future__ import annotations

import json

from memory_v2.errors import StorageError
from memory_v2.storage.base import Notes

FORMAT = 2
NOTE = "format"


def is_current(notes: Notes) -> bool:
    """Whether the store is in this format; it is in an older one, or new, if not. Raises `StorageError` for a newer."""
    data = notes.read(NOTE)
    if data is None:
        return False
    try:
        found = json.loads(data)["format"]
        is_older = bool(found < FORMAT)
    except (ValueError, TypeError, LookupError) as error:
        raise StorageError(
            "the note .metadata/format.json of this memory cannot be read, so nobody knows in which format it is; "
            f'if no newer version of this program has used it, make it {{"format": {FORMAT}}}'
        ) from error
    if found > FORMAT:
        raise StorageError(
            f"this memory is in format {found}, and this version of the program knows {FORMAT} and older ones: "
            "install a newer version of silica-memory"
        )
    return not is_older


def note_format(notes: Notes) -> None:
    """Says that the store is in this format."""
    notes.write(NOTE, json.dumps({"format": FORMAT}).encode() + b"\n")
