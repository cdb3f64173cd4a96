"""Routing, ageing and promoting are plans first, then one operation of the history each, which undo takes back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_v2 import Memory
from memory_v2.entries.entry import Reference
from memory_v2.entries.references import Targets
from memory_v2.errors import InvalidSetting
from memory_v2.storage.local.storage import LocalStorage
from tests.entries.made import files

START = datetime(2026, 2, 15, 12, tzinfo=UTC)
VAULT = "entries/agents/default/memory/vault/2026-02"


class Clock:
    """A clock that stands until it is moved."""

    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Memory(LocalStorage(tmp_path), now=clock) as memory:
        yield memory


def test_the_inbox_is_routed_in_one_operation_that_undo_takes_back(memory: Memory, tmp_path: Path) -> None:
    lesson = memory.entries.capture("Lesson: test the restore.", tags=["backup"]).id
    soup = memory.entries.capture("Soup for lunch.").id
    memory.entries.pick_up()
    before = files(tmp_path)
    plan = memory.entries.route()
    assert [(one.name, one.target) for one in plan.planned] == [(lesson, "insights")]
    assert [one.name for one in plan.skipped] == [soup]
    assert plan.revision is None
    assert files(tmp_path) == before
    done = memory.entries.route(apply=True)
    assert done == plan
    assert [entry.home for entry in memory.entries.list_entries()] == ["insights", None]
    assert memory.history()[0].revisions[-1].id[:12] == done.revision
    assert memory.entries.route(apply=True).revision is None
    memory.undo()
    assert files(tmp_path) == before


def test_a_page_that_an_entry_names_becomes_its_home(memory: Memory) -> None:
    memory.write("Silica is tested with pytest.", "projects/silica")
    memory.entries.capture("Decision: coverage is 90%, see [[projects/silica]].")
    assert memory.entries.route(apply=True).planned[0].target == "projects/silica"
    assert memory.entries.route_text("[[projects/silica]]").home == "projects/silica"


def test_what_has_expired_goes_to_the_archive_in_one_operation_that_undo_takes_back(
    memory: Memory, clock: Clock, tmp_path: Path
) -> None:
    old = memory.entries.capture("CTR fell.", decay="linear-14d").id
    other = memory.entries.capture("See the CTR.", references=[old]).id
    memory.entries.pick_up()
    before = files(tmp_path)
    assert not memory.entries.age(apply=True).planned
    clock.now = START + timedelta(days=14)
    plan = memory.entries.age()
    assert [one.name for one in plan.planned] == [old]
    assert files(tmp_path) == before
    done = memory.entries.age(apply=True)
    assert done == plan
    assert [entry.id for entry in memory.entries.list_entries()] == [other]
    after = files(tmp_path)
    assert sorted(after.values()) == sorted(before.values())
    assert memory.entries.age(apply=True).revision is None
    assert files(tmp_path) == after
    everything = memory.entries.list_entries(archived=True)
    assert Targets(everything).lead(old, other).targets == (old,)  # references go on leading there
    memory.undo()
    assert files(tmp_path) == before


def test_nothing_in_the_archive_is_overwritten(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    memory.entries.capture("CTR fell.", decay="linear-14d")
    in_the_way = tmp_path / VAULT.replace("vault", "archive") / "obs-2026-02-15-001.md"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("---\ncreated: 2026-02-15\n---\nAn older one.\n")
    clock.now = START + timedelta(days=20)
    assert not memory.entries.age(apply=True).planned
    assert in_the_way.read_text().endswith("An older one.\n")


def test_what_is_sure_is_shared_in_one_operation_and_the_plan_is_what_is_stored(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / f"{VAULT}/obs-2026-02-15-001.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nconfidence: 0.9\nmood: sunny\nbacklinks: [a]\n---\nBuyers pay net 30.\n")
    before = files(tmp_path)
    (promotion,) = memory.entries.promote().planned
    assert files(tmp_path) == before
    done = memory.entries.promote(apply=True)
    shared = memory.entries.read_entry(promotion.target)
    assert shared == promotion.facts["copy"] == done.planned[0].facts["copy"]
    assert shared.references == (Reference("related", "a"),)
    assert b"mood: sunny" in files(tmp_path)[f"entries/shared/observations/{promotion.facts['copy'].name}.md"]
    original = memory.entries.read_entry(promotion.name)
    assert original.promoted_to == (promotion.target,)
    again = memory.entries.promote(apply=True)
    assert (again.revision, again.planned, again.warnings) == (None, (), ())
    file.write_text(file.read_text().replace("0.9", "0.6"))
    assert [one.kind for one in memory.entries.promote().warnings] == ["outdated-copy"]
    file.write_text(file.read_text().replace("0.6", "0.9"))
    memory.history()
    memory.undo(done.revision)
    assert files(tmp_path) == before


def test_an_entry_whose_header_is_broken_is_left_alone(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / f"{VAULT}/obs-2026-02-15-001.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ntags: [a\nconfidence: 1\n---\nLesson: one.\n")
    written = file.read_bytes()
    assert memory.entries.route(apply=True).revision is None
    assert memory.entries.promote(apply=True, threshold=0).revision is None
    assert file.read_bytes() == written


def test_domains_are_stored_once_somebody_edits_them_and_kept_in_the_history(memory: Memory, tmp_path: Path) -> None:
    assert len(memory.entries.domains().domains) == 5
    assert not (tmp_path / "entries").exists()
    memory.entries.set_domains('importance_bonus = 2\n[garden]\nkeywords = ["leek"]\n')
    memory.entries.capture("Leeks are planted in March.", importance=0.5)
    memory.entries.route(apply=True)
    assert memory.entries.route_text("Soup.").home == "garden"
    assert [home.entries for home in memory.entries.status().homes] == [1]
    assert not [one for one in memory.checkup().findings if one.path.startswith("entries/domains")]
    with pytest.raises(InvalidSetting, match="'garden' is not a table"):
        memory.entries.set_domains("garden = 1")
    page = tmp_path / "entries/domains.md"
    page.write_text(page.read_text().replace('"leek"', "leek"))
    with pytest.raises(InvalidSetting, match=r"entries/domains\.md.*line 8"):
        memory.entries.route()


def test_a_memory_without_entries_has_nothing_to_do(memory: Memory, tmp_path: Path) -> None:
    entries = memory.entries
    for planned in (entries.route, entries.age, entries.promote, entries.dedupe, entries.pack):
        assert planned(apply=True).revision is None
    assert entries.status().entries == 0
    assert not any(tmp_path.rglob("*"))
    assert entries.consolidate(apply=True).revision is None
    assert memory.storage.list_files() == []


def test_a_change_by_others_in_between_makes_the_plan_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.entries.capture("Lesson: test the restore.")
    file = tmp_path / f"{VAULT}/obs-2026-02-15-001.md"
    commit = type(memory.entries.store).commit
    texts: list[str] = []

    def changed_before(store, kind, summary, changes):  # type: ignore[no-untyped-def]
        if not texts:
            texts.append(file.read_text())
            file.write_text(texts[0].replace("---\nLesson", "home: people\n---\nLesson"))
        return commit(store, kind, summary, changes)

    monkeypatch.setattr(type(memory.entries.store), "commit", changed_before)
    assert memory.entries.route(apply=True).revision is None
    assert memory.entries.read_entry("obs-2026-02-15-001").home == "people"


def test_a_check_tells_what_does_not_fit_together(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    memory.write("Silica is tested with pytest.", "projects/silica")
    fine = ["technical", "projects/silica", "obs-2026-02-15-001"]
    memory.entries.capture("One.", references=fine, home="projects/silica")
    memory.entries.capture("Two, see shard gardening.", home="gardening", date="2026-03-01")
    told = {(one.kind, one.path.rpartition("/")[2]) for one in memory.checkup().findings}
    assert told == {
        ("itself-reference", "obs-2026-02-15-001"),
        ("nowhere-reference", "obs-2026-03-01-001"),
        ("unknown-home", "obs-2026-03-01-001"),
        ("future-entry", "obs-2026-03-01-001"),
    }
    memory.storage.write("entries/domains", b"# Domains\n\n```toml\n[garden\n```\n")
    found = {one.kind: one.message for one in memory.check()}  # whether it names a domain is unknown
    assert set(found) == {"bad-domains", "future-entry", "itself-reference"}
    assert "line 4" in found["bad-domains"]
