"""What is memory in a `.claude` folder: Claude Code keeps sessions, settings and caches there as well.

`CLAUDE.md`, `rules/`, `memory/`, `agent-memory/` and `projects/NAME/memory/` are memory.
"""

from __future__ import annotations

import re
from pathlib import Path

from memory_v2.files.listing import Judge, LeftOut, has_text_suffix, left_out_as_hidden

CLAUDE = ".claude"
_MEMORY = re.compile(
    r"CLAUDE(?:\.local)?\.md|(?:memory|rules|agent-memory(?:-local)?)/.*|projects/(?:[^/]+/(?:memory/.*)?)?", re.S
)
_ABOVE = re.compile(rf"(?:^|(?<=/))\{CLAUDE}/(projects/[^/]+/)?(?:memory/)?")


def judge_in(folder: Path) -> Judge:
    """What to leave out of a folder: hidden files, and in `.claude`, which the folder may be itself, what is no
    memory."""
    start = _start(folder)

    def judge(name: str, path: Path) -> LeftOut | None:
        inside = _inside(start + name)
        if inside == "":
            return None
        if (left := left_out_as_hidden(name, path)) or inside is None or _MEMORY.fullmatch(inside):
            return left
        is_folder = name.endswith("/")
        holds_text = has_text_suffix(name) or (is_folder and any(path.rglob("*.md")))
        return LeftOut(name, "kept by Claude Code, and no memory", is_expected=not holds_text)

    return judge


def address_in(folder: Path, name: str) -> str:
    """A file's name if its memory were a plain folder: `.claude/projects/app/memory/x.md` → `projects/app/x.md`."""
    return _ABOVE.sub(r"\1", _start(folder) + name)


def is_memory(folder: Path, name: str) -> bool:
    """Whether a file is part of a memory in a `.claude` folder."""
    return bool(_inside(_start(folder) + name))


def _start(folder: Path) -> str:
    """What the name of a file would begin with if the folder that holds `.claude` were the source."""
    *_, above, here = ("", "", *folder.parts[-2:])
    if here == CLAUDE:
        return f"{CLAUDE}/"
    if above == CLAUDE and here == "projects":
        return f"{CLAUDE}/projects/"
    return f"{CLAUDE}/projects/{here}/" if folder.parent.parent.name == CLAUDE and above == "projects" else ""


def _inside(name: str) -> str | None:
    """The rest of a name within `.claude`; `None` outside of it."""
    _, found, inside = f"/{name}".rpartition(f"/{CLAUDE}/")
    return inside if found else None
