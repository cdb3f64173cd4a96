"""Routing, ageing and promoting from the shell: the examples of the two documents that entries come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.entries.test_daryl import SPECIFIED
from tests.entries.test_ocean import FILES

from .program import Program

OLD = ["capture", "CTR fell by 12%.", "--agent", "hawk", "--date", "2026-01-02", "--decay", "linear-14d"]


@pytest.fixture
def filled(program: Program) -> Program:
    program.done("capture", "Lesson: The Coordination Gap occurs when agents don't share explicit handshakes.")
    program.done("capture", "Post Moltbook on sharding - see shard technical for implementation details")
    program.done("capture", "Soup for lunch.")
    program.done(*OLD, "--confidence", "0.85")
    return program


def test_the_inbox_is_routed_once_and_says_why(filled: Program) -> None:
    plan = filled.quick("route", "--json").json
    assert [one["target"] for one in plan["steps"]] == ["insights", "technical", "", ""]
    assert plan["revision"] is None
    told = filled.quick("route")
    assert "→ insights: lesson" in told.text
    assert "nothing was changed" in told.err
    done = filled.quick("route", "--apply", "--json").json
    assert [one | {"applied": False} for one in done["steps"]] == plan["steps"]
    assert done["revision"]
    assert "recorded as" not in filled.quick("route", "--apply").err


def test_a_text_is_only_looked_at(filled: Program) -> None:
    assert filled.quick("route", "The task of the expert").text.startswith("inbox: a tie")
    assert filled.quick("route", "a", "lesson", "--json").json["home"] == "insights"
    assert filled.quick("route", "a lesson", "--apply").code == 2


def test_what_has_expired_is_shown_archived_and_brought_back(filled: Program) -> None:
    assert "linear-14d since 2026-01-02" in filled.quick("age").text
    assert len(filled.quick("age", "--apply", "--json").json["steps"]) == 1
    assert "hawk" not in filled.done("entries", "ls")
    assert "hawk" in filled.done("entries", "ls", "--archived")
    assert not filled.quick("age", "--apply", "--json").json["steps"]
    filled.done("undo", "--yes")
    assert "hawk" in filled.done("entries", "ls")


@pytest.mark.parametrize(
    ("options", "promoted"),
    [
        ([], 1),
        (["--threshold", "0.9"], 0),
        (["--require-verified"], 0),
        (["--threshold", "0.9", "--file", "obs-2026-01-02-001.md", "--agent", "hawk"], 1),
    ],
)
def test_what_is_sure_enough_is_shared_once(filled: Program, options: list[str], promoted: int) -> None:
    assert len(filled.quick("promote", *options, "--apply", "--json").json["steps"]) == promoted
    again = filled.quick("promote", *options, "--apply", "--json").json
    assert [one for one in again["steps"] if one["action"] != "skip"] == []
    assert again["revision"] is None


def test_the_status_counts_every_domain(filled: Program) -> None:
    filled.done("route", "--apply")
    assert "technical\tTechnical\t1\t0.50\t" in filled.done("status")
    filled.done("write", "Tea is cheap.")
    assert ": 1 page, " in filled.quick("status").err
    told = filled.quick("status", "--json").json
    assert told["pages"] == 1
    assert (told["total_shards"], told["total_transactions"], told["other_homes"]) == (5, 2, {"inbox": 2})


def test_domains_are_printed_edited_and_stored(program: Program, tmp_path: Path) -> None:
    file = tmp_path / "domains.toml"
    file.write_text(program.done("domains") + '\n[garden]\nkeywords = ["leek"]\n', encoding="utf-8")
    assert "garden" in program.done("domains", "--file", str(file))
    assert program.quick("route", "leeks", "--json").json["home"] == "garden"
    file.write_text("[garden\n")
    wrong = program.quick("domains", "--file", str(file))
    assert (wrong.code, "line 1" in wrong.err) == (2, True)


def test_vaults_and_shards_come_in_and_go_out(program: Program, tmp_path: Path) -> None:
    for name, data in {**FILES, "shards/shard_technical.json": json.dumps(SPECIFIED).encode()}.items():
        file = tmp_path / "older" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    plan = program.quick("entries", "import", str(tmp_path / "older"), "--agent", "daryl")
    assert "ambiguous" in plan.err
    assert program.quick("entries", "ls").text == ""
    done = program.quick("entries", "import", str(tmp_path / "older"), "--agent", "daryl", "--apply", "--json").json
    assert [one["action"] for one in done["steps"]].count("create") == 8
    again = program.quick("entries", "import", str(tmp_path / "older"), "--agent", "daryl", "--apply")
    assert "0 entries new, 8 known" in again.err
    program.done("entries", "export", str(tmp_path / "out"))
    written = json.loads((tmp_path / "out/shard_technical.json").read_text("utf-8"))
    assert written["transactions"][0]["content"] == SPECIFIED["transactions"][0]["content"]  # type: ignore[index]
