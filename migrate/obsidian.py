"""An Obsidian vault. Its notes are read as all Markdown is, with `[[links]]`, aliases, tags and embeds."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.source import Scan

name: Final = "obsidian"
about: Final = "an Obsidian vault"


def detect(folder: Path) -> str:
    """By its settings."""
    settings = sorted((folder / ".obsidian").glob("*.json"))
    return f".obsidian/{settings[0].name}" if settings else ""


def scan(folder: Path) -> Scan:
    """Each note is a document; attachments are left out."""
    return scan_folder(name, folder)
