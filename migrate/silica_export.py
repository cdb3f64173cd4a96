"""A memory that was exported as a folder: each page as it was, without what the export has put around its text."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.export_forms import BELOW, PAGE, page_in, source_in, text_in
from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.path import ROOT

name: Final = "silica-export"
about: Final = "a memory exported by 'silica memory export'"

_LISTED = re.compile(r"(?m)^- \[[^\]\r\n]*\]\(([^)\s]+)\): ([^\r\n]+)")
_MOST_READ = 10_000
"""How much of a file is read to know it, in bytes: a front matter, and more."""


def detect(folder: Path) -> str:
    """By the key that the export writes into the front matter of the root."""
    try:
        with (folder / f"{ROOT}.md").open("rb") as file:
            found = page_in(file.read(_MOST_READ).decode("utf-8", "surrogateescape"))
    except OSError:
        return ""
    return f"{PAGE} in {ROOT}.md" if found == ROOT else ""


def scan(folder: Path) -> Scan:
    """Each page is a document; files that were put beside them are documents too. A root without a text of its own is
    left out."""
    found = scan_folder(name, folder)
    described = _descriptions(found.documents)
    documents, left_out = [], list(found.left_out)
    for document in found.documents:
        page, text = page_in(document.text), text_in(document.text)
        if not page:
            documents.append(document)
        elif page == ROOT and all(block.kind == "heading" for block in parse_blocks(text)):
            left_out.append(LeftOut(document.name, "it only lists the pages below", is_expected=True))
        else:
            source, about = source_in(document.text), described.get(page, document.description)
            documents.append(replace(document, text=text, place=page, source=source, description=about, links=()))
    return Scan(name, documents, sorted(left_out, key=lambda left: left.name))


def _descriptions(documents: Iterable[SourceDocument]) -> dict[str, str]:
    """What the pages above say of each page, by its path."""
    described: dict[str, str] = {}
    for document in documents:
        if page := page_in(document.text):
            _, _, listed = document.text.rpartition(BELOW)
            for target, words in _LISTED.findall(listed):
                path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(target)))
                described.setdefault(path.removesuffix(".md"), words)
    return described
