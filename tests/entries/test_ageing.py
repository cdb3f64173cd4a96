"""Ageing is a pure function of what is stored and of now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.entries.decay import FADED, age, has_expired, weight, weight_at
from memory_v2.entries.entry import NONE, Decay, DecayKind, Entry
from memory_v2.entries.upkeep import plan_ageing
from memory_v2.plan import Plan
from tests.entries.made import DAY, at, made, noon, stock

KINDS: tuple[DecayKind, ...] = ("none", "linear", "exponential", "ttl")
DAYS = st.dates(date(1990, 1, 1), date(2100, 1, 1))
ZONES = st.integers(-12 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=ZONES)
POLICIES = st.builds(Decay, st.sampled_from(KINDS), st.floats(0, 10_000))
ENTRIES = st.builds(
    lambda number, observed, decay: made(f"hawk/obs-{number}", observed_at=observed, decay=decay),
    st.integers(0, 10**6),
    st.one_of(DAYS, MOMENTS),
    POLICIES,
)


def aged(entries: Iterable[Entry], plan: Plan) -> list[Entry]:
    """The entries after the plan was carried out."""
    gone = {one.name for one in plan.planned}
    return [replace(entry, archived=True) if entry.id in gone else entry for entry in entries]


@given(st.lists(ENTRIES, max_size=5, unique_by=lambda entry: entry.id), st.lists(MOMENTS, min_size=2, max_size=5))
def test_how_often_it_runs_before_decides_nothing(entries: list[Entry], moments: list[datetime]) -> None:
    *earlier, last = sorted(moments)
    stepwise = entries
    for moment in earlier:
        stepwise = aged(stepwise, plan_ageing(stock(*stepwise), at(moment)))
    stepwise = aged(stepwise, plan_ageing(stock(*stepwise), at(last)))
    assert stepwise == aged(entries, plan_ageing(stock(*entries), at(last)))


@given(ENTRIES, MOMENTS, MOMENTS, ZONES)
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


@given(ENTRIES, MOMENTS, ZONES)
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
