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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("import", "nowhere"), "there is no file or folder nowhere"),
        (("import", "empty"), "there is nothing to import in"),
        (("import", "memory"), "is inside the memory"),
        (("import", "."), "is inside"),
        (("migrate", "--from", "nowhere"), "there is no file or folder nowhere"),
        (("import", "notes", "--format", "nothing"), "there is no format 'nothing'"),
        (("import", "notes", "--plan", "notes/me.md"), "is not JSON"),
    ],
)
def test_what_cannot_be_brought_in_is_refused(
    program: Program, notes: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    (tmp_path / "empty").mkdir()
    program.done("write", "Mine.")
    before = program.files()
    given = [str(tmp_path / each) if (tmp_path / each).exists() else each for each in arguments]
    ended = program.run(*given)
    assert ended.code == 2 and words in ended.err
    assert program.files() == before
