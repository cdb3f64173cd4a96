"""A persona's folder with a memory of Silica's first version, with everything that is irregular in real ones."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

HOME_CHANGED = "1795163416.49545"
"""What that version noted as the time of each write."""
ASYNC = "# Async\n\nUse `asyncio.TaskGroup`; gather loses exceptions.\n"
LARGE = "# Handbook\n\n" + "".join(
    f"## Chapter {n}\n\n" + f"Step {n}: the printer in room {n} wants paper. " * 20 + "\n\n" for n in range(40)
)
NOT_UTF8 = b"# Menu\n\nThe caf\xe9 opens at 8.\n"


def write_v1(persona: Path) -> Path:
    """Writes the persona's folder, and returns that of the memory in it."""
    memory = persona / "memory"
    _write(persona, "persona.md", "You are calm and brief.")
    _write(persona, "persona.backup.20251020_101010.md", "You are brief.")
    _write(persona, "persona.log.jsonl", '{"action": "created"}\n')
    _write(persona, ".sync-index-memory.json", '{"files": {}}')
    _write(persona, "history/s1/session.json", "{}")
    _write(memory, ".obsidian/x.md", "A setting.")
    write_note(memory, "global", "Global memory storage for critical information", {"summary": None})
    write_note(memory, "projects/silica", "# Silica\n\nA memory for agents.\n", {"summary": "What Silica is."})
    write_note(
        memory, "projects/silica/architecture", "# Architecture\n\nPages and blocks.\n", {"summary": "Arch of Silica."}
    )
    write_note(
        memory, "projects/silica/features", "# Features\n\n- undo\n", {"summary": "What it can do.", "version": 4}
    )
    write_note(
        memory, "projects/personal_website", "# Website\n\nStatic, built by make.\n", {"summary": "The website."}
    )
    write_note(memory, "knowledge/python/async", ASYNC, {"summary": "How to use asyncio."}, day="2025-11-03")
    write_note(
        memory, "knowledge/python/testing", "# Testing\n\npytest -x\n", {"summary": "How to test."}, day="2025-11-04"
    )
    write_note(memory, "knowledge/typescript", "# TypeScript\n\nstrict is on\n", {"created": None}, day="2025-11-05")
    write_note(memory, "profile/preferences", "# Preferences\n\nTea, no sugar.\n", {"topic": "taste", "tags": ["food"]})
    write_note(memory, "readme", "# About these notes\n\nThey are mine.\n", {})
    write_note(memory, "handbook", LARGE, {"summary": "The handbook."})
    write_note(memory, "knowledge/日本語", "# 日本語\n\n漢字を覚える。\n", {"summary": "日本語のメモ。"})
    write_note(memory, "2025-01-09-standup", "Shipped.\n", {"summary": "A standup.", "created": "2025-02-02"})
    write_note(memory, "by_hand", "Made by hand.\n", {"summary": "", "created": "2025-01-01"})
    _write(memory, "knowledge/python3.md", "# Python 3.12\n\nIt has type parameters.\n")
    _sidecar(memory, "knowledge/python3.11.metadata.json", {"summary": "What 3.11 brought."}, at=1_000_000_000)
    _sidecar(memory, "knowledge/python3.12.metadata.json", {"summary": "What 3.12 brought."}, at=1_000_000_900)
    _write(memory, "notes.md", "# Notes\n\nBuy milk.\n")
    _sidecar(memory, "notes.md.metadata.json", {"summary": "Errands."})
    _write(memory, "loose.md", "# Loose\n\nNobody describes me.\n")
    _sidecar(memory, "gone.metadata.json", {"summary": "What the deleted note said."})
    _write(memory, "torn.md", "# Torn\n\nStill here.\n")
    _write(memory, "torn.metadata.json", '{"summary": "half of')
    write_note(memory, "empty", "", {"summary": "Nothing."})
    write_note(memory, "menu", NOT_UTF8.decode("latin-1"), {"summary": "When the café opens."})
    (memory / "menu.md").write_bytes(NOT_UTF8)
    write_note(memory, "index", "# Index\n\n@projects/silica/architecture\n  @projects/silica\n@nowhere/at-all\n", {})
    write_note(memory, "plans/a", "@plans/b\n\nFirst.\n", {"summary": "First plan."})
    write_note(memory, "plans/b", "@plans/a\n\nSecond.\n", {"summary": "Second plan."})
    write_note(memory, "plans/v1.5", "The release.\n\n@plans/v1.5\n", {"summary": "The release plan."})
    return memory


def write_note(memory: Path, path: str, text: str, said: dict[str, Any], day: str = "2025-10-01") -> None:
    """Writes a note of that day as that version did, with what its sidecar says."""
    file = (memory / path).with_suffix(".md")
    _write(memory, file.relative_to(memory).as_posix(), text)
    at = datetime.fromisoformat(f"{day}T12:00").timestamp()
    os.utime(file, (at, at))
    _sidecar(memory, f"{path}.metadata.json", said, at)


def _sidecar(memory: Path, name: str, said: dict[str, Any], at: float = 1_000_000_000) -> None:
    written = {"updated": HOME_CHANGED, "version": 1, "created": HOME_CHANGED} | said
    _write(memory, name, json.dumps({key: value for key, value in written.items() if value is not None}, indent=2))
    os.utime(memory / name, (at, at))


def _write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(text.encode())
