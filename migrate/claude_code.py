"""The memory that Claude Code keeps: `CLAUDE.md`, and `MEMORY.md` with a file for each topic in a `.claude` folder, or
where such a memory was copied to."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from memory_v2.files.claude_folder import is_memory, judge_in
from memory_v2.files.listing import has_text_suffix, list_files
from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.source import Scan

name: Final = "claude-code"
about: Final = "the memory of Claude Code: CLAUDE.md, .claude/…/memory"
_TOPIC = re.compile(rb"\A---\r?\n(?:.+\n)*?(?: *originSessionId:| *node_type: *memory\b)")
_TOP_BYTES = 2_000
"""How much of a file is read to see whether it is a topic, in bytes: more than the front matter of one."""


def detect(folder: Path) -> str:
    """By such a folder, by the front matter of a topic beside `MEMORY.md`, or by `CLAUDE.md`."""
    files = [file for file in list_files(folder, judge_in(folder)).files if has_text_suffix(file.name)]
    if kept := [file.name for file in files if is_memory(folder, file.name)]:
        return kept[0]
    names = {file.name for file in files}
    for file in files if "MEMORY.md" in names else ():
        if "/" not in file.name and _is_topic(file.path):
            return f"MEMORY.md and {file.name}"
    return next((each for each in ("CLAUDE.md", "CLAUDE.local.md") if each in names), "")


def scan(folder: Path) -> Scan:
    """Each file is a document, as if the memory were the folder."""
    return scan_folder(name, folder)


def _is_topic(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return bool(_TOPIC.match(file.read(_TOP_BYTES)))
    except OSError:
        return False
