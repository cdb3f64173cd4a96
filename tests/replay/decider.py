"""Who decides well about the week and the inbox: to try out the scenes and their judges without a live model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.replay.inbox import NOTES

Calls = Sequence[tuple[str, Mapping[str, Any]]]

PEOPLE: Calls = (("place", {"page": "people", "blocks": "n1-n9"}),)
TECHNICAL: Calls = (
    ("place", {"page": "infrastructure/ci", "blocks": "n1, n6"}),
    ("place", {"page": "technical", "blocks": "n3-n5, n7, n9-n10"}),
    (
        "insert",
        {
            "page": "technical",
            "after": 1,
            "text": "- db-1 runs Postgres 17.0 since 2026-05-01 (before: Postgres 16.2); pg_upgrade took 11 minutes. "
            "Backups go to the bucket tide-backups every night at 01:00.",
        },
    ),
)
TIDELINE: Calls = (
    (
        "replace",
        {
            "page": "projects/tideline",
            "blocks": "4",
            "text": "- Tideline deploys on Thursdays since 2026-04-29 (before: on Tuesdays since 2026-03-10), because "
            "the harbour offices are closed on Tuesdays.",
            "reason": "the day has changed",
        },
    ),
    (
        "insert",
        {
            "page": "projects/tideline",
            "after": 5,
            "text": "- Tideline 2.3 ships on 2026-05-19 (before: 2026-05-12): it moves, because the review by the app "
            "store takes a week longer. Until then only fixes are merged.",
        },
    ),
    ("place", {"page": "projects/tideline", "blocks": "n2, n4, n11", "after": 5}),
    ("place", {"page": "projects/tideline", "blocks": "n3, n7, n9, n10"}),
    ("same_as", {"blocks": "n6", "said_in": "n3"}),
)
BY_GOAL: Mapping[str, Calls] = {
    "`people`": PEOPLE,
    "`technical`": TECHNICAL,
    "projects/tideline, and no other": TIDELINE,
}
"""The calls by what the end of the task says."""


def calls_for(task: str) -> Calls:
    """The decision about a task, as it is shown."""
    goal = task.rpartition("===== END OF DATA")[2]
    if goal.strip().startswith("Route or leave"):
        return _sorted(task)
    return next(calls for said, calls in BY_GOAL.items() if said in goal)


def _sorted(task: str) -> Calls:
    homes: dict[str, list[str]] = {}
    for number, text in re.findall(r"^\[(e\d+)\].*\n    │ (.*)$", task, re.M):
        homes.setdefault(NOTES[text][0], []).append(number)
    left = homes.pop("inbox", [])
    routed = [("route", {"notes": ", ".join(numbers), "domain": home}) for home, numbers in homes.items()]
    return [*routed, ("leave", {"notes": ", ".join(left), "why": "it says nothing to look for"})]
