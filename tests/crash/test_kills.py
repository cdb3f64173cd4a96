"""`kill -9` leaves an operation done or not done: every so many boundaries of `python -m tests.crash.kills --every`."""

from __future__ import annotations

import pytest

from tests.crash.kills import run_by_chance, run_scene
from tests.crash.scenes import SCENES, Scene
from tests.effort import effort

STEP = 19
"""So many boundaries lie between two kills. Each operation begins with another one."""
RECOVERY_STEP = 67
BY_CHANCE = effort(25, 100)
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
