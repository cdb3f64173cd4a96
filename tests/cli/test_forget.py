"""`silica memory forget`: it shows what would go, and does nothing unless told to."""

from __future__ import annotations

from memory_v2.memory import Memory

from .program import Program

SECRET = "KX-4711-zulu"


def test_it_is_shown_first_and_done_only_when_told(program: Program) -> None:
    program.quick("write", f"The gate code is {SECRET}.", "--to", "garden")
    before = program.quick("read", "garden").out
    refused = program.quick("forget", SECRET)
    assert refused.code == 2 and "--yes" in refused.err
    shown = program.quick("forget", "--dry-run", SECRET)
    assert shown.code == 0 and "garden" in shown.text and "remove traces: 1" in shown.text and SECRET not in shown.text
    assert program.quick("read", "garden").out == before
    done = program.quick("forget", "--yes", stdin=SECRET.encode() + b"\n")
    assert done.code == 0 and SECRET not in program.quick("read", "garden").text
    assert program.quick("history").text.splitlines()[0].split("\t")[2] == "forget"
    assert "nowhere" in program.quick("forget", "--yes", SECRET).err


def test_as_json_it_is_one_document(program: Program) -> None:
    program.quick("write", f"# Gate\n\nThe code is {SECRET}.\n\nIt is green.", "--to", "gate")
    told = program.quick("forget", "--page", "gate", "--lines", "3", "--dry-run", "--json").json
    assert told["revision"] is None and told["traces"]
    assert [step["name"] for step in told["steps"]][:2] == ["gate", "memory"]
    told = program.quick("forget", "--page", "gate", "--yes", "--json").json
    assert told["revision"] and told["warnings"] == [] and all(step["applied"] for step in told["steps"])
    assert program.quick("read", "gate").code == 3


def test_what_is_forgotten_leaves_no_trace_of_its_own(program: Program) -> None:
    program.quick("write", f"The gate code is {SECRET}.")
    program.quick("forget", "--yes", SECRET)
    with Memory.open(program.folder) as memory:
        assert memory.traces() == []
