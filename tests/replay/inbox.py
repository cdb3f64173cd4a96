"""An inbox of notes in which no rule sees a sign, in six languages, and where each belongs by reading."""

from __future__ import annotations

from collections.abc import Mapping

from memory_v2.plan import Plan
from tests.replay.scenario import BOTH, Scenario, Stage, data

NOTES: Mapping[str, tuple[str, ...]] = data("inbox")
"""Each note with the homes that a reader accepts, the best first."""
RIGHT = 18
"""How many of them have to be right at least."""


def act(stage: Stage) -> Plan:
    for text in NOTES:
        stage.memory.entries.capture(text, date="2026-05-04")
    shown = stage.memory.entries.route()
    done = stage.memory.entries.route(apply=True)
    assert done == shown, "what was shown is carried out"
    return shown


def judge(stage: Stage, shown: Plan) -> None:
    assert shown.decided_by not in ("offline", "program")
    assert shown.degraded == ""
    homes = {entry.text.strip(): entry.home or "inbox" for entry in stage.offline.entries.list_entries()}
    wrong = {text: homes[text] for text, accepted in NOTES.items() if homes[text] not in accepted}
    assert len(NOTES) - len(wrong) >= RIGHT, wrong
    assert list(homes.values()).count("inbox") <= 5, "a note that gives orders is not obeyed"


SCENARIO = Scenario("route-inbox", "notes in which no rule sees a sign are sorted", act, judge, BOTH)
