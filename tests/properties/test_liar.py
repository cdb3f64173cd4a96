"""A model that lies, and an audit that uses no code of the product: it finds nothing, unless somebody tampers."""

from __future__ import annotations

import ast
import inspect
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.edit import PageEdit
from memory_v2.tree.page import Page
from tests.effort import effort
from tests.properties import auditor
from tests.properties.liar import NAME, Session
from tests.properties.whole import clock

OPERATIONS = effort(60, 200)
FACT = "Alice bought a red kettle for 31 euros."
TEXT = f"# Kettles\n\n{FACT}\n\nBruno lent it to nobody.\n"
DRESSED = "Alice bought  a red kettle\nfor 31 euros.\n"

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the audit reads the history with git")


class Audited:
    """A memory with a fact, and ways to tamper with its past."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.log = folder / "memory", folder / "log.jsonl"
        self.logged = 0
        self.head = ""
        self.write(TEXT)

    def write(self, text: str) -> None:
        with Memory(LocalStorage(self.folder), now=clock) as memory:
            memory.write(text, "memory")
        self.note(did="write", text=text, page="memory", mode="update")

    def note(self, **told: Any) -> None:
        """Logs an operation that ends with the newest commit."""
        self.logged, before, self.head = self.logged + 1, self.head, self.git("rev-parse", "main")
        line = json.dumps({"n": self.logged, "acknowledged": True, "before": before, "after": self.head, **told})
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")

    def git(self, *arguments: str, given: str = "") -> str:
        command = ["git", "--git-dir", str(self.folder / ".metadata/history.git"), *arguments]
        env = {name: "tamperer" for who in ("AUTHOR", "COMMITTER") for name in (f"GIT_{who}_NAME", f"GIT_{who}_EMAIL")}
        done = subprocess.run(command, input=given, capture_output=True, check=True, text=True, env=os.environ | env)
        return done.stdout.strip()

    def take(self, line: str, message: str, instead: str = "") -> None:
        """Takes a line off the root, in a commit with this message; another one may stand there instead."""
        root = self.folder / "memory.md"
        root.write_text(root.read_text("utf-8").replace(line, instead), "utf-8")
        blob = self.git("hash-object", "-w", str(root))
        tree = self.git("mktree", given=f"100644 blob {blob}\tmemory.md\n")
        self.git("update-ref", "refs/heads/main", self.git("commit-tree", tree, "-p", "main", given=message))

    @property
    def violations(self) -> list[str]:
        return auditor.audit(self.folder, self.log).violations


@pytest.fixture
def audited(tmp_path: Path) -> Audited:
    return Audited(tmp_path)


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


def test_an_honest_memory_has_no_violations(audited: Audited) -> None:
    audited.write(DRESSED)
    assert audited.violations == []


NAMED = f'block 2 of memory was taken out, "{FACT}", because: it broke'


@pytest.mark.parametrize(
    ("message", "is_wrong"),
    [
        ("write: x\n", True),
        (f"write: x\n\n- {NAMED}\n", False),
        (f"split: x\n\n- {NAMED}\n", True),
        (f"outside: x\n\n- {NAMED}\n", True),
        (f"undo: x\n\n- {NAMED}\n\nUndoes: 123\n", True),
        (f"write: x\n\n- {NAMED.removesuffix('it broke')}\n", True),
        (f"write: x\n\n- {NAMED.replace('of memory', 'of pots')}\n", True),
        (f"write: x\n\n- {NAMED.replace('red', 'blue')}\n", True),
        (f"write: x\n\nText:\n> - {NAMED}\n", True),
        (f"write: {NAMED}\n", True),
    ],
)
def test_a_sentence_that_goes_away_must_be_named_with_a_reason(message: str, is_wrong: bool, audited: Audited) -> None:
    audited.take(FACT, message)
    audited.note(did="write", text="# Kettles", page=None, mode="update")
    assert bool(audited.violations) == is_wrong
    assert any("unnamed" in one and FACT in one for one in audited.violations) == is_wrong


@pytest.mark.parametrize(("number", "is_wrong"), [(31, False), (32, True)])
def test_a_number_that_nobody_gave_is_found_out(number: int, is_wrong: bool, audited: Audited) -> None:
    audited.take(FACT, f"write: x\n\n- {NAMED}\n", f"The kettle broke; it had cost {number} euros.")
    audited.note(did="write", text="# Kettles", page=None, mode="update")
    assert ["a number that nobody gave" in one for one in audited.violations] == [True] * is_wrong


@pytest.mark.parametrize(("removed", "is_wrong"), [([FACT], False), (["Bruno lent it to nobody."], True)])
def test_a_person_may_take_a_sentence_away_and_nobody_else_in_their_name(
    removed: list[str], is_wrong: bool, audited: Audited
) -> None:
    audited.take(FACT, "outside: edited by hand: memory\n")
    audited.note(did="edit", page="memory", removed=removed, added=[])
    assert bool(audited.violations) == is_wrong


def test_an_undo_that_does_not_bring_back_what_was_there_is_found_out(audited: Audited) -> None:
    undone = audited.git("log", "-1", "--format=%(trailers:key=Operation,valueonly)", "main")
    audited.take(FACT, f"undo: x\n\nOperation: 12\nUndoes: {undone}\n")
    audited.note(did="undo")
    assert ["does not bring back" in one for one in audited.violations] == [True]


@pytest.mark.parametrize("line", ["Text:", "> Alice", "- said already"])
def test_a_text_that_is_nothing_new_must_be_in_the_message_with_the_reason(line: str, audited: Audited) -> None:
    audited.write(DRESSED)
    message = audited.git("log", "-1", "--format=%B", "main")
    without = "\n".join(one for one in message.split("\n") if not one.startswith(line))
    assert without != message
    audited.git(
        "update-ref", "refs/heads/main", audited.git("commit-tree", "main^{tree}", "-p", "main~1", given=without)
    )
    lines = audited.log.read_text("utf-8").replace(audited.head, audited.git("rev-parse", "main"))
    audited.log.write_text(lines, "utf-8")
    assert audited.violations


def test_a_text_that_is_nowhere_is_found_out(audited: Audited) -> None:
    audited.note(did="write", text="Zoë owes Goro 12 euros.", page=None, mode="update")
    assert [one.partition(":")[0] for one in audited.violations] == ["operation 2", "operation 2"]


def test_a_page_that_is_not_as_the_history_has_it_is_found_out(audited: Audited) -> None:
    (audited.folder / "memory.md").write_text(TEXT.replace("red", "blue"), "utf-8")
    assert audited.violations == ["the file memory is not as the history has it"]
