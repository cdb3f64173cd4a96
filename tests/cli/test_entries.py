"""`capture`, `entries ls` and `entries show`, as a person and a script use them."""

from __future__ import annotations

from .program import Program

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
