"""A plain folder of Markdown: what every folder is that holds text and is nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory_v2.files.claude_folder import judge_in
from memory_v2.files.listing import has_text_suffix, list_files
from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.source import Scan

name: Final = "markdown"
about: Final = "a folder of Markdown or text files"


def detect(folder: Path) -> str:
    """By its text files."""
    texts = [*filter(has_text_suffix, list_files(folder, judge_in(folder)).names())]
    return f"{len(texts)} text file{'s' * (len(texts) != 1)}" if texts else ""


def scan(folder: Path) -> Scan:
    """Each file is a document."""
    return scan_folder(name, folder)
