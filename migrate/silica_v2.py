"""The second memory of Silica as its public branch stored it: each page is a folder, whose text is in `.content`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import left_out_as_hidden, list_files
from memory_v2.migrate.folder import Text, scan_files
from memory_v2.migrate.silica_v1 import one_persona
from memory_v2.migrate.source import Reader, Scan
from memory_v2.tree.path import ROOT

CONTENT: Final = ".content"
NO_ANSWER: Final = "No response generated"
"""What that version stored in place of a page if the model did not answer."""


def _detect(folder: Path) -> str:
    """By the texts of its pages."""
    pages = sum(map(_is_page, list_files(folder, _judge).names()))
    return f"{pages} {CONTENT} file{'s' * (pages != 1)}" if pages else ""


def _scan(folder: Path) -> Scan:
    """Each page is a document. Raises `UsageError` if the folder holds the memories of several personas."""
    start = _start(folder)

    def address(page: str) -> str:
        path = "/".join(part for part in page.removeprefix(start).split("/") if part != CONTENT)
        return f"{path}.md" if path else CONTENT

    listing = list_files(folder, _judge)
    found = scan_files("silica-v2", listing, address=address, is_text=_is_page, leave_out=_unanswered)
    documents = [replace(each, place=ROOT) if each.name == start + CONTENT else each for each in found.documents]
    return replace(found, documents=documents)


def _start(folder: Path) -> str:
    """The folder of the only persona, if this is the folder of all."""
    if (folder / CONTENT).exists() or (folder / ".metadata").exists():
        return ""
    return one_persona(folder, [f"{path.parent.name}/" for path in folder.glob("*/.metadata")])


def _judge(name: str, path: Path) -> LeftOut | None:
    *_, last = name.rstrip("/").rpartition("/")
    if last == CONTENT:
        return None
    if last.startswith(f".{CONTENT}.") and last.endswith(".tmp"):
        return LeftOut(name, "a write that was never finished", is_expected=True)
    return left_out_as_hidden(name, path)


def _is_page(name: str) -> bool:
    return name.rpartition("/")[2] == CONTENT


def _unanswered(text: Text) -> LeftOut | None:
    if text.text.strip() == NO_ANSWER:
        return LeftOut(text.name, f"it only says {NO_ANSWER!r}: the old version lost this page to a failed request")
    return None


SILICA_V2 = Reader("silica-v2", "the .content files of Silica's public branch", _detect, _scan)
