"""A folder of Markdown files, and what is read of it: what the tests of the plan and the run need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memory_v2.files.listing import list_files
from memory_v2.migrate.folder import scan_files
from memory_v2.migrate.scan import Scan


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes these files; returns the folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


def scanned(folder: Path) -> Scan:
    """Every `.md` file as a document, whatever format the folder may be of."""
    return scan_files(list_files(folder, lambda *_: None))
