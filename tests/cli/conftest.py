from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.cli import pages, transfer  # noqa: F401 - before a test replaces a method that a verb there names
from tests.templates import copied_from

from .program import Program, write_twice


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program on a memory that is not there yet."""
    return Program(tmp_path, tmp_path / "memory")


@pytest.fixture
def grown(program: Program) -> Program:
    """The program on a small tree: `memory` → `projects` → `projects/silica`, and `people`."""
    program.page(
        "memory",
        "# Memory\n\nStarted on 2026-01-05.\n\n## Links\n\n- [[projects]] - what is being built\n- [[people]]\n",
    )
    program.page("projects", "# Projects\n\nOne so far.\n\n## Links\n\n- [[projects/silica]] - a memory for agents\n")
    program.page(
        "projects/silica", "# Silica\n\n- Silica uses pytest for testing (2026-02-03)\n- Releases on Fridays\n"
    )
    program.page("people", "# People\n\nAda keeps the books, see [[projects/silica|Silica]].\n")
    return program


@pytest.fixture
def written(program: Program) -> Program:
    """The program on a memory of two writes: one to the root, one to `people`."""
    copied_from(_write, program.home)
    return program


def _write(home: Path) -> None:
    write_twice(Program(home, home / "memory"))


def _fill(home: Path) -> None:
    """A home with a memory that has pages, an entry, a history, a checkpoint and traces; and with notes."""
    program = Program(home, home / "memory")
    links = "## Links\n\n- [[projects/silica]] - a memory for agents\n- [[people]]\n"
    program.page("memory", f"# Memory\n\nStarted on 2026-01-05.\n\n{links}")
    program.page("projects/silica", "# Silica\n\n- Silica uses pytest for testing (2026-02-03)\n")
    program.page("people", "# People\n\nAda keeps the books, see [[projects/silica|Silica]].\n")
    (home / "notes").mkdir()
    (home / "notes" / "2026-02-17.md").write_text("- Decision: NOT using peat\n- [ ] buy a filter\n")
    program.done("capture", "CTR dropped 12%.", "--agent", "hawk", "--date", "2026-02-15", "--tag", "ctr")
    program.done("checkpoint", "create", "one")
    program.done("checkpoint", "export", "one", str(home / "one.jsonl"))
    program.done("write", "--to", "people", "--mode", "append", "Grace writes compilers.")


@pytest.fixture
def full(tmp_path: Path) -> Program:
    home = copied_from(_fill, tmp_path / "home")
    return Program(home, home / "memory")
