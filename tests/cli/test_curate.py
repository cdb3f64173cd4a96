"""Entries in the shell: captured, routed, aged, shared, worked in; and the examples of both models."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.entries.test_importing import FILES, SPECIFIED

from .program import Program
from .seeds import DARYL, GAP, OCEAN, PAGE, SEARCHES, Example, page_with_table

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


@pytest.fixture
def filled_of_consolidate(program: Program) -> Program:
    program.done("write", "Silica is tested with pytest.", "--to", "projects/silica")
    for home, text in (("insights", "Lesson: test the restore."), ("projects/silica", "Coverage is 90%.")):
        program.done("capture", text, "--agent", "hawk", "--home", home, "--date", "2026-02-15")
    program.done("capture", "Soup for lunch.", "--agent", "hawk", "--date", "2026-02-16")
    return program


def test_a_plan_is_shown_then_carried_out_and_undone(filled_of_consolidate: Program) -> None:
    shown = filled_of_consolidate.quick("consolidate")
    assert "hawk/obs-2026-02-15-001 → insights: to the letter" in shown.text
    assert "+Lesson: test the restore." in shown.text
    assert "nothing was changed" in shown.err
    assert "1 in the inbox" in shown.err
    plan = filled_of_consolidate.quick("consolidate", "--dry-run", "--json").json
    assert plan["revision"] is None
    assert [one["name"] for one in plan["steps"] if "diff" in one] == ["insights", "memory", "projects/silica"]
    done = filled_of_consolidate.quick("consolidate", "--apply", "--json").json
    assert [one | {"applied": False} for one in done["steps"]] == plan["steps"]
    assert done["revision"]
    assert "worked into insights" in filled_of_consolidate.done("entries", "show", "hawk/obs-2026-02-15-001")
    assert "from entries/hawk/obs-2026-02-15-001" in filled_of_consolidate.done("search", "restore")
    assert "no entry is left" in filled_of_consolidate.quick("consolidate", "--apply").err
    filled_of_consolidate.done("undo", "--yes")
    assert "worked into" not in filled_of_consolidate.done("entries", "show", "hawk/obs-2026-02-15-001")


def test_a_plan_that_no_longer_fits_is_refused_with_what_to_do(filled_of_consolidate: Program) -> None:
    filled_of_consolidate.quick("consolidate")
    filled_of_consolidate.done("write", "Silica is fast.", "--to", "projects/silica", "--mode", "append")
    refused = filled_of_consolidate.quick("consolidate", "--apply")
    assert refused.code == 3
    assert "make a new plan with 'silica memory consolidate'" in refused.err
    filled_of_consolidate.quick("consolidate")
    assert filled_of_consolidate.quick("consolidate", "--apply").code == 0


def test_an_empty_memory_has_nothing_to_work_in(program: Program) -> None:
    assert "no entry is left" in program.quick("consolidate", "--apply").err


@pytest.mark.parametrize("verb", [["consolidate"], ["route"]])
def test_a_model_that_fails_is_told_and_the_planner_takes_over(
    filled_of_consolidate: Program, verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_v2.errors import ModelError
    from memory_v2.models.anthropic import AnthropicModel

    def fails(self: AnthropicModel, conversation: object) -> None:
        raise ModelError("the provider is down")

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setattr(AnthropicModel, "respond", fails)
    ended = filled_of_consolidate.quick("--model", "anthropic:some-model", *verb)
    assert ended.code == 0
    assert "the provider is down (decided by offline)" in ended.err
    assert filled_of_consolidate.quick("--model", "anthropic:some-model", *verb, "--json").json["degraded"]


DAY = ("--date", "2026-02-15")


def test_what_is_captured_is_listed_and_shown(program: Program) -> None:
    ended = program.quick("capture", "CTR dropped 12%.", "--agent", "hawk", "--tag", "ctr", "--tag", "ads", *DAY)
    assert (ended.code, ended.text) == (0, "hawk/obs-2026-02-15-001 captured\n")
    assert program.quick("capture", "CTR dropped 12%.", "--agent", "hawk", *DAY).text == (
        "hawk/obs-2026-02-15-001 says so already\n"
    )
    listed = program.quick("entries", "ls", "--agent", "hawk")
    assert listed.text == "hawk/obs-2026-02-15-001\t2026-02-15\t\tctr, ads\tCTR dropped 12%.\n"
    shown = program.quick("entries", "show", "hawk/obs-2026-02-15-001")
    assert "tags ctr, ads\n" in shown.text
    assert shown.text.endswith("\n\nCTR dropped 12%.\n")
    told = program.quick("entries", "show", "hawk/obs-2026-02-15-001", "--json").json
    assert (told["id"], told["tags"], told["observed_at"]) == ("hawk/obs-2026-02-15-001", ["ctr", "ads"], "2026-02-15")


def test_entries_are_listed_newest_first_as_many_as_asked_for(program: Program) -> None:
    for day in ("2026-02-15", "2026-02-17", "2026-02-16"):
        program.done("capture", f"Seen on {day}.", "--agent", "hawk", "--date", day)
    for option in ("-n", "--limit"):
        listed = program.quick("entries", "ls", option, "2", "--json").json["entries"]
        assert [entry["observed_at"] for entry in listed] == ["2026-02-17", "2026-02-16"]


def test_a_batch_tells_which_lines_were_not_captured(program: Program) -> None:
    file = program.home / "lines.jsonl"
    file.write_text('{"text": "one", "date": "2026-02-15"}\n{"text": 7}\n')
    ended = program.quick("capture", "--batch", str(file), "--json")
    assert ended.code == 2
    assert [one["id"] for one in ended.json["captured"]] == ["default/obs-2026-02-15-001"]
    assert [bad["line"] for bad in ended.json["bad_lines"]] == [2]
    assert "lines.jsonl:2: " in ended.err


def test_a_batch_may_begin_with_a_byte_order_mark(program: Program) -> None:
    file = program.home / "lines.jsonl"
    file.write_text('{"text": "one"}\n', encoding="utf-8-sig")
    assert len(program.quick("capture", "--batch", str(file), "--json").json["captured"]) == 1


def test_a_secret_is_named_and_masked(program: Program) -> None:
    ended = program.quick("capture", "The password: hunter2secret9", "--json")
    assert ended.code == 0
    assert "hunter2secret9" not in ended.text + ended.err
    assert "password or token: hun…" in ended.err
    assert "hunter2secret9" not in program.quick("entries", "ls").text


def test_a_check_counts_entries_and_names_the_line_of_a_broken_one(program: Program) -> None:
    program.quick("capture", "CTR dropped.", *DAY)
    assert program.quick("check").text == "all is well: 0 pages and 1 entry\n"
    vault = program.folder / "entries" / "agents" / "default" / "memory" / "vault"
    (vault / "obs-2026-02-16-001.md").write_text("---\nconfidence: much\n---\nText.\n")
    assert "entries/agents/default/memory/vault/obs-2026-02-16-001:2 " in program.quick("check").text


def test_a_memory_of_entries_only_is_not_called_empty(program: Program) -> None:
    program.quick("capture", "CTR dropped 12%.", *DAY)
    assert "entries ls" in program.quick("tree").err
    assert program.quick("search", "zeppelin").err == "silica: nothing found\n"


def test_undo_takes_back_what_was_captured_last(program: Program) -> None:
    program.quick("write", "Porto is on the Douro.")
    program.quick("capture", "CTR dropped 12%.", *DAY)
    assert "capture: default/obs-2026-02-15-001" in program.quick("undo", "--yes").text
    assert program.quick("entries", "ls").text == ""
    assert "Porto" in program.quick("read").text


def test_a_capture_without_a_text_asks_on_a_terminal_for_one_line_after_the_other(program: Program) -> None:
    lines = b"CTR dropped 12%.\nThe build takes nine minutes.\n\n"
    ended = program.on_terminal("capture", "--agent", "hawk", "--tag", "ctr", keys=(b"> ", lines))
    assert ended.code == 0
    assert ended.text.count("captured") == 2
    told = program.quick("entries", "ls", "--json").json["entries"]
    assert [(one["text"], one["tags"]) for one in told] == [
        ("The build takes nine minutes.\n", ["ctr"]),
        ("CTR dropped 12%.\n", ["ctr"]),
    ]


def test_a_capture_that_asks_ends_with_the_keys_for_the_end(program: Program) -> None:
    ended = program.on_terminal("capture", keys=(b"> ", b"CTR dropped 12%.\n\x04"))
    assert ended.code == 0
    assert len(program.quick("entries", "ls", "--json").json["entries"]) == 1


def test_an_entry_is_retracted_and_says_so_wherever_it_is_shown(program: Program) -> None:
    program.done("capture", "CTR dropped 12%.", "--agent", "hawk", *DAY)
    program.done("capture", "CTR did not drop.", "--agent", "hawk", "--ref", "corrects hawk/obs-2026-02-15-001", *DAY)
    told = ("retract", "hawk/obs-2026-02-15-001", "--why", "a broken counter", "--superseded-by", "obs-2026-02-15-002")
    assert "recorded as" in program.done("entries", *told)
    assert "already" in program.done("entries", *told)
    assert "\t(closed, superseded by hawk/obs-2026-02-15-002) CTR dropped 12%." in program.done("entries", "ls")
    shown = program.done("entries", "show", "hawk/obs-2026-02-15-001")
    assert "status closed, superseded by hawk/obs-2026-02-15-002: a broken counter\n" in shown
    assert "referred to by hawk/obs-2026-02-15-002 (corrects)\n" in shown
    told_again = program.quick("entries", "show", "hawk/obs-2026-02-15-001", "--json").json
    assert told_again["referred_to_by"] == [{"relation": "corrects", "target": "hawk/obs-2026-02-15-002"}]
    assert program.quick("entries", "retract", "hawk/obs-2026-02-15-001").code == 2


def test_duplicates_are_shown_and_archived(program: Program) -> None:
    program.done("capture", "CTR dropped 12%.", *DAY)
    vault = program.folder / "entries" / "agents" / "default" / "memory" / "vault"
    (vault / "obs-2026-02-15-009.md").write_text("---\n---\nCTR dropped 12%.\n")
    line = "archive default/obs-2026-02-15-001: it says the same as default/obs-2026-02-15-009\n"
    assert program.done("dedupe") == line
    assert program.done("dedupe", "--apply") == line
    assert program.quick("dedupe", "--apply", "--json").json["steps"] == []
    assert program.done("entries", "ls").count("\n") == 1


def test_a_likely_secret_is_written_and_warned_of(program: Program) -> None:
    token = "ghp_" + "a1" * 20
    for verb in (["capture"], ["write"], ["write", "--dry-run"]):
        ended = program.quick(*verb, f"The {verb[-1]} token is {token}")
        assert ended.code == 0
        assert "line 1 of the text seems to hold a secret (GitHub token: ghp_…)" in ended.err
    assert token in program.quick("read").text


OBSERVED = {
    "hawk/obs-2026-02-15-001": "tags: [campaign, ctr, insurance]\nconfidence: 0.82\ndecay: none\nsource: hawk\n---\n"
    "Insurance vertical CTR dropped 12% week-over-week, and so did the CPL trend.\n",
    "hawk/obs-2026-02-15-002": "tags: []\nconfidence: 0.9\ndecay: linear-14d\nsource: hawk\n---\nStatus is green.\n",
    "raven/obs-2026-02-15-001": "tags: [buyers]\nconfidence: 0.75\nverified: true\nsource: raven\n"
    "backlinks: [hawk/obs-2026-02-15-001]\n---\nBuyer acceptance is at 71%.\n",
    "raven/obs-2026-02-15-002": "tags: [buyers]\nconfidence: 0.65\nverified: true\nsource: raven\n---\nPrices hold.\n",
    "shield/obs-2026-02-15-001": "tags: [tcpa, regulation]\nconfidence: 0.4\nsource: shield\n---\n"
    "Compliance: consent must be told apart for each seller.\n",
}
"""Observations as Ocean's agents write them, `agent/name` by their front matter."""


