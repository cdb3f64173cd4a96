"""A rehearsed write tells what a write would do, and changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.errors import InvalidText
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from tests.crash.scenes import notes
from tests.operations.scenes import SMALL, call, calls, offline, scripted


def contents(folder: Path) -> dict[str, bytes]:
    """Every file, but the lock."""
    return {str(f): f.read_bytes() for f in folder.rglob("*") if f.is_file() and f.name != "lock"}


@pytest.mark.parametrize("mode", ["update", "append", "replace"])
def test_it_tells_what_the_write_then_does_and_changes_no_byte(mode: str, tmp_path: Path) -> None:
    memory = offline(storage=LocalStorage(tmp_path), threshold=SMALL)
    memory.write(f"# Memory\n\n{notes(10, 15)}", "memory")
    memory.search("boats")
    memory.close()
    before = contents(tmp_path)
    text = f"The lighthouse is green.\n\n{notes(50, 53)}"
    told = memory.rehearse(text, "memory", mode)  # type: ignore[arg-type]
    memory.close()
    assert contents(tmp_path) == before and memory.running() == []
    done = memory.write(text, "memory", mode)  # type: ignore[arg-type]
    assert (told.path, told.new_files, told.outcome) == (done.path, done.new_files, done.outcome)
    assert told.split_triggered == done.split_triggered == (mode != "replace")
    assert strip_times(told.changes) == strip_times(done.changes)


def strip_times(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if "last_updated" not in line]


def test_in_a_memory_that_is_not_there_yet_it_makes_none(tmp_path: Path) -> None:
    told = Memory.open(tmp_path / "new").rehearse("One.", source="standup", date="2026-02-03")
    assert told.changed_pages == ["memory"] and "standup" in told.changes
    assert not (tmp_path / "new").exists()
    with pytest.raises(InvalidText):
        Memory.open(tmp_path / "new").rehearse(" ")


def test_an_index_that_is_damaged_is_left_alone(tmp_path: Path) -> None:
    memory = offline(storage=LocalStorage(tmp_path))
    memory.write("One is here.")
    memory.close()
    (tmp_path / ".metadata" / "index.sqlite").write_bytes(b"no database" * 100)
    before = contents(tmp_path)
    assert offline(storage=LocalStorage(tmp_path)).rehearse("Two is there.").changed_pages == ["memory"]
    assert contents(tmp_path) == before


def test_a_model_decides_as_in_a_write() -> None:
    memory = offline()
    memory.write("The kiln is warm.", "kiln", "append")
    asked, _ = scripted(memory, calls(call("place", blocks="n1", page="kiln", after=1)))
    told = asked.rehearse("It stands by the door.", "kiln")
    assert (told.decided_by, told.degraded, told.cost.calls) == ("scripted", "", 1)
    assert memory.history()[0].first.summary == "The kiln is warm." and "door" not in memory.read("kiln")
