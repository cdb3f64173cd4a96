"""A memory as people have it, and its page: called as functions, or served."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.notes.notes import Notes
from memory_v2.view.app import answer
from memory_v2.view.gate import form_secret
from memory_v2.view.server import HOST, PageServer
from memory_v2.view.visit import Subject, Visit
from memory_v2.view.web import Request, Response, fields
from tests.templates import copied_from


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this room may use sockets of this machine."""
    for item in items:
        if "tests/view" in item.path.as_posix():
            item.add_marker(pytest.mark.allow_hosts([HOST]))


class Page:
    """The page of a memory, as functions: no server in between."""

    def __init__(self, memory: Memory, notes: tuple[Notes, ...] = ()) -> None:
        self.memory = memory
        self.subject = Subject(memory, notes)

    def ask(self, address: str, form: dict[str, str] | None = None, *, can_write: bool = True) -> Response:
        """The answer to an address such as `/page/people?part=1`."""
        path, _, query = address.partition("?")
        request = Request("GET" if form is None else "POST", path, fields(query), form or {})
        return answer(Visit(request, self.subject, secret=form_secret("session"), can_write=can_write))

    def text(self, address: str, status: int = 200) -> str:
        """The HTML of an address."""
        given = self.ask(address)
        assert isinstance(given.body, bytes)
        assert given.status == status, given.body.decode()
        return given.body.decode()


def grown(folder: Path) -> Memory:
    """A memory with a tree, sources, an undone change, entries and traces."""
    return Memory.open(copied_from(_grow, folder))


def _grow(folder: Path) -> None:
    with Memory.open(folder) as memory:
        memory.write("# Memory\n\nSilica is deployed with `make ship`, never on a Friday. (2026-11-02)\n")
        memory.write(
            "# Silica\n\nStaging is at staging.example.org. (2026-10-03)\n\n"
            "## Testing\n\n- Silica uses pytest\n- and ruff\n",
            path="projects/silica",
            source="standup.md",
            date="2026-10-05",
        )
        memory.write(
            "# People\n\nAda keeps the release notes. See [[projects/silica#testing|how it is tested]].\n", "people"
        )
        memory.write("Grace writes compilers.", path="people")
        memory.undo()
        memory.entries.capture(
            "The build takes four minutes.", agent="hawk", tags=["ci"], importance=0.9, home="technical"
        )
        memory.entries.capture("Leeks are planted in March.", agent="shield", confidence=0.4, decay="linear-30d")
        memory.search("Where is staging?")


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    """The page of a memory that has everything, and of a folder of notes."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "2026-02-03.md").write_text(
        "# Log\n\n- Deployed, see [how](nowhere.md).\n- token: ghp_abcdefghijklmnopqrstuvwxyz0123\n"
    )
    with grown(tmp_path / "memory") as memory, Notes.open(notes, tmp_path / "cache") as read:
        shown = Page(memory, (read,))
        yield shown


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Page]:
    """The page of a memory in which nothing was written."""
    with Memory.open(tmp_path / "empty") as memory:
        yield Page(memory)


@contextmanager
def serving(memory: Memory, notes: tuple[Notes, ...] = ()) -> Iterator[PageServer]:
    """The page of a memory, served on a free port."""
    with PageServer(Subject(memory, notes), 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join(20)
