"""Routing, ageing and promoting as one operation each; how old an entry is; what a summary counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2 import Memory
from memory_v2.entries.daryl import summarize
from memory_v2.entries.decay import FADED, age, has_expired, weight, weight_at
from memory_v2.entries.domains import default_domains
from memory_v2.entries.entry import NONE, Decay, DecayKind, Entry, Reference
from memory_v2.entries.references import Targets
from memory_v2.entries.upkeep import plan_ageing
from memory_v2.errors import InvalidSetting
from memory_v2.plan import Plan
from memory_v2.storage.local.storage import LocalStorage
from tests.entries.made import DAY, at, files, made, noon, stock

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


NOW = datetime(2026, 2, 6, 3, tzinfo=UTC)
ENTRIES = [
    made("hawk/a", home="technical", importance=0.2, observed_at=datetime(2026, 2, 16, 9, tzinfo=UTC)),
    made("hawk/b", home="technical", importance=0.8),
    made("hawk/c", home="technical"),
    made("hawk/d", home="technical", importance=0.0, archived=True),
    made("hawk/e", importance=0.9),
    made("hawk/f", home="projects/silica"),
]


def test_every_entry_is_counted_once() -> None:
    summary = summarize(ENTRIES, default_domains().domains, NOW)
    assert [(one.home, one.entries) for one in summary.homes] == [
        ("projects", 0),
        ("insights", 0),
        ("people", 0),
        ("technical", 3),
        ("strategy", 0),
    ]
    technical = summary.homes[3]
    assert (technical.importance, technical.last_updated) == (0.5, "2026-02-16T09:00:00Z")
    assert [(one.home, one.entries) for one in summary.others] == [("inbox", 1), ("projects/silica", 1)]
    assert (summary.entries, summary.archived) == (5, 1)


def test_the_summary_has_the_schema_of_the_specification() -> None:
    written = summarize(ENTRIES, default_domains().domains, NOW).to_dict()
    keys = ["exported_at", "total_shards", "total_transactions", "domains_count", "shards_status"]
    assert list(written)[:5] == keys
    assert [written[key] for key in keys[:4]] == ["2026-02-06T03:00:00Z", 5, 3, 5]
    assert written["shards_status"][3] == {
        "shard_id": "shard_technical",
        "domain": "technical",
        "name": "Technical",
        "transactions_count": 3,
        "importance_score": 0.5,
        "last_updated": "2026-02-16T09:00:00Z",
    }
    assert written["other_homes"] == {"inbox": 1, "projects/silica": 1}


def test_a_memory_without_entries_has_a_summary() -> None:
    assert summarize([], default_domains().domains, NOW).entries == 0


def test_a_moment_at_the_end_of_time_is_told_as_it_is_written() -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))
    summary = summarize([made("hawk/a", observed_at=last)], default_domains().domains, NOW)
    assert summary.others[0].last_updated == "9999-12-31T23:00:00-12:00"


KINDS: tuple[DecayKind, ...] = ("none", "linear", "exponential", "ttl")
DAYS = st.dates(date(1990, 1, 1), date(2100, 1, 1))
ZONES = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=ZONES)
POLICIES = st.builds(Decay, st.sampled_from(KINDS), st.floats(0, 10_000))
AGED = st.builds(
    lambda number, observed, decay: made(f"hawk/obs-{number}", observed_at=observed, decay=decay),
    st.integers(0, 10**6),
    st.one_of(DAYS, MOMENTS),
    POLICIES,
)


def aged(entries: Iterable[Entry], plan: Plan) -> list[Entry]:
    """The entries after the plan was carried out."""
    gone = {one.name for one in plan.planned}
    return [replace(entry, archived=True) if entry.id in gone else entry for entry in entries]


@given(st.lists(AGED, max_size=5, unique_by=lambda entry: entry.id), st.lists(MOMENTS, min_size=2, max_size=5))
def test_how_often_it_runs_before_decides_nothing(entries: list[Entry], moments: list[datetime]) -> None:
    *earlier, last = sorted(moments)
    stepwise = entries
    for moment in earlier:
        stepwise = aged(stepwise, plan_ageing(stock(*stepwise), at(moment)))
    stepwise = aged(stepwise, plan_ageing(stock(*stepwise), at(last)))
    assert stepwise == aged(entries, plan_ageing(stock(*entries), at(last)))


@given(AGED, MOMENTS, MOMENTS, ZONES)
def test_weight_never_grows_and_what_has_expired_stays_so(
    entry: Entry, one: datetime, other: datetime, zone: timezone
) -> None:
    before, after = at(min(one, other), zone), at(max(one, other), zone)
    assert 0 <= weight(entry, after) <= weight(entry, before) <= 1
    assert has_expired(entry.decay, age(entry, after)) >= has_expired(entry.decay, age(entry, before))


@given(POLICIES, st.floats(-10_000, 10_000))
def test_what_has_expired_counts_next_to_nothing(decay: Decay, days: float) -> None:
    if has_expired(decay, days):
        assert weight_at(decay, days) < FADED
        assert days > 0


@given(AGED, MOMENTS, ZONES)
def test_the_future_counts_in_full_is_told_and_never_archived(entry: Entry, now: datetime, zone: timezone) -> None:
    calendar = at(now, zone)
    plan = plan_ageing(stock(entry), calendar)
    if age(entry, calendar) < 0:
        assert weight(entry, calendar) == 1
        assert not plan.planned
        assert [one.path for one in plan.warnings] == [entry.id]
    else:
        assert not plan.warnings


@given(MOMENTS, MOMENTS, POLICIES, ZONES, ZONES)
def test_a_moment_is_as_old_in_every_zone(
    observed: datetime, now: datetime, decay: Decay, zone: timezone, other: timezone
) -> None:
    entry = made(observed_at=observed, decay=decay)
    assert weight(entry, at(now, zone)) == weight(entry, at(now.astimezone(other), other))


@given(DAYS, MOMENTS, ZONES)
def test_a_day_is_a_whole_number_of_days_old_by_the_calendar_of_its_reader(
    day: date, now: datetime, zone: timezone
) -> None:
    assert age(made(observed_at=day), at(now, zone)) == (now.astimezone(zone).date() - day).days


def test_a_day_grows_older_at_midnight_of_the_zone_and_not_in_between() -> None:
    entry = made(decay=Decay("linear", 2))
    auckland, lima = timezone(timedelta(hours=13)), timezone(timedelta(hours=-5))
    last_minute = datetime(2026, 2, 16, 23, 59, tzinfo=auckland)
    assert weight(entry, at(last_minute, auckland)) == 0.5
    assert weight(entry, at(last_minute + timedelta(minutes=1), auckland)) == 0
    assert weight(entry, at(last_minute, lima)) == 0.5  # the morning of the 16th there
    assert weight(entry, at(last_minute + timedelta(hours=18, minutes=1), lima)) == 0


def test_a_moment_has_no_midnight() -> None:
    entry = made(observed_at=datetime(2026, 2, 15, 18, tzinfo=UTC), decay=Decay("ttl", 0.5))
    assert weight(entry, at(datetime(2026, 2, 16, 5, 59, tzinfo=UTC))) == 1
    assert weight(entry, at(datetime(2026, 2, 16, 6, tzinfo=UTC))) == 0


@pytest.mark.parametrize(
    ("decay", "past", "left"),
    [
        *((Decay("linear", days), days // 2, 0.5) for days in (14, 30, 90, 180)),  # Ocean's guidelines
        *((Decay("linear", days), days, 0.0) for days in (14, 30, 90, 180)),
        *((Decay("linear", days), days - 1, 1 / days) for days in (14, 180)),
        *((Decay("exponential", 30), *one) for one in ((0, 1.0), (30, 0.5), (60, 0.25), (129, 0.0508), (130, 0.0496))),
        (NONE, 350_000, 1.0),
    ],
)
def test_a_policy_has_these_outcomes(decay: Decay, past: int, left: float) -> None:
    entry, calendar = made(decay=decay), noon(DAY + timedelta(days=past))
    assert weight(entry, calendar) == pytest.approx(left, abs=1e-4)
    planned = plan_ageing(stock(entry), calendar).planned
    assert bool(planned) == (left < 0.05 and decay != NONE and not (decay.kind == "linear" and left))
    for expired in planned:
        assert (expired.name, expired.facts["age"]) == (entry.id, past)
        assert expired.reason == f"{decay} since 2026-02-15: weight {left:.2f}"


@pytest.mark.parametrize("days", [0, -3, float("inf"), float("nan")])
@pytest.mark.parametrize("kind", KINDS)
def test_a_policy_over_no_days_expires_nothing(kind: DecayKind, days: float) -> None:
    assert weight_at(Decay(kind, days), 10_000) == 1
