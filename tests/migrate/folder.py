"""A folder of Markdown files, and a reader of no more than that: what the tests of the plan and the run need."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.text.calendar import named_day
from memory_v2.tree.block import decode


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes these files; returns the folder."""
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    return folder


def scanned(folder: Path) -> Scan:
    """Every `.md` file as a document; `@name` in a text refers to another."""
    files = sorted(folder.rglob("*.md"), key=lambda file: str(file.relative_to(folder)))
    documents = []
    for file in files:
        name, text = str(file.relative_to(folder)), decode(file.read_bytes())
        links = tuple(one for one in re.findall(r"@([\w./-]+\.md)", text) if (folder / one).exists())
        place = name.removesuffix(".md")
        documents.append(SourceDocument(name, text, place, day=named_day(name), links=links))
    return Scan("folder", documents)
