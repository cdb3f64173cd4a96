"""A week of a small team, as its agents noted it in passing, and what has to become of it: pages that last."""

from __future__ import annotations

import re

from memory_v2.plan import Plan
from tests.replay.scenario import BOTH, Scenario, Stage, data

PROJECT = "projects/tideline"
WEEK = data("week")
"""The pages, the entries, and what has to be in the memory afterwards, however it is told."""


def capture(stage: Stage) -> None:
    """The pages as they are, and the week."""
    listed = {path: page["about"] for path, page in WEEK["pages"].items()}
    stage.page("memory", "Memory", "What the Tideline team knows.", listed)
    for path, page in WEEK["pages"].items():
        stage.page(path, page["title"], page["text"])
    for day, agent, home, text in WEEK["entries"]:
        stage.memory.entries.capture(text, agent, home=home, date=day)


def act(stage: Stage) -> Plan:
    capture(stage)
    shown = stage.memory.entries.consolidate()
    done = stage.memory.entries.consolidate(apply=True)
    assert done == shown, "what was shown is carried out"
    return shown


def judge(stage: Stage, shown: Plan) -> None:
    assert shown.decided_by not in ("offline", "program")
    assert shown.degraded == ""
    assert [finding for finding in stage.offline.check() if finding.severity == "error"] == []
    pages = stage.bodies()
    everything = "\n".join(pages.values())
    entries = stage.offline.entries.list_entries()
    assert len(shown.of("work in")) == len(entries) == len(WEEK["entries"])
    assert all(entry.consolidated_into and set(entry.consolidated_into) <= pages.keys() for entry in entries)
    assert [fact for fact in WEEK["facts"] if not re.search(fact, everything, re.I)] == []
    for now, before in WEEK["changed"]:
        lines = [line for line in everything.splitlines() if now in line and before in line]
        assert any(line.index(now) < line.index(before) for line in lines), f"{now} (before: {before})"
    assert everything.count("50,000") == 1, "what two entries say is told once"
    assert all(f"entries/{entry.id}" in everything for entry in entries if _is_written(shown, entry.id))
    of_people = [path for path, body in pages.items() if "Heike Janssen" in body or "0421-555-0142" in body]
    assert all(path.startswith("people") for path in of_people), of_people
    assert all("Postgres" not in pages[path] for path in of_people)
    assert "Build 4" in pages[PROJECT] or any(path.startswith(PROJECT) for path in pages if "Build 4" in pages[path])
    assert len(pages) <= len(WEEK["pages"]) + 6, "a page for each subject, and not for each line"
    assert max(len(stage.text(path).encode()) for path in pages) <= stage.memory.threshold
    for question, answer in WEEK["questions"].items():
        assert any(answer in found.excerpt for found in stage.offline.search(question)[:3]), question
    assert stage.offline.entries.consolidate().of("work in") == (), "a second run does nothing"


def _is_written(plan: Plan, entry_id: str) -> bool:
    return next(step.reason for step in plan.of("work in") if step.name == entry_id) != "said already"


SCENARIO = Scenario("consolidate-week", "thirty entries of a week are worked into pages", act, judge, BOTH)
