"""Operations, captures and long jobs that are killed: the scenes of the programs beside, smaller."""

from __future__ import annotations

import pytest

from tests.crash.alone import run_alone
from tests.crash.kills import run_by_chance, run_scene
from tests.crash.resumed import run_killed
from tests.crash.scenes import SCENES, Scene
from tests.effort import effort

STEP = effort(29, 19)
"""So many boundaries lie between two kills. Each operation begins with another one."""
RECOVERY_STEP = 41
BY_CHANCE = effort(12, 100)
NOTHING_TO_RECOVER = ("packing the history",)
"""What changes no page has nothing in its middle that the next use would finish."""


@pytest.mark.parametrize(("number", "scene"), list(enumerate(SCENES)), ids=map(str, SCENES))
def test_what_is_killed_is_done_or_not_done_when_the_memory_is_used_again(number: int, scene: Scene) -> None:
    tally = run_scene(scene, 1 + number % STEP, STEP, RECOVERY_STEP)
    assert not tally.problems, "\n".join(tally.problems)
    assert tally.kills >= (tally.boundaries - number % STEP) // STEP > 0
    assert tally.of_recovery > 0 or scene.name in NOTHING_TO_RECOVER


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_any_instant_it_shows_what_a_memory_shows_that_nobody_killed(seed: int) -> None:
    tally = run_by_chance(BY_CHANCE, seed)
    assert not tally.problems, "\n".join(tally.problems)
    assert tally.kills == BY_CHANCE
    assert tally.operations > BY_CHANCE / 2
    assert tally.outcomes["done"] > 0


@pytest.mark.parametrize("name", ["forgetting", "importing"])
def test_what_is_killed_and_run_again_gives_the_pages_of_a_run_that_nobody_killed(name: str) -> None:
    assert run_killed(name, effort(4, 60)) == []


KILLS = effort(15, 200)
PROCESSES, CAPTURES = effort(4, 8), effort(12, 250)


def test_a_capture_that_is_killed_leaves_a_whole_entry_or_none() -> None:
    tally = run_alone("tests.crash.capturing", "--kills", str(KILLS))
    assert tally["problems"] == []
    assert tally["kills"] == KILLS
    assert tally["acknowledged"] > 0


def test_each_of_many_captures_at_once_is_kept_under_a_number_of_its_own() -> None:
    tally = run_alone("tests.crash.capturing", "--race", str(PROCESSES), str(CAPTURES))
    assert tally["problems"] == []
    assert tally["acknowledged"] == PROCESSES * CAPTURES
