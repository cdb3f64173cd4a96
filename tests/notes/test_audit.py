"""An audit tells what deserves a look, with its place; what is fine it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.errors import UsageError
from memory_v2.notes.audit.audit import Audit, Choice
from memory_v2.notes.audit.context import AuditContext, Policy
from memory_v2.notes.audit.findings import TABLE, NoteFinding
from memory_v2.notes.audit.gaps import dark
from memory_v2.notes.notes import Notes
from tests.notes.folder import hashes, notes_of, reopened, settled

SECRET = "ghp_" + "a1B2c3D4e5" * 4


def audit_of(tmp_path: Path, files: dict[str, str], choice: Choice | None = None) -> Audit:
    with notes_of(tmp_path, files) as notes:
        return notes.audit(choice)


def told(tmp_path: Path, files: dict[str, str], code: str) -> list[NoteFinding]:
    return [one for one in audit_of(tmp_path, files).findings if one.code == code]


def places(tmp_path: Path, files: dict[str, str], code: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.place, one.also) for one in told(tmp_path, files, code)]


GUILD = {
    "memory/2026-02-07.md": "## Guild stats\n\n- Karma: 12\n- Posts: 4 (intro, tools)\n",
    "memory/2026-02-09.md": (
        "## Guild stats\n\n- Current stats: 10 posts, 22 comments, **24 karma**\n\n"
        "## Later\n\n- TOTAL: 14 posts by end of day\n\n"
        "## Day totals\n\n- **Posts published**: 10 (posts 10-19), bringing total to ~19\n- **Karma**: 26+ (rising)\n"
    ),
    "memory/2026-02-10.md": "## Evening\n\n- Karma rose to 35 (from 26)\n\n## Stats\n\n- Guild: 21 posts, ~35+ karma\n",
}
"""A number told in six ways: totals and increments, `~` and `+`, on a day three times."""


@pytest.mark.parametrize(
    ("line", "drifted"),
    [
        ("As of Feb 10: **21 posts**, ~35+ karma", []),
        ("19 posts, 20+ karma", ["posts"]),
        ("21 posts, ~26 karma", ["karma"]),
        ("10 posts, 24 karma", ["karma", "posts"]),
    ],
)
def test_a_number_drifts_if_the_newest_log_says_another(line: str, drifted: list[str], tmp_path: Path) -> None:
    found = told(tmp_path, {**GUILD, "MEMORY.md": f"# Memory\n\n## Guild stats\n\n- {line}\n"}, "metric-drift")
    assert sorted(one.message.split()[0] for one in found) == drifted
    assert all((one.place, one.also) == ("MEMORY.md:5", ("memory/2026-02-10.md:7",)) for one in found)


def test_numbers_without_a_label_and_in_tables_drift_too(tmp_path: Path) -> None:
    memory = (
        "# Memory\n\n## Guild\n\n- Karma 26, 14 posts, 6 followers\n\n| Metric | Value |\n|---|---|\n| karma | 26 |\n"
    )
    files = {"MEMORY.md": memory, "memory/2026-02-10.md": "## Guild\n\n- Guild: 19 posts, 35 karma\n"}
    drifted = [(one.place, one.message.split()[0]) for one in told(tmp_path, files, "metric-drift")]
    assert sorted(drifted) == [("MEMORY.md:5", "karma"), ("MEMORY.md:5", "posts"), ("MEMORY.md:9", "karma")]


@pytest.mark.parametrize(("line", "drifted"), [("120 粉丝", 1), ("120 粉丝?", 0), ("120 粉丝？", 0)])
def test_a_question_states_no_number(line: str, drifted: int, tmp_path: Path) -> None:
    files = {"MEMORY.md": f"# 博客\n\n- {line}\n", "memory/2026-02-10.md": "## 博客\n\n- 粉丝: 200\n"}
    assert len(told(tmp_path, files, "metric-drift")) == drifted


def test_a_number_of_another_subject_does_not_drift(tmp_path: Path) -> None:
    memory = {"MEMORY.md": "# Memory\n\n## Orchard stats\n\n- Orchard: 3 posts, 7 karma\n"}
    assert not told(tmp_path, {**GUILD, **memory}, "metric-drift")


def test_a_label_that_names_some_of_those_counted_is_no_count_of_all(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- Subscribers: 420\n",
        "memory/2026-02-17.md": "- Subscribers in Berlin: 80\n",
        "memory/2026-02-16.md": "- Subscribers: 431\n",
    }
    (found,) = told(tmp_path, files, "metric-drift")
    assert found.also == ("memory/2026-02-16.md:1",)


def test_lines_that_stand_in_two_notes_are_duplicates_line_by_line(tmp_path: Path) -> None:
    people = "- **Ada** — keeps the books of the guild\n- **Bob** — repairs old pumps\n- **Cleo** — asks for seeds\n"
    files = {
        "MEMORY.md": f"# Memory\n\n## Contacts\n\n{people}",
        "memory/2026-02-09.md": f"## Key contacts\n\n{people}",
    }
    (found,) = told(tmp_path, files, "duplicate")
    assert found.place == "MEMORY.md:5"
    assert found.also == ("memory/2026-02-09.md:3", "memory/2026-02-09.md:4", "memory/2026-02-09.md:5")
    assert "5-7" in found.message and "3-5 of memory/2026-02-09.md" in found.message


def test_what_differs_in_a_number_and_what_logs_repeat_is_no_duplicate(tmp_path: Path) -> None:
    daily = "## Garden\n\n- The pump runs at {} bar in the morning\n- Watered all beds before the sun was up\n"
    files = {f"memory/2026-02-0{day}.md": daily.format(day) for day in range(1, 4)}
    files["MEMORY.md"] = "# Memory\n\n- The pump runs at 7 bar in the morning\n- [[beds]]\n"
    files["garden.md"] = "# Garden\n\n- [[beds]]\n\n*Written by the gardener*\n"
    files["beds.md"] = "# Beds\n\n- Beds are dug in March\n\n*Written by the gardener*\n"
    assert not told(tmp_path, files, "duplicate")


def test_a_document_with_examples_in_code_says_nothing(tmp_path: Path) -> None:
    design = (
        "# Tool design\n\n```\nDECISION: NOT joining the fair — too far\nMETRIC: karma 99\n"
        "Contact: [[nobody]] knows\n```\n\n> - [ ] TODO: an example of 2020-01-01\n"
    )
    files = {**GUILD, "memory/tool-design.md": design, "MEMORY.md": "# Memory\n\n- The guild meets on Mondays\n"}
    assert not [one for one in audit_of(tmp_path, files).findings if one.path == "memory/tool-design.md"]


@pytest.mark.parametrize(
    ("memory", "log", "expected"),
    [
        ("## Pump\n\n- Port: 8080\n", "## Pump\n\n- Port: 8443\n", ["MEMORY.md:5"]),
        ("- We water the beds in the evening\n", "- We do NOT water the beds in the evening\n", ["MEMORY.md:3"]),
        ("- We water the beds in the evening\n- We do not water the beds in the evening\n", "- Rain\n", []),
        (
            "- Moves the bed and what is below it to another place; links follow, if nobody is there\n",
            "- Moves all below the bed to another place; links follow, and the place itself does not\n",
            [],
        ),
        ("## Pump\n\n- Port: 8080\n", "## Well\n\n- Port: 8443\n", []),
        ("## Pump\n\n- Port: 8080 (2026-03-01)\n", "## Pump\n\n- Port: 8443\n", []),
    ],
)
def test_a_lasting_note_contradicts_what_is_said_of_the_same_subject(
    memory: str, log: str, expected: list[str], tmp_path: Path
) -> None:
    files = {"MEMORY.md": f"# Memory\n\n{memory}", "pump.md": "# Pump\n\n- It is blue\n", "memory/2026-02-20.md": log}
    assert [one.place for one in told(tmp_path, files, "contradiction")] == expected


def test_notes_without_a_title_are_about_what_their_files_are_called(tmp_path: Path) -> None:
    files = {"pump.md": "### Description\n\n- Colour: blue\n", "well.md": "### Description\n\n- Colour: red\n"}
    assert not audit_of(tmp_path, files).findings
    again = {"a/pump.md": "### Data\n\n- Colour: blue\n", "b/pump.md": "### Data\n\n- Colour: red\n"}
    assert list(audit_of(tmp_path / "again", again).counts) == ["contradiction"]
    index = {"MEMORY.md": "## Pump\n\n- Port: 8080\n", "pump.md": "# Pump\n\n- Port: 8443\n"}
    assert list(audit_of(tmp_path / "index", index).counts) == ["contradiction"]


def test_what_changes_from_log_to_log_is_history(tmp_path: Path) -> None:
    files = {f"memory/2026-02-{day}.md": f"# Pump\n\n- Port: {day}80\n- Colour: {day}\n" for day in (10, 11)}
    assert not audit_of(tmp_path, files).findings


def test_what_was_replaced_is_told_where_it_is_cited_or_repeated(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- The rules are in [[rules]]\n- Seeds are kept in the cellar\n",
        "rules.md": "---\nstatus: superseded\n---\n# Rules\n\n- Gloves are worn\n",
        "new.md": "# New\n\n- ~~Seeds are kept in the cellar~~\n",
        "memory/2026-02-01.md": "- Read [[rules]]\n",
    }
    assert places(tmp_path, files, "superseded") == [("MEMORY.md:3", ("rules.md",)), ("MEMORY.md:4", ("new.md:3",))]


@pytest.mark.parametrize(
    ("line", "is_stale"),
    [
        ("As of 2026-01-10: 21 beds are dug", True),
        ("Stand vom 10.01.2026: die Pumpe läuft", True),
        ("截至2026年1月10日，水泵正常", True),
        ("The permit is valid until 2026-02-28", True),
        ("The permit is valid until 2026-12-31", False),
        ("As of 2026-02-20: 22 beds are dug", False),
        ("The well was dug on 2020-01-10", False),
    ],
)
def test_what_was_said_as_of_a_day_long_past_is_stale(line: str, is_stale: bool, tmp_path: Path) -> None:
    found = told(tmp_path, {"MEMORY.md": f"# Memory\n\n- {line}\n"}, "stale")
    assert bool(found) == is_stale


def test_what_is_open_for_long_is_told_once_where_it_was_said_last(tmp_path: Path) -> None:
    files = {
        "memory/2026-01-10.md": "- [ ] order the new filter for the pump\n- [ ] paint the fence\n- [x] dig\n",
        "memory/2026-01-20.md": "## Next steps\n\n- order the new filter for the pump\n\nHave a good day\n",
        "memory/2026-01-25.md": "- [x] paint the fence\n## Plans for spring\n\n- leeks\n",
        "memory/2026-01-26.md": "## Morning checklist\n\n- [ ] is the pump on?\n\n## To do\n\n- 10:40 went out\n",
        "memory/2026-02-25.md": "- [ ] buy string\n",
    }
    (found,) = told(tmp_path, files, "unfinished")
    assert (found.place, found.also) == ("memory/2026-01-20.md:3", ("memory/2026-01-10.md:1",))
    with notes_of(tmp_path, files) as notes:
        assert {one.path for one in notes.audit(policy=Policy(unfinished_days=2)).findings} == {
            "memory/2026-01-20.md",
            "memory/2026-02-25.md",
        }


def test_a_decision_or_lesson_that_no_lasting_note_has_is_told(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n## Rules\n\n- Peat is never used in our raised beds, says Ada\n",
        "memory/2026-02-20.md": (
            "- Decision: we never use peat in the raised beds\n- Lesson: mulch keeps slugs away from young lettuce\n"
        ),
    }
    assert places(tmp_path, files, "not-curated") == [("memory/2026-02-20.md:2", ())]
    del files["MEMORY.md"]
    assert not told(tmp_path / "without", files, "not-curated")


def test_files_are_told_for_their_bytes_their_length_and_their_secrets(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"MEMORY.md": "# Memory\n" + "- line\n" * 300, "key.md": f"# Key\n\ntoken {SECRET}\n"})
    (notes.folder / "broken.md").write_bytes(b"# Broken\n\nfine\n\xff\xfe? here\n")
    (notes.folder / "marked.md").write_bytes(b"\xef\xbb\xbf# Marked\n")
    (notes.folder / "mixed.md").write_bytes(b"# Mixed\r\n\r\na\r\nb\nc\r\n")
    settled(notes.folder)
    found = notes.audit().findings
    assert [(one.code, one.place) for one in found] == [
        ("secret", "key.md:3"),
        ("over-budget", "MEMORY.md:200"),
        ("not-utf8", "broken.md:4"),
        ("byte-order-mark", "marked.md:1"),
        ("mixed-line-ends", "mixed.md:4"),
    ]
    assert SECRET not in repr(found)


def test_a_secret_in_a_file_that_could_not_be_read_is_told_by_the_next_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with notes_of(tmp_path, {"key.md": f"token {SECRET}\n"}) as notes, monkeypatch.context() as unreadable:
        notes.refresh()
        unreadable.setattr(AuditContext, "data", {})
        assert notes.audit().findings == ()
    with reopened(notes.folder, "2026-03-03T12:00:00+00:00") as notes:
        assert [one.code for one in notes.audit().findings] == ["secret"]


def test_a_note_that_a_search_for_its_own_words_does_not_find_is_dark(tmp_path: Path) -> None:
    files = {f"bed-{n}.md": f"# Bed {n}\n\n- Here grows {name}\n" for n, name in enumerate(["kale", "leek", "chard"])}
    files["list.md"] = "## Links\n\n- [[bed-1]] - quinoa amaranth teff\n"
    files |= {f"same-{n}.md": "- The same in all of them\n" for n in range(15)}
    assert not told(tmp_path, files, "dark")
    with notes_of(tmp_path, files) as notes:
        asked: list[str] = []

        def search(query: str) -> list[str]:
            asked.append(query)
            return ["bed-0.md"]

        context = replace(notes._audited(Policy()), search=search)
        assert [one.path for one in dark(context)] == ["bed-1.md", "bed-2.md", "list.md"]
    assert [query.split()[0] for query in asked] == ["kale", "leek", "chard", "amaranth"]


def test_the_tree_of_a_memory_is_a_folder_of_notes_too(tmp_path: Path) -> None:
    memory = Memory.open(tmp_path / "memory")
    for name in ("pumps", "wells"):
        memory.write(f"# About {name}\n\n- Port: 80{len(name)}\n- They are {name} of the garden of Ada", path=name)
    memory.entries.capture("Ada moved to Berlin in March")
    memory.entries.capture(f"The token is {SECRET}, to be kept")
    before = hashes(tmp_path / "memory")
    with Notes.open(tmp_path / "memory", tmp_path / "cache") as notes:
        found = notes.audit(policy=Policy(unfinished_days=0, stale_days=0))
    assert found.notes == 5
    assert {one.code for one in found.findings} <= {"secret"}
    assert hashes(tmp_path / "memory") == before


def test_a_fingerprint_stays_when_lines_move(tmp_path: Path) -> None:
    files = {"MEMORY.md": "# Memory\n\n- As of 2026-01-10: 21 beds are dug\n", "a.md": f"# A\n\ntoken: {SECRET}\n"}
    moved = {name: text.replace("\n\n", "\n\nSomething new.\n\n") for name, text in files.items()}
    before, after = audit_of(tmp_path / "1", files), audit_of(tmp_path / "2", moved)
    assert [one.fingerprint for one in before.findings] == [one.fingerprint for one in after.findings]
    assert [one.line for one in before.findings] != [one.line for one in after.findings]
    known = Choice(known=[before.findings[0].fingerprint])
    again = audit_of(tmp_path / "2", moved, known)
    assert (len(again.findings), again.known) == (len(after.findings) - 1, 1)


@pytest.mark.parametrize(
    ("comment", "is_ignored"), [("stale", True), ("", True), ("secret, stale", True), ("dark", False)]
)
def test_a_comment_on_the_line_or_above_ignores_a_finding(comment: str, is_ignored: bool, tmp_path: Path) -> None:
    line = "- As of 2026-01-10: 21 beds are dug"
    mark = f"<!-- silica: ignore {comment} -->"
    for number, text in enumerate((f"# Memory\n\n{line} {mark}\n", f"# Memory\n\n{mark}\n{line}\n")):
        audit = audit_of(tmp_path / str(number), {"MEMORY.md": text})
        assert (bool(audit.findings), bool(audit.ignored)) == (not is_ignored, is_ignored)


def test_codes_and_days_are_chosen(tmp_path: Path) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- As of 2026-01-10: 21 beds are dug\n",
        "memory/2026-01-20.md": "- [ ] paint the fence\n",
        "key.md": f"token {SECRET}\n",
    }
    assert list(audit_of(tmp_path, files).counts) == ["secret", "stale", "unfinished"]
    for choice, expected in (
        (Choice(select=["stale", "secret"]), ["secret", "stale"]),
        (Choice(ignore=["stale"]), ["secret", "unfinished"]),
    ):
        assert list(audit_of(tmp_path, files, choice).counts) == expected
    with pytest.raises(UsageError, match="no code 'stael'"):
        Choice(select=["stael"])


def test_the_same_notes_and_day_give_the_same_findings_and_nothing_is_changed(tmp_path: Path) -> None:
    files = {**GUILD, "MEMORY.md": "# Memory\n\n## Guild stats\n\n- 10 posts\n- [away](../away.md)\n"}
    notes = notes_of(tmp_path, files)
    before = hashes(notes.folder)
    first = notes.audit()
    assert first == notes.audit() == Notes(notes.folder, None, notes.calendar).audit()
    assert hashes(notes.folder) == before
    (tmp_path / "away.md").write_text("# Away\n")
    assert {"broken-link"} == {*first.counts} - {*notes.audit().counts}


def test_the_page_about_notes_has_the_table_of_codes() -> None:
    rows = [f"| `{code.name}` | {code.severity} | {code.meaning} |" for code in TABLE]
    page = (Path(__file__).resolve().parents[2] / "docs" / "notes.md").read_text("utf-8")
    assert "\n".join(rows) in page


def test_a_line_of_a_million_characters_does_not_hold_an_audit_up(tmp_path: Path) -> None:
    line = "[" * 100_000 + "\n" + "](" * 100_000 + "\n" + "x" * 1_000_000
    assert not audit_of(tmp_path, {"line.md": f"{line}\n"}).counts.get("mixed-line-ends")


def test_a_note_that_is_removed_while_an_audit_runs_is_left_out(tmp_path: Path) -> None:
    files = {"MEMORY.md": "# Memory\n\n- As of 2026-01-01: 3 beds\n", "memory/2026-01-10.md": "- [ ] paint the fence\n"}
    with notes_of(tmp_path, files) as notes:
        notes.refresh()
        (notes.folder / "memory" / "2026-01-10.md").unlink()
        assert [one.code for one in notes.audit().findings] == ["stale"]
