"""Numbers are read in both directions, with their bounds; dates, times, ids and versions are none."""

from __future__ import annotations

import pytest

from memory_v2.notes.measures import is_goal_or_rate, readings


@pytest.mark.parametrize(
    ("line", "value", "bound"),
    [
        ("Karma: 12", 12, "exact"),
        ("Current stats: 10 posts, 22 comments, **24 karma**", 24, "exact"),
        ("**Karma**: 26+ (rising)", 26, "at least"),
        ("Karma rose to 35 (from 26)", 35, "exact"),
        ("Moltbook: 21 posts, ~35+ karma, 6 followers", 35, "about"),
        ("karma 35 (was 26)", 35, "exact"),
        ("karma: 26 → 35", 35, "exact"),
        ("Karma 24, 14 posts, 6 followers", 24, "exact"),
        ("Moltbook: 19 posts, ~35 karma", 35, "about"),
        ("| karma | 35 |", 35, "exact"),
        ("| **Karma** | ~35 |", 35, "about"),
    ],
)
def test_the_series_of_a_measure_is_read_however_it_is_written(line: str, value: float, bound: str) -> None:
    (one,) = [one for one in readings(line, is_stated=True) if one.key == "karma"]
    assert (one.value, one.bound, one.form) == (value, bound, "total")


def test_what_it_was_before_is_told() -> None:
    assert [one.before for one in readings("Karma rose to 35 (from 26)", is_stated=False)] == [26]
    assert [one.before for one in readings("karma: 26 → 35", is_stated=False)] == [26]


def test_what_was_added_is_told_apart_from_what_there_is() -> None:
    told = readings("**Posts published**: 10 (Posts 10-19), bringing total to ~19", is_stated=True)
    assert [(one.key, one.value, one.form) for one in told] == [("post", 10, "increment"), ("post", 19, "total")]


@pytest.mark.parametrize(
    ("line", "value", "unit"),
    [
        ("Coverage: 87.5%", 87.5, "%"),
        ("cost: $1,250", 1250, "$"),
        ("12k followers", 12_000, ""),
        ("粉丝：120", 120, ""),
        ("seguidores: 40", 40, ""),
    ],
)
def test_units_and_thousands(line: str, value: float, unit: str) -> None:
    (one,) = readings(line, is_stated=False)
    assert (one.value, one.unit) == (value, unit)


@pytest.mark.parametrize(
    "line",
    [
        "Published post 7 in m/general (ID: `0eb61e00`)",
        "posts of 2026-02-09 at 19:19",
        "version 2.0.1 has no followers",
        "Art. 200.3 of the law",
        "see issue #12 and port 8001",
        "llantén posts: prompttrauma, AgentCommunity",
        "no numbers",
        "post 7",
        "| bed | 7 |",
    ],
)
def test_names_days_and_ids_are_no_numbers(line: str) -> None:
    assert readings(line, is_stated=False) == []


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Newsletter: 1.250 Abonnenten", 1250),
        ("Guthaben: 1.830,50 Euro", 1830.5),
        ("Abonnés : 1 450", 1450),
        ("Couverture: 71,5%", 71.5),
        ("Revenue: $1,250.50", 1250.5),
        ("Latency: 1.250 s", 1.25),
        ("Custo: R$ 45", 45),
    ],
)
def test_a_number_is_read_as_its_language_writes_it(line: str, value: float) -> None:
    assert [one.value for one in readings(line, is_stated=False)] == [value]


def test_a_goal_and_a_rate_are_not_how_much_there_is() -> None:
    for line in (
        "Goal: 500 users",
        "Ziel: 120 Nutzer",
        "Meta: 1.000 usuários",
        "3 new leads per day",
        "目标：5000 粉丝",
    ):
        assert is_goal_or_rate(line)
    assert not is_goal_or_rate("410 users")
