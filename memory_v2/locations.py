"""Whose memory it is: the user's, a project's or a persona's, and in which folder each is."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from memory_v2.errors import InvalidSetting

PROJECT_MEMORY = Path(".silica") / "memory"
"""The memory of a project, below the project's folder."""
IGNORE_ALL = "*\n"
"""What is in `.silica/.gitignore`: the memory of a project is not committed by accident."""
PERSONAS = "~/.silica/personas"
_PERSONA = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,47}")


def persona_memory(name: str) -> Path:
    """The memory of a persona. Raises `InvalidSetting` for a name that could lead out of the folder of personas."""
    if not _PERSONA.fullmatch(name):
        raise InvalidSetting(f"a persona's name is letters, digits, '-' and '_', at most 48, not {name!r}")
    return Path(PERSONAS).expanduser() / name / "memory_v2"


def project_memory(folder: Path) -> Path:
    """The memory of the project that a folder belongs to. All worktrees of a git repository share one. Raises
    `InvalidSetting` if a symbolic link, which a repository may carry, leads anywhere else."""
    project = project_folder(folder)
    place = project / PROJECT_MEMORY
    with suppress(OSError):
        if place.resolve() != project.resolve() / PROJECT_MEMORY:
            raise InvalidSetting(f"{place} leads elsewhere through a symbolic link; remove the link")
    return place


def keep_out_of_git(project: Path) -> None:
    """Keeps a project's memory, if there is one, out of the project's repository, unless a `.gitignore` is there."""
    ignore = project / PROJECT_MEMORY.parent / ".gitignore"
    if (project / PROJECT_MEMORY).is_dir():
        with suppress(OSError), ignore.open("x", encoding="utf-8") as file:
            file.write(IGNORE_ALL)


def project_folder(folder: Path) -> Path:
    """The folder of a project: that of its git repository, for a worktree the repository's first one; without a
    repository, the folder itself."""
    own = worktree(folder)
    with suppress(OSError):
        if (own / ".git").is_file():
            return _main_worktree(own / ".git") or own
    return own


def worktree(folder: Path) -> Path:
    """The worktree that a folder is in; without a repository, the folder itself."""
    start = folder.absolute()
    for above in (start, *start.parents):
        with suppress(OSError):
            if (above / ".git").exists():
                return above
    return start


def _main_worktree(git: Path) -> Path | None:
    """The first worktree of the repository that a worktree's `.git` file names; `None` if it is a submodule, or the
    repository does not know this worktree."""
    with suppress(OSError, ValueError):
        own = _path_in(git, git.parent, "gitdir:")
        if _path_in(own / "gitdir", own).resolve() != git.resolve():
            return None
        shared = _path_in(own / "commondir", own).resolve()
        return shared.parent if shared.name == ".git" else shared
    return None


def _path_in(file: Path, base: Path, prefix: str = "") -> Path:
    line = file.read_text("utf-8").strip()
    if not line.startswith(prefix) or not line:
        raise ValueError(file)
    return base / line.removeprefix(prefix).strip()