def ran(program: Program, example: Example) -> str:
    return "".join(program.done(*shlex.split(command)) for command in example.ours)


def vaulted(program: Program) -> Program:
    """The program on a memory with Ocean's observations, as files that agents wrote there."""
    for name, text in OBSERVED.items():
        agent, _, file = name.partition("/")
        program.page(f"entries/agents/{agent}/memory/vault/{file}", f"---\ncreated: 2026-02-15\n{text}")
    return program


def test_daryl_s_examples(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program.home)
    lines = [{"content": "Two of them: one.", "importance": 0.2}, {"content": "Two of them: the other."}]
    (program.home / "observations.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for example in DARYL:
        assert re.search(example.told, ran(program, example)), example.theirs


def test_ocean_s_examples(program: Program) -> None:
    vaulted(program)
    for example in OCEAN:
        assert re.search(example.told, ran(program, example)), example.theirs
    assert not program.quick("promote", "--threshold", "0", "--apply", "--json").json["steps"]
    assert "referred to by raven/obs-2026-02-15-001" in program.done("entries", "show", "hawk/obs-2026-02-15-001")


def test_both_lead_to_the_same_memory_that_undo_takes_apart_again(program: Program) -> None:
    vaulted(program)
    program.done("checkpoint", "create", "before")
    for example in OCEAN:
        ran(program, example)
    for _ in range(5):
        program.done("undo", "--yes")
    assert program.quick("checkpoint", "show", "before", "--json").json["changed"] == []


def test_the_examples_of_searches(program: Program) -> None:
    vaulted(program)
    program.done("capture", f"Lesson: {GAP}", "--home", "insights")
    for example in SEARCHES:
        assert re.search(example.told, ran(program, example)), example.theirs


def test_the_page_about_entries_has_every_example() -> None:
    assert PAGE.read_text("utf-8") == page_with_table(), "run: python -m tests.cli.seeds"
