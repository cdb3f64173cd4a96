"""An agent's workspace: `MEMORY.md` for what lasts, and a log for each day, such as `memory/2026-02-03.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from memory_v2.migrate.claude_folder import address_in, judge_in
from memory_v2.migrate.files import has_text_suffix, list_files
from memory_v2.migrate.folder import scan_folder
from memory_v2.migrate.source import Scan
from memory_v2.tree.source import named_day

name: Final = "daily-logs"
about: Final = "MEMORY.md and a log for each day"
SHELF: Final = "daily-logs"
"""The folder of the logs that are in none of their own."""
_MEMORY = "memory.md"
_PLACES = ("", "memory/")


def detect(folder: Path) -> str:
    """By `MEMORY.md` and a log beside it or in `memory/`."""
    texts = [*filter(has_text_suffix, list_files(folder, judge_in(folder)).names())]
    logs = [text for text in texts if _is_log(text)]
    lasting = [text for text in texts if text.rpartition("/")[2] == "MEMORY.md" and text[:-9] in _PLACES]
    return f"{lasting[0]} and {len(logs)} daily log{'s' * (len(logs) != 1)}" if logs and lasting else ""


def scan(folder: Path) -> Scan:
    """Each file is a document. Logs are put into a folder, so that they are together."""

    def address(text: str) -> str:
        return f"{SHELF}/{text.rpartition('/')[2]}" if _is_log(text) else address_in(folder, text)

    return scan_folder(name, folder, address=address)


def _is_log(text: str) -> bool:
    """Whether a text is at the top or in `memory/`, and its name begins with a day."""
    above, _, last = text.rpartition("/")
    return above in ("", "memory") and last[:4].isdecimal() and named_day(last) is not None
