"""An agent's workspace: `MEMORY.md` for what lasts, and a log for each day, such as `memory/2026-02-03.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory_v2.files.claude_folder import address_in, judge_in
from memory_v2.files.listing import has_text_suffix, list_files
from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.source import Scan
from memory_v2.text.calendar import named_day

name: Final = "daily-logs"
about: Final = "MEMORY.md and a log for each day"
SHELF: Final = "daily-logs"
"""The folder of the logs that are in none of their own."""
SEVERAL: Final = 3
"""From how many logs a folder is one of logs without a `MEMORY.md`."""
_LASTING = ("MEMORY.md", "memory/MEMORY.md")


def detect(folder: Path) -> str:
    """By logs at the top or in `memory/`: several, or one and a `MEMORY.md`."""
    texts = [*filter(has_text_suffix, list_files(folder, judge_in(folder)).names())]
    logs = sum(map(_is_log, texts))
    lasting = next((text for text in _LASTING if text in texts), "")
    if logs < (1 if lasting else SEVERAL):
        return ""
    return " and ".join(filter(None, [lasting, f"{logs} daily log{'s' * (logs != 1)}"]))


def scan(folder: Path) -> Scan:
    """Each file is a document. Logs are put into a folder, so that they are together."""

    def address(text: str) -> str:
        return f"{SHELF}/{text.rpartition('/')[2]}" if _is_log(text) else address_in(folder, text)

    return scan_folder(name, folder, address=address)


def _is_log(text: str) -> bool:
    """Whether a text is at the top or in `memory/`, and its name begins with a day."""
    above, _, last = text.rpartition("/")
    return above in ("", "memory") and last[:4].isdecimal() and named_day(last) is not None
