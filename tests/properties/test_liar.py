"""A model that lies, and an audit that uses no code of the product: it finds nothing, unless somebody tampers."""

from __future__ import annotations

import ast
import inspect
import shutil
from pathlib import Path

import pytest

from tests.effort import effort
from tests.properties import auditor
from tests.properties.liar import NAME, Session

OPERATIONS = effort(90, 200)
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the audit reads the history with git")


def played(folder: Path, seed: int, operations: int, is_edited: bool) -> tuple[Session, auditor.Audit]:
    session = Session(folder / "memory", seed, is_edited)
    with session.memory:
        session.run(operations)
    return session, auditor.audit(session.folder, session.log)


@pytest.mark.parametrize("seed", range(effort(2, 80)))
def test_a_hostile_model_takes_nothing_away_and_leaves_nothing_of_its_own(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree is whole, each sentence is accounted for, results are true, limits hold, and excerpts are grounded."""
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)  # it fails in earnest, but nobody has to wait for it
    session, found = played(tmp_path, seed, OPERATIONS, is_edited=seed % 2 == 1)
    assert (session.failed, found.violations) == ([], [])
    assert found.writes > OPERATIONS // 3
    assert found.sentences == found.standing + found.left.total()
    assert found.left["taken out by a decision"] > 0
    assert min(session.decided[NAME + ", with a lie"], session.decided["offline"]) > OPERATIONS // 30, session.decided


def test_the_auditor_uses_no_code_of_the_product() -> None:
    tree = ast.parse(inspect.getsource(auditor))
    froms = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    plain = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    assert not {name for name in froms | plain if name.split(".")[0] in ("memory_v2", "bench", "tests")}
