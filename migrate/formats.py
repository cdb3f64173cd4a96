"""Folders of Markdown that each program keeps in its own way: what shows that a folder is of one, and how it is read.

All of them are read as `folder` reads text; a format says only what is different.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from memory_v2.files.claude_folder import address_in, is_memory, judge_in
from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import has_text_suffix, list_files
from memory_v2.migrate.folder import Text, scan_folder
from memory_v2.migrate.source import Reader, Scan
from memory_v2.text.amounts import counted
from memory_v2.text.calendar import named_day
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT

SHELF = "daily-logs"
"""The folder of the daily logs that are in none of their own."""
SEVERAL = 3
"""From how many daily logs a folder is one of logs without a `MEMORY.md`."""
_LASTING = ("MEMORY.md", "memory/MEMORY.md")
_CLAWVAULT = ".clawvault.json"
_CLAWVAULT_TEMPLATE = re.compile(r"---\r?\nprimitive:")
_MEMORIES = "memories"
_TOPIC = re.compile(rb"\A---\r?\n(?:.+\n)*?(?: *originSessionId:| *node_type: *memory\b)")
_TOP_BYTES = 2_000
"""How much of a file is read to see whether it is a topic of Claude Code, in bytes: more than the front matter."""


def _texts(folder: Path) -> list[str]:
    """The names of the text files of a folder."""
    return [*filter(has_text_suffix, list_files(folder, judge_in(folder)).names())]


def _is_markdown(folder: Path) -> str:
    texts = len(_texts(folder))
    return counted(texts, "text file") if texts else ""


def _is_obsidian(folder: Path) -> str:
    settings = sorted((folder / ".obsidian").glob("*.json"))
    return f".obsidian/{settings[0].name}" if settings else ""


def _is_clawvault(folder: Path) -> str:
    return _CLAWVAULT if (folder / _CLAWVAULT).is_file() else ""


def _no_template(text: Text) -> LeftOut | None:
    if text.name.startswith("templates/") and _CLAWVAULT_TEMPLATE.match(text.text):
        return LeftOut(text.name, "a template that ClawVault made", is_expected=True)
    return None


def _is_memory_tool(folder: Path) -> str:
    """By its name: the folder is called `memories`, or holds nothing else."""
    if folder.name == _MEMORIES:
        return f"the name {_MEMORIES}/"
    inside = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    return f"{_MEMORIES}/" if inside == [_MEMORIES] and (folder / _MEMORIES).is_dir() else ""


def _no_bytes(text: Text) -> LeftOut | None:
    if has_text_suffix(text.name) or readable(text.text) == text.text:
        return None
    return LeftOut(text.name, "no text: its bytes are not UTF-8")


def _is_daily_logs(folder: Path) -> str:
    """By logs at the top or in `memory/`: several, or one and a `MEMORY.md`."""
    texts = _texts(folder)
    logs = sum(map(_is_log, texts))
    lasting = next((text for text in _LASTING if text in texts), "")
    if logs < (1 if lasting else SEVERAL):
        return ""
    return " and ".join(filter(None, [lasting, counted(logs, "daily log")]))


def _scan_daily_logs(folder: Path) -> Scan:
    """Logs are put into a folder, so that they are together."""

    def address(text: str) -> str:
        return f"{SHELF}/{text.rpartition('/')[2]}" if _is_log(text) else address_in(folder, text)

    return scan_folder("daily-logs", folder, address=address)


def _is_log(text: str) -> bool:
    """Whether a text is at the top or in `memory/`, and its name begins with a day."""
    above, _, last = text.rpartition("/")
    return above in ("", "memory") and last[:4].isdecimal() and named_day(last) is not None


def _is_claude_code(folder: Path) -> str:
    """By a `.claude` folder, by the front matter of a topic beside `MEMORY.md`, or by `CLAUDE.md`."""
    names = _texts(folder)
    if kept := [name for name in names if is_memory(folder, name)]:
        return kept[0]
    for name in names if "MEMORY.md" in names else ():
        if "/" not in name and _is_topic(folder / name):
            return f"MEMORY.md and {name}"
    return next((each for each in ("CLAUDE.md", "CLAUDE.local.md") if each in names), "")


def _is_topic(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return bool(_TOPIC.match(file.read(_TOP_BYTES)))
    except OSError:
        return False


def _has_no_suffix(name: str) -> bool:
    return "." not in name.rpartition("/")[2]


def _is_plain_files(folder: Path) -> str:
    files = sum(map(_has_no_suffix, list_files(folder, judge_in(folder)).names()))
    return f"{counted(files, 'file')} without a suffix" if files else ""


def _scan_plain_files(folder: Path) -> Scan:
    """The file `memory` at the top is the root."""

    def is_text(name: str) -> bool:
        return _has_no_suffix(name) or has_text_suffix(name)

    found = scan_folder("plain-files", folder, is_text=is_text, leave_out=_no_bytes)
    return replace(
        found,
        documents=[
            replace(document, place=ROOT) if document.name == ROOT else document for document in found.documents
        ],
    )


def _reader(name: str, about: str, detect: Callable[[Path], str], scan: Callable[[Path], Scan] | None = None) -> Reader:
    return Reader(name, about, detect, scan or partial(scan_folder, name))


MARKDOWN = _reader("markdown", "a folder of Markdown or text files", _is_markdown)
CLAWVAULT = _reader(
    "clawvault", "a ClawVault", _is_clawvault, partial(scan_folder, "clawvault", leave_out=_no_template)
)
MEMORY_TOOL = _reader(
    "claude-memory-tool",
    "the folder /memories of Claude's memory tool",
    _is_memory_tool,
    partial(
        scan_folder,
        "claude-memory-tool",
        address=lambda text: text.removeprefix(f"{_MEMORIES}/"),
        is_text=lambda _: True,
        leave_out=_no_bytes,
    ),
)
DAILY_LOGS = _reader("daily-logs", "MEMORY.md and a log for each day", _is_daily_logs, _scan_daily_logs)
CLAUDE_CODE = _reader("claude-code", "the memory of Claude Code: CLAUDE.md, .claude/…/memory", _is_claude_code)
OBSIDIAN = _reader("obsidian", "an Obsidian vault", _is_obsidian)
PLAIN_FILES = _reader("plain-files", "a memory of text files without a suffix", _is_plain_files, _scan_plain_files)
