"""Vaults and shards come in as one operation; the second time nothing happens, and nothing is overwritten."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.entries.importing import KNOWN, NO_ENTRY
from memory_v2.plan import Plan
from tests.entries.made import files
from tests.entries.test_daryl import OF_THE_PROGRAM, SPECIFIED
from tests.entries.test_ocean import FILES, IDS, NAME

SHARDS = {
    "shards/shard_technical.json": json.dumps(SPECIFIED).encode(),
    "shards/shard_people.json": json.dumps(OF_THE_PROGRAM).encode(),
    "shards/shards_summary.json": b"{}",
}


def skipped(plan: Plan, reason: str) -> list[str]:
    return [step.name for step in plan.skipped if step.reason == reason]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path)


def test_a_vault_comes_in_to_the_byte_and_undo_takes_it_back(memory: Memory, tmp_path: Path) -> None:
    plan = memory.entries.import_files(FILES)
    assert not files(tmp_path / "entries")
    done = memory.entries.import_files(FILES, apply=True)
    assert done == plan
    assert [one.name for one in done.planned][:6] == IDS
    assert files(tmp_path / "entries") == {
        name: data for name, data in FILES.items() if name not in skipped(done, NO_ENTRY)
    }
    again = memory.entries.import_files(FILES, apply=True)
    assert (again.revision, again.planned, len(skipped(again, KNOWN))) == (None, (), 7)
    memory.undo()
    assert not files(tmp_path / "entries")


def test_an_observation_does_not_overwrite_another_one(memory: Memory, tmp_path: Path) -> None:
    other = tmp_path / "entries/agents/hawk/memory/vault/2026-02" / NAME
    other.parent.mkdir(parents=True)
    other.write_text("---\ncreated: 2026-02-15\n---\nAnother.\n")
    done = memory.entries.import_files(FILES, apply=True)
    assert other.read_text().endswith("Another.\n")
    assert "hawk/obs-2026-02-15-001" not in {one.name for one in done.planned}
    assert "taken-name" in {one.kind for one in done.warnings}


def test_shards_come_in_once_under_names_of_their_day(memory: Memory) -> None:
    memory.entries.capture("Before.", date="2026-02-05", agent="daryl")
    done = memory.entries.import_files(SHARDS, agent="daryl", apply=True)
    assert skipped(done, NO_ENTRY) == ["shards/shards_summary.json"]
    entries = {entry.id: entry for entry in memory.entries.list_entries("daryl")}
    assert [entry.home for entry in entries.values()] == [None, "people", "people", "technical"]
    assert entries["daryl/obs-2026-02-06-001"].derived_from == ("shard_technical_0_1730346428.08987",)
    assert memory.entries.import_files(SHARDS, agent="daryl", apply=True).revision is None
    found = {one.kind for one in memory.checkup().findings}
    assert "nowhere-reference" not in found


def test_shards_are_exported_as_they_came(memory: Memory) -> None:
    memory.entries.import_files(SHARDS, agent="daryl", apply=True)
    written = memory.entries.export_shards()
    assert written["shards_summary.json"]["total_transactions"] == 3
    (transaction,) = written["shard_technical.json"]["transactions"]
    given = SPECIFIED["transactions"][0]  # type: ignore[index]
    assert transaction == given | {"shard_name": "Technical"}
    assert len(written) == 6


def test_what_is_no_shard_is_told_and_the_rest_comes_in(memory: Memory) -> None:
    broken = {"shards/broken.json": b"{", "shards/bytes.json": b"\xff"}
    plan = memory.entries.import_files(SHARDS | broken, agent="daryl")
    assert len(plan.planned) == 3
    assert {one.path for one in plan.warnings if one.severity == "error"} == broken.keys()


def test_a_domain_that_the_memory_lacks_comes_in_with_its_keywords(memory: Memory, tmp_path: Path) -> None:
    config = {"name": "Jardín", "description": 'leeks and "kale"', "keywords": ["leek", "kale\\n"]}
    garden = {"domain": "garden", "config": config, "transactions": SPECIFIED["transactions"]}
    files_of = {"shards/shard_garden.json": json.dumps(garden).encode()}
    assert memory.entries.import_files(files_of).of("add")[0].target == "garden"
    assert not files(tmp_path / "entries")
    done = memory.entries.import_files(files_of, agent="daryl", apply=True)
    assert done.title == "1 entry new, 0 known, 0 other files"
    *others, added = memory.entries.domains().domains
    assert (added.title, added.description, added.keywords) == ("Jardín", 'leeks and "kale"', ("leek", "kale\\n"))
    assert len(others) == 5
    assert memory.entries.route_text("Kale and a leek.").home == "garden"
    assert memory.entries.export_shards()["shard_garden.json"]["config"] == config
    assert memory.entries.import_files(files_of, agent="daryl", apply=True).revision is None
    wrong = {"shards/a.json": json.dumps(garden | {"domain": "two words/x"}).encode()}
    assert [one.kind for one in memory.entries.import_files(wrong).warnings] == ["unknown-domain"]
