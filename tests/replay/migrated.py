"""The notes of somebody who worked with Silica's first version: small, in folders, and alike in places. Those
that refer to each other become pages; a model works in the others, one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
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
from tests.replay.scenario import BOTH, Scenario
from tests.replay.stage import Stage

SAID_TWICE = "Tests of coroutines run under anyio: mark them with `@pytest.mark.anyio`."
NOTES: Mapping[str, tuple[str, str, str]] = {
    "projects/silica/architecture": (
        "2025-09-18",
        "How Silica stores what it remembers.",
        "# Architecture\n\n"
        "Silica keeps the memory of an agent as plain Markdown files in one folder, with no database.\n\n"
        "- Python 3.11; all access to files goes through one storage interface, so that S3 can follow.\n"
        "- Beside each file is a JSON sidecar with a summary, so that a search can leave files out.\n"
        "- A page is read and written whole. Two writers at once: the last one wins, to be mended.\n",
    ),
    "projects/silica/features": (
        "2025-09-25",
        "What Silica can do, and what is planned.",
        "# Features\n\n"
        "- Read, write and search from the command line and over MCP\n"
        "- Plain Markdown files in one folder: no database to look after\n"
        "- Personas: each agent has a memory of its own\n"
        "- Planned for 2026: files above 50 KB are divided\n\n"
        "How it is built: see\n"
        "@projects/silica/architecture\n",
    ),
    "projects/personal_website": (
        "2025-10-02",
        "The website, its host and its domain.",
        "# Personal website\n\n"
        "Built with Astro 4, hosted on Netlify; each push to `main` is deployed.\n"
        "The domain janinaroth.example runs out on 2026-09-14; Netlify does not renew it.\n\n"
        "To do: bring over the eleven posts from the old blog.\n",
    ),
    "knowledge/python/async": (
        "2025-10-08",
        "How to write asyncio code.",
        "# Async\n\n"
        "- `asyncio.TaskGroup` in place of `gather`: if one task fails, the others are cancelled.\n"
        "- Blocking calls go through `asyncio.to_thread`, or the loop stands still.\n"
        "- `asyncio.timeout(5)` limits a block; `wait_for` only a single call.\n\n"
        f"{SAID_TWICE}\n",
    ),
    "knowledge/python/testing": (
        "2025-10-09",
        "How to test Python.",
        "# Testing\n\n"
        "pytest and never unittest. `pytest -k name -x` runs what is being worked on.\n\n"
        "- `tmp_path` for files, `monkeypatch` for the environment; no mocks of our own code.\n"
        "- Coverage below 90 % fails the build.\n\n"
        f"{SAID_TWICE}\n",
    ),
    "knowledge/typescript": (
        "2025-10-14",
        "TypeScript settings.",
        "# TypeScript\n\n"
        "`strict` and `noUncheckedIndexedAccess` are on in every tsconfig.\n"
        "`unknown` in place of `any`; Vitest for tests.\n"
        "Prettier formats: two spaces, single quotes.\n",
    ),
    "profile/preferences": (
        "2025-10-20",
        "What the user likes.",
        "# Preferences\n\n"
        "- Answers are short and in English; no emojis.\n"
        "- No meetings before 10:00.\n"
        "- Prettier in every project with TypeScript, pytest in every one with Python.\n",
    ),
}
"""By the path of each note: the day of its file, the summary in its sidecar, and its text."""
CONNECTED = ("projects/silica/architecture", "projects/silica/features")
"""The notes of which one refers to the other: they keep pages of their own."""
FACTS = (
    *("no database", "JSON sidecar", "S3", "last one wins", "over MCP", "Personas", "50 KB"),
    *("Astro 4", "Netlify", "janinaroth.example", "2026-09-14", "eleven posts"),
    *("TaskGroup", "to_thread", "asyncio.timeout(5)", "wait_for", "never unittest", "-k name -x", "tmp_path", "90 %"),
    *("noUncheckedIndexedAccess", "unknown", "Vitest", "two spaces, single quotes", "no emojis", "10:00"),
)
"""What has to be in the memory afterwards, however it is told."""
QUESTIONS = {
    "When does the domain of the website run out?": "2026-09-14",
    "What takes the place of asyncio's gather?": "TaskGroup",
    "Which compiler options are on in every tsconfig?": "noUncheckedIndexedAccess",
    "Before which time of day are there no meetings?": "10:00",
}


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
        for path, (day, summary, text) in NOTES.items():
            write_note(Path(folder), path, text, {"summary": summary}, day)
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
    made = {f"{path}.md": "created" if path in CONNECTED else "merged" for path in NOTES}
    assert {step.name: status_of(step) for step in migrated.done.steps} == made
    assert all(step.target in pages and step.facts["operation"] for step in migrated.done.steps)
    assert migrated.verification.is_complete
    assert migrated.verification.documents == len(NOTES)
    everything = "\n".join(pages.values())
    assert [fact for fact in FACTS if fact not in everything] == []
    assert everything.count(SAID_TWICE) == 1, "what two notes say is not told once"
    assert max(len(page.encode()) for page in pages.values()) <= stage.memory.threshold
    for question, answer in QUESTIONS.items():
        assert any(answer in found.excerpt for found in stage.offline.search(question)[:3]), question


SCENARIO = Scenario("migrate-v1", "an older memory of small notes is worked in", act, judge, BOTH)
