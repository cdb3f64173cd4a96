"""`silica memory import` and `migrate`: the proof afterwards, and the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .program import Program


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "projects").mkdir(parents=True)
    (folder / "projects" / "silica.md").write_text("# Silica\n\n- Port: 8080\n- password: hunter2!\n")
    (folder / "2026-03-01.md").write_text("# 2026-03-01\n\n## Silica\n\n- Port: 8443\n")
    (folder / "data.json").write_text("{}")
    return folder


def test_an_import_is_verified(program: Program, notes: Path) -> None:
    ended = program.run("import", "--verify", str(notes))
    assert (ended.code, ended.err) == (0, "")
    assert ended.text.splitlines()[-2:] == [f"{notes}: 2 created", f"{notes}: 6 blocks: 6 in the tree"]


def test_what_is_missing_is_told_and_fails(program: Program, notes: Path) -> None:
    assert program.run("import", "--dry-run", "--verify", str(notes)).code == 1
    program.done("import", str(notes))
    before = program.files()
    assert program.run("import", "--dry-run", "--verify", str(notes)).code == 0
    (notes / "projects" / "silica.md").write_text("# Silica\n\n- Port: 9999\n")
    ended = program.run("import", "--dry-run", "--verify", str(notes))
    assert ended.code == 1
    assert "missing projects/silica.md:3 “Port: 9999”" in ended.text
    assert program.files() == before


def test_what_was_changed_here_since_is_told_with_the_operation(program: Program, notes: Path) -> None:
    program.done("import", str(notes))
    program.done("delete", "projects/silica")
    ended = program.run("import", "--json", "--verify", str(notes))
    assert ended.code == 0
    (verification,) = (one["verification"] for one in ended.json["imports"])
    changed = [one for one in verification["passages"] if one["state"] == "changed"]
    assert {one["name"] for one in changed} == {"projects/silica.md"}
    (operation,) = {one["operation"] for one in changed}
    assert program.run("show", operation).code == 0


@pytest.mark.parametrize("name", ["report.md", "report.json"])
def test_the_report_says_what_to_look_at_and_shows_no_secret(program: Program, notes: Path, name: str) -> None:
    file = program.home / name
    program.done("import", "--report", str(file), str(notes))
    text = file.read_text("utf-8")
    assert "hunter2" not in text
    assert "8443" in text and "8080" in text
    if name.endswith(".json"):
        (report,) = json.loads(text)["reports"]
        assert report["totals"]["documents"] == report["totals"]["created"] == 2
        assert report["totals"]["files"] == 3
        assert report["totals"]["blocks"] == report["totals"]["blocks_there"] == 6


def test_an_exported_folder_can_be_imported_again(program: Program, notes: Path) -> None:
    program.done("import", str(notes))
    program.done("export", str(program.home / "out"))
    ended = program.run("migrate", "--verify", "--from", str(program.home / "out"), "--to", str(program.home / "again"))
    assert ended.code == 0
