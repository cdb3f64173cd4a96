"""`silica memory checkpoint`, as a person and a script use it."""

from __future__ import annotations

from .program import Program


def test_a_memory_is_saved_and_loaded_elsewhere(program: Program) -> None:
    program.done("write", "Silica uses pytest.")
    program.done("capture", "CTR dropped 12%.", "--agent", "hawk", "--date", "2026-02-15")
    made = program.quick("checkpoint", "create", "one", "--json").json
    assert program.done("checkpoint", "list").split("\t")[::2] == ["one", f"{made['revision']}\n"]
    program.done("capture", "CTR dropped 14% on Monday.", "--agent", "hawk", "--date", "2026-02-16")
    shown = program.quick("checkpoint", "show", "one", "--json").json
    assert (shown["pages"], shown["entries"], len(shown["changed"])) == (1, 1, 1)
    assert "1 page and 1 entry" in program.done("checkpoint", "show", "one")
    file = str(program.home / "one.jsonl")
    assert "1 page and 1 entry" in program.done("checkpoint", "export", "one", file)
    assert program.quick("checkpoint", "export", "one", file).code == 2
    other = Program(program.home, program.home / "other")
    assert "recorded as" in other.done("checkpoint", "load", file)
    assert other.done("entries", "ls") == "hawk/obs-2026-02-15-001\t2026-02-15\t\t\tCTR dropped 12%.\n"
    assert other.quick("checkpoint", "load", file, "--json").json["changed_pages"] == []


def test_a_memory_goes_back_and_undo_comes_back(program: Program) -> None:
    program.done("write", "Silica uses pytest.")
    program.done("checkpoint", "create", "one")
    before = program.done("read")
    program.done("write", "Releases are on Fridays.")
    after = program.done("read")
    assert "changed: memory" in program.done("checkpoint", "restore", "one")
    assert program.done("read") == before
    assert "already" in program.done("checkpoint", "restore", "one")
    program.done("undo", "--yes")
    assert program.done("read") == after


def test_without_a_checkpoint_it_says_how_to_make_one(program: Program) -> None:
    assert program.quick("checkpoint", "list").err.startswith("silica: there is no checkpoint")
