"""Import, migration and export in the shell."""

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


def test_a_file_beside_the_memory_is_brought_in_and_one_of_its_pages_is_not(program: Program) -> None:
    file = program.folder.parent / "standup.md"
    file.write_text("The stand-up is at 9:30.\n")
    program.done("import", str(file))
    assert "9:30" in program.done("read", "standup")
    for source in (program.folder / "standup.md", file.parent):
        ended = program.run("import", str(source))
        assert ended.code == 2 and "inside" in ended.err


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


def test_a_memory_is_exported_as_a_folder_once(grown: Program) -> None:
    out = grown.home / "out"
    assert grown.run("export", str(out)).code == 0
    assert (out / "projects" / "silica.md").read_text("utf-8").endswith("- Releases on Fridays\n")
    again = grown.run("export", str(out))
    assert (again.code, again.out) == (2, b"")
    assert "--force" in again.err
    assert grown.run("export", "--force", str(out)).code == 0


def test_one_file_and_lines_of_json_can_be_piped(grown: Program) -> None:
    assert grown.run("export", "--format", "file", "-").text.startswith("# Memory\n")
    lines = grown.run("export", "--format", "jsonl", "-").text.splitlines()
    assert [json.loads(line)["path"] for line in lines] == ["memory", "projects", "projects/silica", "people"]
    assert grown.run("export", "-").code == 2
    for name in ("all.zip", "all.md"):
        ended = grown.run("export", str(grown.home / name))
        assert (ended.code, "is the name of a file" in ended.err) == (2, True)
        assert not (grown.home / name).exists()
    assert grown.run("export", "--format", "file", "--json", "-").code == 2


def test_the_document_says_what_was_written(grown: Program) -> None:
    told = grown.run("export", "--format", "jsonl", "--json", str(grown.home / "all.jsonl")).json
    assert told["pages"] == 4
    assert told["files"] == 1
    assert told["size_bytes"] == (grown.home / "all.jsonl").stat().st_size


def test_a_page_that_cannot_be_read_is_told_and_the_others_are_exported(grown: Program) -> None:
    (grown.folder / "people.md").unlink()
    (grown.folder / "people.md").mkdir()
    ended = grown.run("export", str(grown.home / "out"))
    assert (grown.home / "out" / "projects.md").exists()
    assert ended.code == 0 or "people" in ended.err


def test_an_empty_memory_is_told_as_empty(program: Program) -> None:
    ended = program.run("export", str(program.home / "out"))
    assert ended.code == 0
    assert "is empty" in ended.err


@pytest.fixture
def notes_of_migrate(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "projects").mkdir(parents=True)
    (folder / "projects" / "silica.md").write_text("# Silica\n\nA memory.\n")
    (folder / "me.md").write_text("# Me\n\nI am Ada.\n")
    return folder


def test_a_plan_is_shown_edited_and_carried_out(program: Program, notes_of_migrate: Path, tmp_path: Path) -> None:
    assert "create me.md → me\n" in program.done("import", "--dry-run", str(notes_of_migrate))
    assert not program.folder.exists()
    plan = program.run("import", "--dry-run", "--json", str(notes_of_migrate)).json
    rows = {row["name"]: row for row in plan["plans"][0]["steps"]}
    rows["me.md"]["target"] = "people/ada"
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    told = program.run("import", "--plan", str(file), "--json", str(notes_of_migrate)).json
    assert told["imports"][0]["totals"]["created"] == 2
    assert "I am Ada." in program.done("read", "people/ada")
    assert "2 unchanged" in program.done("import", str(notes_of_migrate))


def test_a_migration_needs_an_empty_memory_or_to_be_told_to_merge(program: Program, notes_of_migrate: Path) -> None:
    program.done("write", "Mine.")
    ended = program.run("migrate", "--from", str(notes_of_migrate))
    assert ended.code == 2 and "is not empty: add --merge" in ended.err
    assert "2 created" in program.done("migrate", "--merge", "--from", str(notes_of_migrate))
    assert "2 unchanged" in program.done("migrate", "--from", str(notes_of_migrate))
