"""A ClawVault: a vault with folders for decisions, lessons, people, and templates that describe their fields."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from memory_v2.files.left_out import LeftOut
from memory_v2.migrate.folder import Text, scan_folder
from memory_v2.migrate.source import Scan

name: Final = "clawvault"
about: Final = "a ClawVault"
MARK: Final = ".clawvault.json"
_TEMPLATE = re.compile(r"---\r?\nprimitive:")


def detect(folder: Path) -> str:
    """By the file that describes the vault."""
    return MARK if (folder / MARK).is_file() else ""


def scan(folder: Path) -> Scan:
    """Each note is a document, and own templates are; those that ClawVault made are left out."""
    return scan_folder(name, folder, leave_out=_template)


def _template(text: Text) -> LeftOut | None:
    if text.name.startswith("templates/") and _TEMPLATE.match(text.text):
        return LeftOut(text.name, "a template that ClawVault made", is_expected=True)
    return None
