"""Captures that are killed or race: the scenes of `python -m tests.crash.capturing`, smaller."""

from __future__ import annotations

from tests.crash.alone import run_alone
from tests.effort import effort

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
