"""What agents do to each other's entries: duplicates, retracting, verifying, sharing."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from memory_v2 import EntryNotFound, InvalidSetting, Memory, NotAllowed
from memory_v2.entries.entry import Reference
from memory_v2.entries.upkeep import plan_deduping

from .made import at, made, stock

NOW = datetime(2026, 2, 15, 9, 30, tzinfo=UTC)
VAULT = "entries/agents/hawk/memory/vault"
TEXT = "Insurance CTR dropped 12% in the whole vertical after the release of Monday\n"


@pytest.fixture
def memory(any_memory: Memory) -> Memory:
    return any_memory


def stored(memory: Memory) -> dict[str, bytes]:
    return {stamp.path: memory.storage.read(stamp.path).data for stamp in memory.storage.stamps("entries")}


# deduping


def test_the_younger_of_the_same_goes_to_the_archive_and_undo_takes_that_back(memory: Memory) -> None:
    first = memory.entries.capture(TEXT, "hawk").id
    memory.storage.write(f"{VAULT}/obs-2026-02-15-009", b"---\nrecorded: 2026-02-16T09:30:00Z\n---\n" + TEXT.encode())
    memory.entries.capture("It is as in hawk/obs-2026-02-15-009.", "raven", references=["hawk/obs-2026-02-15-009"])
    before = stored(memory)
    plan = memory.entries.dedupe()
    assert [(one.name, one.facts["superseded_by"]) for one in plan.planned] == [("hawk/obs-2026-02-15-009", first)]
    assert (stored(memory), plan.revision) == (before, None)
    done = memory.entries.dedupe(apply=True)
    assert done == plan
    gone = memory.entries.read_entry("hawk/obs-2026-02-15-009")
    assert (gone.archived, gone.status, gone.superseded_by, gone.text) == (True, "closed", first, TEXT)
    assert [one.target for one in memory.entries.referred_to_by(gone.id)] == ["raven/obs-2026-02-15-001"]
    assert not memory.check()
    assert memory.entries.dedupe(apply=True).revision is None
    memory.undo(done.revision)
    assert stored(memory) == before


def test_near_texts_and_the_same_of_other_days_and_agents_are_shown_only(memory: Memory) -> None:
    ids = [
        memory.entries.capture(text, agent, date=day).id
        for text, agent, day in (
            (TEXT, "hawk", "2026-02-03"),
            (TEXT, "hawk", "2026-02-04"),
            (TEXT, "raven", "2026-02-03"),
            (TEXT.replace("12%", "13%"), "hawk", "2026-02-03"),
            ("Soup for lunch.", "hawk", "2026-02-03"),
        )
    ]
    done = memory.entries.dedupe(apply=True)
    assert (done.revision, done.planned) == (None, ())
    assert [set(one.message.partition(": ")[2].split(", ")) for one in done.warnings] == [set(ids[:4])]


def test_a_verified_one_stays_and_closed_archived_and_promoted_ones_are_left_alone() -> None:
    plan = plan_deduping(
        stock(
            made("hawk/a", TEXT, recorded_at=datetime(2026, 2, 1, tzinfo=UTC)),
            made("hawk/b", TEXT, recorded_at=datetime(2026, 2, 2, tzinfo=UTC), verified=True),
            made("hawk/c", TEXT, status="closed"),
            made("hawk/d", TEXT, archived=True),
            made("hawk/e", TEXT, observed_at=date(2026, 2, 16)),
            made("shared/hawk-a", TEXT, promoted_from="hawk/a"),
        ),
        at(NOW),
    )
    assert [(one.name, one.facts["superseded_by"]) for one in plan.steps] == [("hawk/a", "hawk/b")]
    assert [one.message for one in plan.warnings] == ["1.00 alike: hawk/b, hawk/e"]


def test_a_duplicate_with_a_file_in_its_way_or_a_broken_header_is_left_alone(memory: Memory) -> None:
    memory.entries.capture(TEXT, "hawk")
    memory.storage.write(f"{VAULT}/obs-2026-02-15-008", b"---\ntags: [a\n---\n" + TEXT.encode())
    memory.storage.write(f"{VAULT}/obs-2026-02-15-009", b"---\n---\n" + TEXT.encode())
    memory.storage.write("entries/agents/hawk/memory/archive/obs-2026-02-15-009", b"---\n---\nOther.\n")
    before = stored(memory)
    assert memory.entries.dedupe(apply=True).revision is None
    assert stored(memory) == before


# retracting


def test_an_entry_is_retracted_with_the_reason_and_undo_takes_that_back(memory: Memory) -> None:
    first = memory.entries.capture(TEXT, "hawk", confidence=0.9).id
    better = memory.entries.capture("CTR did not drop.", "hawk").id
    memory.entries.pick_up()
    before = stored(memory)
    done = memory.entries.retract(first, "the counter was broken", "obs-2026-02-15-002")
    told = memory.entries.read_entry(first)
    assert done.entry == told
    assert (told.status, told.retracted, told.superseded_by) == ("closed", "the counter was broken", better)
    assert told.text == TEXT
    assert memory.history()[0].first.kind == "retract"
    assert not memory.entries.promote().planned
    assert memory.entries.retract(first, "the counter was broken", better).revision is None
    memory.undo()
    assert stored(memory) == before


def test_what_was_retracted_may_be_observed_again(memory: Memory) -> None:
    first = memory.entries.capture(TEXT, "hawk").id
    memory.entries.retract(first, "the counter was broken")
    assert not memory.entries.capture(TEXT, "hawk").was_known


def test_retracting_changes_the_lines_of_its_keys_only(memory: Memory) -> None:
    path = f"{VAULT}/obs-2026-02-01-001"
    memory.storage.write(path, b"---\r\nstatus:   open # still\r\nown: [ 1,2 ]\r\n---\r\nodd \xff\r\n")
    memory.entries.retract("hawk/obs-2026-02-01-001", 'it said: "no"')
    assert memory.storage.read(path).data == (
        b'---\r\nstatus: closed\r\nown: [ 1,2 ]\r\nretracted: "it said: \\"no\\""\r\n---\r\nodd \xff\r\n'
    )


def test_what_cannot_be_retracted_is_refused(memory: Memory) -> None:
    first = memory.entries.capture(TEXT, "hawk").id
    memory.storage.write(f"{VAULT}/obs-2026-02-15-008", b"---\ntags: [a\n---\n" + TEXT.encode())
    for folder in ("one", "two"):
        memory.storage.write(f"{VAULT}/{folder}/obs-2026-02-15-009", TEXT.encode())
    before = stored(memory)
    with pytest.raises(NotAllowed, match="are called"):
        memory.entries.retract("hawk/obs-2026-02-15-009", "wrong")
    with pytest.raises(EntryNotFound):
        memory.entries.retract("hawk/obs-2026-02-15-099", "gone")
    with pytest.raises(EntryNotFound):
        memory.entries.retract(first, "wrong", "hawk/obs-2026-02-15-099")
    with pytest.raises(InvalidSetting, match="by itself"):
        memory.entries.retract(first, "wrong", first)
    for why in ("", " ", "a\nb"):
        with pytest.raises(InvalidSetting):
            memory.entries.retract(first, why)
    with pytest.raises(NotAllowed, match="line 2"):
        memory.entries.retract("hawk/obs-2026-02-15-008", "wrong")
    assert stored(memory) == before


# references


def test_what_refers_to_an_entry_is_told_wherever_both_stand(memory: Memory) -> None:
    memory.entries.capture(TEXT, "hawk", date="2026-02-03", decay="linear-3d")
    memory.entries.capture("As in [[hawk/obs-2026-02-03-001]].", "raven")
    memory.entries.capture("So it is.", "raven", references=["supports HAWK/obs-2026-02-03-001.md"])
    memory.entries.capture("Not about obs-2026-02-03-001, only naming it.", "raven")
    memory.entries.age(apply=True)
    assert memory.entries.read_entry("hawk/obs-2026-02-03-001").archived
    assert memory.entries.referred_to_by("hawk/obs-2026-02-03-001") == [
        Reference("related", "raven/obs-2026-02-15-001"),
        Reference("supports", "raven/obs-2026-02-15-002"),
    ]


def test_a_name_that_two_agents_use_leads_to_neither(memory: Memory) -> None:
    memory.entries.capture(TEXT, "hawk")
    memory.entries.capture("Soup for lunch.", "raven")
    memory.entries.capture("As in [[obs-2026-02-15-001]].", "fox", date="2026-02-14")
    assert not memory.entries.referred_to_by("hawk/obs-2026-02-15-001")


# verifying


def test_another_agent_verifies_an_entry_which_is_then_shared_and_undo_takes_that_back(memory: Memory) -> None:
    first = memory.entries.capture(TEXT, "hawk", confidence=0.9).id
    before = stored(memory)
    assert not memory.entries.promote(require_verified=True).planned
    done = memory.entries.verify(first, "shield")
    assert (done.entry.verified, done.entry.verified_by, done.entry.text) == (True, ("shield",), TEXT)
    assert memory.history()[0].first.kind == "verify"
    assert memory.entries.verify(first).entry.verified_by == ("shield", "default")
    assert memory.entries.verify(first, "shield").revision is None
    assert [one.name for one in memory.entries.promote(require_verified=True).planned] == [first]
    assert not memory.check()
    memory.undo()
    memory.undo(done.revision)
    assert stored(memory) == before


def test_what_cannot_be_verified_is_refused(memory: Memory) -> None:
    first = memory.entries.capture(TEXT, "hawk").id
    with pytest.raises(NotAllowed, match="Hawk's own"):
        memory.entries.verify(first, "Hawk")
    with pytest.raises(EntryNotFound):
        memory.entries.verify("hawk/obs-2026-02-15-099", "shield")
    for name in ("", " ", "two\nlines"):
        with pytest.raises(InvalidSetting):
            memory.entries.verify(first, name)
    memory.entries.retract(first, "the counter was broken")
    with pytest.raises(NotAllowed, match="closed"):
        memory.entries.verify(first, "shield")
