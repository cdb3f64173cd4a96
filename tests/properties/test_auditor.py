"""A model that lies takes nothing away; the auditor finds a program that does."""

from __future__ import annotations

import ast
import inspect
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import ModelError
from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.scripted import Answer
from memory_v2.operations.write_task import WriteTask
from memory_v2.tree.edit import PageEdit
from memory_v2.tree.page import Page
from tests.effort import effort
from tests.properties import auditor, liar
from tests.properties.auditor import audit
from tests.properties.hostile import Hostile
from tests.properties.liar import NAME, Session

LINES = "\n".join(f"Alice runs server {n} with ollama on port {8_000 + n}." for n in range(60)) + "\n"
NEW = "Bruno sold the blue kettle.\n"
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the audit reads the history with git")


class Remover(Hostile):
    """Removes the text of a page."""

    page = ""

    def answer(self, conversation: Conversation) -> Answer:
        if not self.page or not isinstance(conversation.brief, WriteBrief):
            raise ModelError("it decides nothing yet")
        remove = ToolCall("remove", {"page": self.page, "blocks": 2, "reason": "it is outdated"})
        read = ToolCall("read_pages", {"paths": [self.page]})
        place = ToolCall("place", {"blocks": "n1", "page": "memory"})
        return Reply("", (read, remove, place))


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[liar.Session]:
    monkeypatch.setattr(liar, "RIVALS", 0)
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)
    session = liar.Session(tmp_path / "memory", 0)
    session.hostile = Remover(session.chance)
    with session.memory:
        yield session


def write(session: liar.Session, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(told: dict[str, Any]) -> None:
        told |= {"text": text, "page": None, "mode": "update"}
        session.memory.write(text)

    monkeypatch.setattr(session, "_write", given)
    session._do("write")


def take_metadata_away(session: liar.Session, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person removes the heading above the metadata of a page."""

    def edited(told: dict[str, Any]) -> None:
        told |= {"page": page, "removed": ["## Metadata"], "added": []}
        file = session.folder / f"{page}.md"
        file.write_text(file.read_text("utf-8").replace("## Metadata\n", ""), "utf-8")

    monkeypatch.setattr(session, "_edit", edited)
    session._do("edit")
    session._do("look")


def last_piece(session: liar.Session) -> str:
    return max(path for path in session._paths() if "/part-" in path)


def test_the_text_of_a_piece_that_was_made_a_plain_page_by_hand_may_be_taken_out_by_name(
    session: liar.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(session, LINES, monkeypatch)
    page = last_piece(session)
    take_metadata_away(session, page, monkeypatch)
    monkeypatch.setattr(Remover, "page", page)
    write(session, NEW, monkeypatch)
    found = audit(session.folder, session.log)
    assert found.left["taken out by a decision"] > 0
    assert (session.failed, found.violations) == ([], [])


@pytest.mark.parametrize("is_open", [False, True])
def test_the_text_of_a_piece_is_not_taken_out_or_it_is_found_out(
    is_open: bool, session: liar.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(session, LINES, monkeypatch)
    monkeypatch.setattr(Remover, "page", last_piece(session))
    if is_open:
        monkeypatch.setattr(WriteTask, "_check_open", lambda *_: None)
    write(session, NEW, monkeypatch)
    found = audit(session.folder, session.log)
    assert any("part-*" in one for one in found.violations) is is_open
    assert not found.left if not is_open else found.left["nobody"] > 0


def test_a_heading_that_is_a_title_is_accounted_for_where_the_note_of_its_level_was_broken_by_hand(
    session: liar.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(session, "".join(f"## Town {n}\n\n{LINES[:800]}\n\n" for n in range(5)), monkeypatch)
    page = next(path for path in session._paths() if "title_level: 2" in session.memory.read(path))
    take_metadata_away(session, page, monkeypatch)
    found = audit(session.folder, session.log)
    assert found.left == {"edited by hand": 1}
    assert (session.failed, found.violations) == ([], [])


OPERATIONS = effort(60, 200)


def played(folder: Path, seed: int, operations: int, is_edited: bool) -> tuple[Session, auditor.Audit]:
    session = Session(folder / "memory", seed, is_edited)
    with session.memory:
        session.run(operations)
    return session, auditor.audit(session.folder, session.log)


@pytest.mark.parametrize("is_edited", [False, True])
@pytest.mark.parametrize("seed", range(effort(3, 40)))
def test_a_hostile_model_takes_nothing_away_and_leaves_nothing_of_its_own(
    seed: int, is_edited: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is whole, each sentence is accounted for, results are true, limits hold, and excerpts are grounded."""
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)  # it fails in earnest, but nobody has to wait for it
    session, found = played(tmp_path, seed, OPERATIONS, is_edited)
    assert (session.failed, found.violations) == ([], [])
    assert found.writes > OPERATIONS // 3
    assert found.sentences == found.standing + found.left.total()
    assert found.left["taken out by a decision"] > 0
    assert min(session.decided[NAME + ", with a lie"], session.decided["offline"]) > OPERATIONS // 30, session.decided


def test_a_program_that_drops_a_block_more_than_was_decided_is_found_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = PageEdit.apply

    def forgetful(edit: PageEdit, page: Page) -> Page:
        return apply(replace(edit, removed=edit.removed | {len(page.blocks)}) if len(page.blocks) > 2 else edit, page)

    monkeypatch.setattr(PageEdit, "apply", forgetful)
    _, found = played(tmp_path, 0, OPERATIONS // 3, is_edited=True)
    assert any("unnamed" in one for one in found.violations)


def test_the_auditor_uses_no_code_of_the_product() -> None:
    tree = ast.parse(inspect.getsource(auditor))
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    assert not {name for name in froms | plain if name.split(".")[0] in ("memory_v2", "bench", "tests")}
