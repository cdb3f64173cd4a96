"""Forgetting that is killed is finished by itself or can be run again: every so many boundaries of `forgetting`."""

from __future__ import annotations

from tests.crash.alone import run_alone

STEP = 43


def test_what_is_killed_while_it_forgets_forgets_in_the_end() -> None:
    told = run_alone("tests.crash.forgetting", "--first=5", f"--step={STEP}")
    assert told["problems"] == []
    assert told["kills"] >= told["boundaries"] // STEP > told["finished"] > 0
