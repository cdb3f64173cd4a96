"""The scenario that was played live comes out as it was recorded, and reaches its goals: a changed prompt, tool or
ranking fails here. To record it again: `python -m bench.scenario --model <model> --record FOLDER`."""

from __future__ import annotations

from pathlib import Path

from bench.scenario.judge import Watch, answered, standings
from bench.scenario.key import Question, Text
from bench.scenario.play import RECORDED, TEXTS, THRESHOLD, play
from memory_v2.operations.results import SearchResults
from memory_v2.trace.recorded import RecordedModel


def test_what_was_decided_live_is_decided_again_and_is_right(tmp_path: Path) -> None:
    watch, model, steps = Watch(TEXTS), RecordedModel.load(RECORDED), []
    for step in play(tmp_path, model, THRESHOLD, None):
        assert step.is_decided, f"{step.asked}: record it again"
        steps.append(step)
        if isinstance(step.asked, Text):
            watch.see(step)
    assert not model.left
    assert not watch.lost
    assert not watch.stale
    verdicts = [one.verdict for one in standings(TEXTS, steps[-1].pages, watch.retold)]
    assert verdicts.count("right") >= 0.9 * len(verdicts)
    assert "wrong" not in verdicts
    asked = [(step.asked, step.result) for step in steps]
    judged = [
        answered(one, found) for one, found in asked if isinstance(one, Question) and isinstance(found, SearchResults)
    ]
    assert all(one.is_answered for one in judged)
    assert all(one.is_newest_first for one in judged if one.question.old)
