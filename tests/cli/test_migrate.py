"""`silica memory import` and `migrate`: plans, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .program import Program


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "projects").mkdir(parents=True)
    (folder / "projects" / "silica.md").write_text("# Silica\n\nA memory.\n")
    (folder / "me.md").write_text("# Me\n\nI am Ada.\n")
    return folder


def test_a_plan_is_shown_edited_and_carried_out(program: Program, notes: Path, tmp_path: Path) -> None:
    assert "create me.md → me\n" in program.done("import", "--dry-run", str(notes))
    assert not program.folder.exists()
    plan = program.run("import", "--dry-run", "--json", str(notes)).json
    rows = {row["name"]: row for row in plan["plans"][0]["steps"]}
    rows["me.md"]["target"] = "people/ada"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    told = program.run("import", "--plan", str(file), "--json", str(notes)).json
    assert told["imports"][0]["totals"]["created"] == 2
    assert "I am Ada." in program.done("read", "people/ada")
    assert "2 unchanged" in program.done("import", str(notes))


def test_a_migration_needs_an_empty_memory_or_to_be_told_to_merge(program: Program, notes: Path) -> None:
    program.done("write", "Mine.")
    ended = program.run("migrate", "--from", str(notes))
    assert ended.code == 2 and "is not empty: add --merge" in ended.err
    assert "2 created" in program.done("migrate", "--merge", "--from", str(notes))
    assert "2 unchanged" in program.done("migrate", "--from", str(notes))
