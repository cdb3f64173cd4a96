"""What lies in somebody's Obsidian vault that is a memory too, and looking at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from memory_v2.tree.path import is_page_path
from tests.cli.program import Ended, Program

CORN = ("Barley", "Maize", "Millet", "Oats", "Rye", "Wheat")
FACTS = "\n\n".join(
    f"## {corn}\n\n" + "\n".join(f"- In {1990 + n} the mill ground {n + len(corn)} tons of {corn}." for n in range(25))
    for corn in CORN
)
VAULT = {
    ".obsidian/app.json": "{}",
    ".obsidian/plugins/calendar/readme.md": "# Calendar\n\nxylophone",
    ".trash/thrown.md": "# Thrown\n\nxylophone",
    ".git/description.md": "xylophone",
    "Board.canvas": "{}",
    "attachments/photo.png": "\x89PNG",
    "mill.pdf": "%PDF",
    "mill/plan.png": "\x89PNG",
    "people/.hidden.md": "xylophone",
    "people/ada.jpg": "JFIF",
    "what?.md": "xylophone",
}
"""What lies in a vault and is no page."""

NOTES = {
    "memory": "# Memory\n\n- [[mill]]\n- [[people]]\n- [[templates/daily]]\n",
    "mill": f"---\ntags: [place]\n---\n# Mill\n\n![[plan.png]]\n\n{FACTS}\n",
    "mill/miller": "# Miller\n\nHe sleeps late.\n",
    "people": "---\naliases:\n  - Folk\n---\n# People\n\n- [[people/ada|Ada]]\n",
    "people/ada": "# Ada\n\nAda keeps the books.\n",
    "templates/daily": "# {{title}}\n\n- [ ] \n",
}
"""Notes that were made by hand."""


DERIVED = (".metadata/traces", ".metadata/index.sqlite")
"""What may change by looking."""


def state(folder: Path, *besides: str) -> dict[str, tuple[Any, ...]]:
    """All that lies in a folder but for some of it, with bytes, times and modes."""
    found = {}
    for place in folder.rglob("*"):
        name = place.relative_to(folder)
        if not any(name.is_relative_to(other) for other in besides):
            info = place.lstat()
            data = place.read_bytes() if place.is_file() else None
            found[str(name)] = (data, info.st_mode, info.st_mtime_ns if data is not None else 0)
    return found


def foreign(folder: Path) -> dict[str, tuple[Any, ...]]:
    """The files that are no pages."""
    return {name: told for name, told in state(folder, ".metadata").items() if name in VAULT}


def pages(program: Program) -> list[str]:
    """The files that are pages, as the disk names them."""
    names = (str(file.relative_to(program.folder)) for file in program.folder.rglob("*.md"))
    return sorted(name for name in names if is_page_path(name.removesuffix(".md")))


def newest(program: Program) -> str:
    return program.done("history", "-n", "1").split("\t")[0]


def assert_failed(ended: Ended, words: str) -> None:
    """The storage failed, and that is told in one sentence."""
    assert ended.code == 4, ended
    assert words in ended.err
    assert ended.err.startswith("silica: ")
    assert ended.err.count("\n") == 1
