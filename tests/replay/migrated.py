"""The notes of somebody who worked with Silica's first version: small, in folders, and alike in places. Those
that refer to each other become pages; a model works in the others, one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_v2.memory import Memory
from memory_v2.migrate.formats import scan_paths
from memory_v2.migrate.ledger import imported_from, status_of
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.run import run
from memory_v2.migrate.verify import Verification, verify
from memory_v2.plan import Plan
from tests.migrate.v1 import write_note
from tests.replay.scenario import BOTH, Scenario, Stage, data

SAID_TWICE = "Tests of coroutines run under anyio: mark them with `@pytest.mark.anyio`."
OLD = data("v1")
"""The notes by path, and what has to be in the memory afterwards, however it is told."""
CONNECTED = ("projects/silica/architecture", "projects/silica/features")
"""The notes of which one refers to the other: they keep pages of their own."""


@dataclass(frozen=True)
class Migrated:
    """The plan, and what came of it: of each document, of each block, and what is wrong with the tree."""

    plan: Plan
    done: Plan
    verification: Verification
    error: str
    faults: Sequence[str]


def migrate(memory: Memory) -> Migrated:
    """Brings the notes into a memory, as `silica memory migrate` does."""
    with tempfile.TemporaryDirectory() as folder:
        for path, note in OLD["notes"].items():
            write_note(Path(folder), path, note["text"], {"summary": note["summary"]}, note["day"])
        [(source, scan)] = scan_paths([Path(folder)])
        plan = make_plan(memory, scan, source)
        done = run(memory, scan, plan)
        return Migrated(
            plan=plan,
            done=done.plan,
            verification=verify(memory, scan, imported_from(memory.storage, source), done.plan),
            error=str(done.error or ""),
            faults=[str(finding) for finding in memory.check()],
        )


def act(stage: Stage) -> Migrated:
    return migrate(stage.memory)


def judge(stage: Stage, migrated: Migrated) -> None:
    assert (migrated.error, migrated.done.degraded, migrated.faults) == ("", "", [])
    pages = stage.tree()
    made = {f"{path}.md": "created" if path in CONNECTED else "merged" for path in OLD["notes"]}
    assert {step.name: status_of(step) for step in migrated.done.steps} == made
    assert all(step.target in pages and step.facts["operation"] for step in migrated.done.steps)
    assert migrated.verification.is_complete
    assert migrated.verification.documents == len(OLD["notes"])
    everything = "\n".join(pages.values())
    assert [fact for fact in OLD["facts"] if fact not in everything] == []
    assert everything.count(SAID_TWICE) == 1, "what two notes say is not told once"
    assert max(len(page.encode()) for page in pages.values()) <= stage.memory.threshold
    for question, answer in OLD["questions"].items():
        assert any(answer in found.excerpt for found in stage.offline.search(question)[:3]), question


SCENARIO = Scenario("migrate-v1", "an older memory of small notes is worked in", act, judge, BOTH)
