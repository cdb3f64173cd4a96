"""What the command line says after somebody was killed."""

from __future__ import annotations

import json

from memory_v2.storage.local.storage import LocalStorage

from .program import Program


def leave(program: Program, text: str, mode: str = "update", path: str | None = None) -> None:
    """What a write has noted whose process was killed while its model was thinking."""
    noted = {"text": text, "path": path, "mode": mode, "since": "2026-03-01T09:30:00+00:00"}
    noted |= dict.fromkeys(("over", "head", "source", "date"), "")
    LocalStorage(program.folder).state.write("pending/1f3a", json.dumps(noted).encode())


def test_the_next_command_finishes_what_was_interrupted_and_says_so_before_all_else(program: Program) -> None:
    program.quick("write", "Lisbon is on the Tagus.")
    leave(program, "Porto is on the Douro.")
    ended = program.quick("read")
    assert ended.code == 0
    assert b"Porto is on the Douro." in ended.out
    assert ended.err == (
        "silica: a write of 2026-03-01 09:30 UTC was interrupted; it is done now: memory: Porto is on the Douro.\n"
    )
    assert program.quick("read").err == ""


def test_it_is_told_beside_a_json_document_and_in_the_history(program: Program) -> None:
    leave(program, "Porto is on the Douro.")
    ended = program.quick("history", "--json")
    assert "was interrupted" in ended.err
    assert "it was interrupted, and finished later" in json.dumps(ended.json)


def test_a_write_that_is_repeated_after_a_kill_is_known_to_be_there(program: Program) -> None:
    leave(program, "Porto is on the Douro.")
    ended = program.quick("write", "Porto is on the Douro.")
    assert ended.code == 0
    assert program.quick("read").out.count(b"Porto is on the Douro.") == 1


def test_a_note_that_cannot_be_read_is_told_by_every_command_and_found_by_check(program: Program) -> None:
    program.quick("write", "Lisbon is on the Tagus.")
    LocalStorage(program.folder).state.write("pending/1f3a", b"{")
    ended = program.quick("read")
    assert (ended.code, b"Lisbon" in ended.out) == (0, True)
    assert ended.err.startswith("silica: an interrupted operation could not be finished: ")
    assert b".metadata/pending/1f3a.json" in program.quick("check").out
