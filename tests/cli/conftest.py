from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_v2.cli import pages, transfer  # noqa: F401 - before a test replaces a method that a verb there names

from .program import Program


@pytest.fixture(scope="session", autouse=True)
def heeds_ctrl_c() -> Iterator[None]:
    """The program's processes heed Ctrl-C although whoever runs the tests, in the background say, does not: that one is
    ignored is inherited."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


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
    program.done("write", "Grace writes compilers")
    program.done("write", "--to", "people", "Ada keeps the books")
    return program
