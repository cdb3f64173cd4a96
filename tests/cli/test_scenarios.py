"""The scenarios with which this memory was first described, as a person would go through them."""

from __future__ import annotations

from .program import Program

SUBJECTS = {
    "GitHub integration": "pull requests, webhooks and issue labels",
    "the garden": "roses, compost and a leaking tap",
    "Python packaging": "wheels, lock files and build isolation",
    "Kyoto": "temples, tea and slow trains",
}


def test_a_memory_grows_from_its_first_sentence_to_a_tree_that_answers(program: Program) -> None:
    assert program.done("write", "I'm working on a Python project called Silica").startswith("memory · ")
    assert program.done("write", "Silica uses pytest for testing and ruff for linting").startswith("memory · ")
    assert program.done("tree").count("\n") == 1

    split = ""
    for number in range(60):
        subject, words = list(SUBJECTS.items())[number % 4]
        note = (
            f"- Note {number} on {subject}: what was said of {words} on day {number} was kept, and why. "
            + "So it was. " * 12
        )
        told = program.done("write", "--mode", "append", note)
        split = split or (told if "split into" in told else "")
    assert split
    assert all(len(data) <= 10_240 for data in program.files().values())
    assert len(program.files()) > 2
    assert program.done("check") == f"all is well: {len(program.files())} pages\n"
    assert program.done("tree").startswith("memory  ")

    everything = b"".join(program.files().values()).decode()
    assert all(everything.count(f"- Note {number} on ") == 1 for number in range(60))

    program.done("write", "Added new feature for GitHub integration")
    found = program.quick("search", "--json", "-n", "3", "How does Silica handle testing?").json["results"]
    assert found[0]["excerpt"] == "Silica uses pytest for testing and ruff for linting"
    first, last = found[0]["lines"]
    page = program.done("read", found[0]["path"]).splitlines()
    assert "\n".join(page[first - 1 : last]) == found[0]["excerpt"]


def test_a_folder_of_markdown_becomes_a_memory_by_its_first_write(program: Program) -> None:
    program.page("work/meetings", "# Meetings\n\nMondays at ten.\n")
    program.page("recipes", "# Recipes\n\nMore salt.\n")
    before = program.files()
    assert program.quick("check", "--fail").code == 1
    program.done("write", "The flat is on the third floor")
    after = program.files()
    assert all(after[name] == data for name, data in before.items())
    assert program.done("check") == "all is well: 3 pages\n"
    assert "work/meetings" in program.done("tree")


def test_names_in_any_script_and_none_that_a_disk_refuses(program: Program) -> None:
    for name in ("projekte/größe", "日本語/メモ", "עברית", "emoji 🎉", "cafe\u0301"):
        program.done("write", "--to", name, "--mode", "append", f"text of {name}")
        assert f"text of {name}" in program.done("read", name)
    assert "café.md" in program.files()
    for name in ("nul", "a/aux.txt", "x.", "a:b", "a\\b", ".hidden", "a//b", "/a", "notes.md", "a?b"):
        assert program.quick("write", "--to", name, "x").code == 2
    assert program.done("check") == f"all is well: {len(program.files())} pages\n"
