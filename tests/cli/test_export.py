"""`silica memory export`, as a person in a pipe sees it."""

from __future__ import annotations

import json

from .program import Program


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
