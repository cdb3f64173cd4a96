"""Capturing: one file each, at once, under a number of its own, whatever the storage."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from memory_v2 import InvalidSetting, InvalidText, Memory, NotAllowed, StorageError
from memory_v2.entries.capture import BATCH
from memory_v2.entries.entry import Decay, Reference
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage

NOW = datetime(2026, 2, 15, 9, 30, tzinfo=UTC)
LONG = "Insurance CTR dropped {}% in the whole vertical after the release of Monday"


def vault(memory: Memory, agent: str = "default") -> Path:
    return Path(memory.storage.where) / "entries" / "agents" / agent / "memory" / "vault"


def test_an_entry_is_a_file_with_ocean_s_names(memory: Memory) -> None:
    captured = memory.entries.capture(
        "CTR dropped 12%.",
        "hawk",
        tags=["campaign", "CTR"],
        confidence=0.82,
        importance=0.5,
        decay="linear-30d",
        source="watchtower",
        references=["obs-2026-02-14-003", "supersedes hawk/obs-2026-02-13-001"],
        home="technical",
    )
    assert captured.id == "hawk/obs-2026-02-15-001"
    assert (vault(memory, "hawk") / "2026-02" / "obs-2026-02-15-001.md").read_text() == (
        "---\ntags: [campaign, CTR]\nconfidence: 0.82\nimportance: 0.5\ncreated: 2026-02-15\n"
        "recorded: 2026-02-15T09:30:00Z\ndecay: linear-30d\nsource: watchtower\nhome: technical\n"
        'backlinks: ["obs-2026-02-14-003"]\n'.replace('"', "")
        + "references: [supersedes hawk/obs-2026-02-13-001]\n---\nCTR dropped 12%.\n"
    )


def test_what_is_captured_is_what_is_read(any_memory: Memory) -> None:
    captured = any_memory.entries.capture(
        "# A title\n\nand --- a rule\n---\nkey: value\r\n",
        "hawk",
        tags=["a b", "true", "2026", "ключ", 'qu"ote', "x, y,", "y"],
        confidence=1,
        importance=0.0,
        decay=Decay("exponential", 14),
        kind="decision",
        home="projects/silica",
        source="Ana: the boss",
        channel="slack",
        session="s-1",
        location="notes/a.md:12",
        references=["near hawk/obs-2026-01-01-001", "technical"],
        date="2026-02-03T10:15:00+05:30",
        scope="user",
    )
    read = any_memory.entries.read_entry(captured.id)
    assert read == captured.entry
    assert read.tags == ("a b", "true", "2026", "ключ", 'qu"ote', "x", "y")
    assert set(read.references) == {Reference("near", "hawk/obs-2026-01-01-001"), Reference("related", "technical")}
    assert read.observed_at == datetime(2026, 2, 3, 10, 15, tzinfo=timezone(timedelta(hours=5, minutes=30)))
    assert read.name == "obs-2026-02-03-001"


def test_a_day_stays_a_day_and_today_is_that_of_the_time_zone(tmp_path: Path) -> None:
    late = datetime(2026, 2, 15, 23, 30, tzinfo=UTC)
    memory = Memory(VolatileStorage(), now=lambda: late, timezone=timezone(timedelta(hours=2)))
    entry = memory.entries.capture("Late.").entry
    assert (entry.observed_at, entry.recorded_at) == (date(2026, 2, 16), late)
    assert memory.entries.capture("Earlier.", date=date(2026, 2, 3)).id == "default/obs-2026-02-03-001"


@pytest.mark.parametrize("day", ["0001-01-01", "1899-12-31", "9999-12-31T00:00:00Z", date(3000, 1, 1)])
def test_an_entry_may_be_of_the_years_that_a_page_may_name(any_memory: Memory, day: date | str) -> None:
    with pytest.raises(InvalidSetting, match="a day of the years 1900 to 2999"):
        any_memory.entries.capture("Long ago.", date=day)
    assert any_memory.entries.capture("In 1900.", date="1900-01-01").id == "default/obs-1900-01-01-001"


def test_the_same_text_of_the_same_day_is_said_to_be_there(any_memory: Memory) -> None:
    first = any_memory.entries.capture("Backup failed.", "hawk")
    again = any_memory.entries.capture("Backup failed.\n\n", "hawk", tags=["x"])
    assert again.was_known
    assert again.entry == any_memory.entries.read_entry(first.id)
    assert not any_memory.entries.capture("Backup failed.", "fury").was_known
    assert not any_memory.entries.capture("Backup failed.", "hawk", date="2026-02-14").was_known
    assert len(any_memory.entries.list_entries()) == 3


def test_a_text_whose_entry_is_gone_is_captured_again_under_another_number(memory: Memory) -> None:
    first = memory.entries.capture("Backup failed.")
    (vault(memory) / "2026-02" / "obs-2026-02-15-001.md").unlink()
    again = memory.entries.capture("Backup failed.")
    assert not again.was_known
    assert (first.entry.name, again.entry.name) == ("obs-2026-02-15-001", "obs-2026-02-15-002")


def test_the_same_text_captured_at_the_same_instant_is_stored_once(
    any_memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = any_memory.entries.capture("CTR dropped 12%.", "hawk")
    known = any_memory.entries.store.known
    monkeypatch.setattr(known, "ask", lambda _: None)  # as if the other process had added it a moment later
    again = any_memory.entries.capture("CTR dropped 12%.", "hawk")
    assert (again.was_known, again.id) == (True, first.id)
    assert [one.id for one in any_memory.entries.list_entries()] == [first.id]


def test_what_was_imported_is_known_to_a_capture(any_memory: Memory) -> None:
    file = {"agents/hawk/memory/vault/obs-2026-02-15-007.md": b"---\ncreated: 2026-02-15\n---\nCTR dropped 12%.\n"}
    any_memory.entries.capture("Something else.", "hawk")
    any_memory.entries.import_files(file, apply=True)
    assert any_memory.entries.capture("CTR dropped 12%.", "hawk").id == "hawk/obs-2026-02-15-007"


def test_what_says_much_the_same_is_another_fact_and_refers_to_the_first(any_memory: Memory) -> None:
    first = any_memory.entries.capture(LONG.format(12))
    second = any_memory.entries.capture(LONG.format(13))
    assert second.near == first.id
    assert Reference("near", first.id) in any_memory.entries.read_entry(second.id).references
    builds = [any_memory.entries.capture(f"build {number} passed") for number in (41, 42)]
    assert builds[1].near == builds[0].id
    assert any_memory.entries.capture("Porto has a new harbour master, who is called Ines").near is None


def test_a_likely_secret_is_told_and_masked_and_kept(memory: Memory) -> None:
    captured = memory.entries.capture("The password: hunter2secret9")
    assert [one.kind for one in captured.secrets] == ["password or token"]
    assert "hunter2" not in json.dumps(captured.to_dict(), default=str)
    assert "hunter2secret9" in memory.entries.read_entry(captured.id).text


@pytest.mark.parametrize(
    "wrong",
    [
        {"confidence": 1.2},
        {"importance": "much"},
        {"decay": "quick"},
        {"decay": "linear-0d"},
        {"date": "yesterday"},
        {"date": "2026-02-31"},
        {"date": datetime(2026, 2, 3)},
        {"agent": "../hawk"},
        {"agent": "a/b"},
        {"agent": "Shared"},
        {"tags": "one"},
        {"tags": ["two\nlines"]},
        {"home": ""},
        {"scope": "everybody"},
    ],
)
def test_a_wrong_value_is_refused_and_nothing_is_stored(memory: Memory, wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidSetting, match=next(iter(wrong))):
        memory.entries.capture("CTR dropped.", **wrong)  # type: ignore[arg-type]
    for text in ("", " \n", "\ud800"):
        with pytest.raises(InvalidText):
            memory.entries.capture(text)
    assert memory.entries.list_entries() == []


def test_a_bad_line_of_a_batch_is_told_and_keeps_no_other_one_back(memory: Memory) -> None:
    lines = ['{"text": "one", "tags": ["x"]}', "", '{"content": "two"}', "{", '"three"', '{"text": "x", "colour": 1}']
    result = memory.entries.capture_batch([*lines, {"text": "four"}, "7", '{"tags": []}'])
    assert [one.entry.text for one in result.captured] == ["one\n", "two\n", "three\n", "four\n"]
    assert [bad.line for bad in result.bad_lines] == [4, 6, 8, 9]


def test_a_capture_takes_no_lock_once_the_store_has_its_format(memory: Memory) -> None:
    memory.entries.capture("First.")
    with memory.storage.lock():
        other = Memory(LocalStorage(Path(memory.storage.where)), now=lambda: NOW)
        assert other.entries.capture("Second.").id == "default/obs-2026-02-15-002"


def test_a_newer_store_is_refused(memory: Memory) -> None:
    memory.entries.capture("First.")
    (Path(memory.storage.where) / ".metadata" / "format.json").write_text('{"format": 99}')
    with pytest.raises(StorageError, match="in format 99"):
        memory.entries.capture("Second.")


def test_numbers_go_on_after_those_in_the_vault_and_in_the_archive_whatever_is_known(memory: Memory) -> None:
    for place in ("vault/2026-02/obs-2026-02-15-003", "vault/obs-2026-02-15-005", "archive/obs-2026-02-15-007"):
        file = vault(memory).parent / f"{place}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("From Ocean.\n")
    assert memory.entries.capture("Next.").entry.name == "obs-2026-02-15-008"
    metadata = Path(memory.storage.where) / ".metadata"
    memory.close()
    for file in metadata.glob("entries.sqlite*"):
        file.unlink()
    (metadata / "entries.sqlite").mkdir()  # nothing can be known
    assert memory.entries.capture("And the next.").entry.name == "obs-2026-02-15-009"


@pytest.mark.parametrize("place", ["vault", "archive", "archive/2026-02"])
def test_a_number_that_somebody_has_taken_by_hand_meanwhile_is_left_alone(any_memory: Memory, place: str) -> None:
    any_memory.entries.capture("One.", "hawk")
    for number in range(2, 25):
        path = f"entries/agents/hawk/memory/{place}/obs-2026-02-15-{number:03}"
        any_memory.storage.write(path, b"---\n---\nBy another program.\n")
    assert any_memory.entries.capture("Two.", "hawk").id == "hawk/obs-2026-02-15-025"
    assert not any_memory.check()


def test_an_agent_that_differs_from_another_only_in_case_is_refused(any_memory: Memory) -> None:
    any_memory.entries.capture("One.", "hawk")
    any_memory.entries.capture("One.", "ünï")
    for other in ("Hawk", "HAWK", "ÜNÏ"):
        with pytest.raises(InvalidSetting, match="some disks"):
            any_memory.entries.capture("Two.", other)
    assert any_memory.entries.capture("Two.", "hawk").id == "hawk/obs-2026-02-15-002"
    assert not any_memory.check()


@pytest.mark.parametrize("place", ["entries", "entries/agents", "entries/agents/hawk"])
def test_a_link_among_the_entries_is_not_followed(place: str, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    link = tmp_path / "memory" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "outside")
    with Memory(LocalStorage(tmp_path / "memory"), now=lambda: NOW) as memory:
        with pytest.raises(StorageError, match="symbolic link"):
            memory.entries.capture("One.", "hawk")
        assert "symbolic link" in " ".join(one.message for one in memory.check())
        memory.write("Pages are written all the same.")
    assert not list((tmp_path / "outside").iterdir())


def test_damaged_tables_of_what_is_known_are_filled_again(memory: Memory) -> None:
    memory.entries.capture("First.")
    memory.close()
    (Path(memory.storage.where) / ".metadata" / "entries.sqlite").write_bytes(b"no tables at all" * 1000)
    assert memory.entries.capture("First.").was_known


# the history


def test_captures_come_into_the_history_in_batches_and_can_be_undone(any_memory: Memory) -> None:
    any_memory.write("Porto is on the Douro.", "towns")
    ids = [any_memory.entries.capture(f"Observation of kind {number}.").id for number in range(3)]
    assert next(one.kind for one in any_memory.storage.history.revisions()) == "write"
    assert any_memory.entries.pick_up() == 3
    assert any_memory.entries.pick_up() == 0
    newest = any_memory.history()[0]
    assert (newest.first.kind, len(newest.paths)) == ("capture", 3)
    any_memory.undo()
    assert any_memory.entries.list_entries() == []
    any_memory.undo(any_memory.history()[0].id)
    assert [entry.id for entry in any_memory.entries.list_entries()] == ids
    assert "Porto" in any_memory.read("towns")
    assert any_memory.check() == []


def test_undo_takes_back_what_was_done_last_and_no_capture_before_it(memory: Memory) -> None:
    captured = [memory.entries.capture(f"Observation of kind {number}.").id for number in range(2)]
    memory.write("Porto is on the Douro.", "towns")
    memory.undo()
    assert not memory.storage.exists("towns")
    assert [entry.id for entry in memory.entries.list_entries()] == captured
    memory.entries.capture("Observation of another kind.")
    listed = memory.history()[0]
    memory.undo()
    assert memory.history()[1].id == listed.id and listed.first.kind == "capture"
    assert [entry.id for entry in memory.entries.list_entries()] == captured


def test_undo_takes_back_a_write_before_what_was_captured_ahead_of_it(memory: Memory) -> None:
    ahead = memory.entries.capture("Observation ahead of the write.").id
    memory.write("Porto is on the Douro.", "towns")
    memory.entries.capture("Observation of another kind.")
    memory.undo()
    assert [entry.id for entry in memory.entries.list_entries()] == [ahead]
    memory.undo()
    assert not memory.storage.exists("towns")
    assert [entry.id for entry in memory.entries.list_entries()] == [ahead]
    memory.undo()
    assert memory.entries.list_entries() == []
    with pytest.raises(NotAllowed, match="nothing to undo"):
        memory.undo()


def test_undo_goes_on_with_the_newest_capture_once_what_followed_it_is_undone(memory: Memory) -> None:
    first = memory.entries.capture("Observation ahead of all.").id
    assert memory.history()[0].first.kind == "capture"  # so this one is in the history
    second = memory.entries.capture("Observation ahead of the write.").id
    memory.write("Porto is on the Douro.", "towns")
    memory.undo()
    assert [entry.id for entry in memory.entries.list_entries()] == [first, second]
    assert second in memory.history()[0].first.summary
    memory.undo()
    assert [entry.id for entry in memory.entries.list_entries()] == [first]


def test_a_full_batch_is_brought_into_the_history_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_v2.entries.capture.BATCH", 3)
    assert BATCH > 100
    memory = Memory(VolatileStorage(), now=lambda: NOW)
    for number in range(4):
        memory.entries.capture(f"Observation of kind {number}.")
    assert [len(one.paths) for one in memory.storage.history.revisions()] == [3]


def test_entries_are_no_pages(any_memory: Memory) -> None:
    any_memory.write("Porto is on the Douro.", "towns")
    any_memory.entries.capture("The lighthouse keeper of Skagen retires.")
    any_memory.entries.pick_up()
    assert [page.path for page in any_memory.list_files()] == ["memory", "towns"]
    assert any_memory.check() == []
    first = any_memory.history()[-1]
    any_memory.write("Braga is in the north.", "towns")
    any_memory.restore(first.id)
    assert len(any_memory.entries.list_entries()) == 1
    assert [page.path for page in any_memory.list_files()] == ["memory", "towns"]
    assert "Skagen" not in any_memory.diff(first.id).diff


def test_what_was_captured_before_a_text_is_forgotten_is_no_edit_by_hand(memory: Memory) -> None:
    memory.entries.capture("The gate of the weir is red.")
    memory.entries.capture("The heron came on Monday.")
    memory.forget("red", apply=True)
    assert [change.first.kind for change in memory.history()] == ["forget", "capture"]


def test_what_is_forgotten_is_gone_from_entries_too(memory: Memory) -> None:
    memory.entries.capture("The lighthouse keeper of Skagen retires.")
    memory.entries.pick_up()
    memory.entries.capture("Skagen has a new keeper.")
    told = memory.forget("Skagen", apply=True)
    assert [step.action for step in told.steps].count("redact") == 2
    assert not [
        file for file in Path(memory.storage.where).rglob("*") if file.is_file() and b"Skagen" in file.read_bytes()
    ]
    assert all("(forgotten)" in entry.text for entry in memory.entries.list_entries())


@pytest.mark.parametrize("days", [1e9, 1234567.5, 1e20, 0.00001])
@pytest.mark.parametrize("sure", [0.1234567, 0.9999999, 0.00001, 1.0])
def test_numbers_are_read_back_as_they_were_given(memory: Memory, days: float, sure: float) -> None:
    decay = f"linear-{days:.5f}d"
    captured = memory.entries.capture("It drips.", decay=decay, confidence=sure, importance=sure)
    entry = memory.entries.read_entry(captured.id)
    assert (entry.decay, entry.confidence, entry.importance) == (Decay("linear", days), sure, sure)
    assert memory.check() == []


@pytest.mark.parametrize("home", ["insights", "Insights", "shard_insights"])
def test_a_domain_is_the_home_however_it_is_spelled(any_memory: Memory, home: str) -> None:
    any_memory.entries.capture("Test the restore.", "hawk", home=home)
    assert [entry.home for entry in any_memory.entries.list_entries()] == ["insights"]
    assert any_memory.search("restore", domain="insights")
    assert len(any_memory.entries.export_shards()["shard_insights.json"]["transactions"]) == 1


def test_a_home_that_is_no_domain_is_told_and_one_that_can_be_no_page_refused(
    any_memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    any_memory.write("# Silica\n\nTested.\n", "projects/silica")
    assert any_memory.entries.capture("One.", home="projects/silica").entry.home == "projects/silica"
    assert any_memory.entries.capture("Two.", home="Inbox").entry.home is None
    assert not caplog.messages
    assert any_memory.entries.capture("Three.", home="gardening").entry.home == "gardening"
    assert "'gardening' is no domain, and no page yet" in caplog.messages[0]
    with pytest.raises(InvalidSetting, match="neither a domain nor a page"):
        any_memory.entries.capture("Four.", home="../etc")
