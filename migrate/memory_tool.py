"""The folder of Claude's memory tool, `/memories`: Claude names its files as it likes, so all that is text is read."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import has_text_suffix
from memory_v2.migrate.folder import Text, scan_folder
from memory_v2.migrate.source import Scan
from memory_v2.tree.block import readable

name: Final = "claude-memory-tool"
about: Final = "the folder /memories of Claude's memory tool"
FOLDER: Final = "memories"


def detect(folder: Path) -> str:
    """By its name: the folder is called `memories`, or holds nothing else."""
    if folder.name == FOLDER:
        return f"the name {FOLDER}/"
    inside = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    return f"{FOLDER}/" if inside == [FOLDER] and (folder / FOLDER).is_dir() else ""


def scan(folder: Path) -> Scan:
    """Each file that is text is a document."""
    return scan_folder(
        name,
        folder,
        address=lambda text: text.removeprefix(f"{FOLDER}/"),
        is_text=lambda _: True,
        leave_out=_no_text,
    )


def _no_text(text: Text) -> LeftOut | None:
    if has_text_suffix(text.name) or readable(text.text) == text.text:
        return None
    return LeftOut(text.name, "no text: its bytes are not UTF-8")
