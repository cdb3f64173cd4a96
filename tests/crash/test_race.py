"""Processes that write at once keep what was acknowledged: the scenes of `python -m bench.race`, smaller."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.race import Outcome, one_page, splitting_tree, undo_and_hand_edits

WRITERS, WRITES = 4, 12


@pytest.mark.parametrize("scene", [one_page, splitting_tree])
def test_all_that_was_acknowledged_is_in_the_tree(scene: Callable[[Path, int, int], Outcome], tmp_path: Path) -> None:
    outcome = scene(tmp_path, WRITERS, WRITES)
    assert outcome.problems == []
    assert outcome.in_tree == outcome.acknowledged == WRITERS * WRITES


def test_what_is_not_in_the_tree_was_undone_or_overwritten_by_hand_and_is_in_the_history(tmp_path: Path) -> None:
    outcome = undo_and_hand_edits(tmp_path, WRITERS, WRITES)
    assert outcome.problems == []
    assert outcome.in_tree + outcome.in_history == outcome.acknowledged == WRITERS * WRITES
    assert outcome.undone
    assert outcome.by_hand
