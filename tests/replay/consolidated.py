"""A week of a small team, as its agents noted it in passing, and what has to become of it: pages that last."""

from __future__ import annotations

import re

from memory_v2.plan import Plan
from tests.replay.scenario import BOTH, Scenario
from tests.replay.stage import Stage

PROJECT = "projects/tideline"
PAGES = {
    PROJECT: (
        "Tideline",
        "Tideline is an app that shows sailors the tides of the North Sea coast.\n\n"
        "## Releases\n\n- Tideline deploys on Tuesdays since 2026-03-10.\n- Version 2.2 is out since 2026-03-31.\n",
        "the app: its releases, its maps and its data",
    ),
    "infrastructure/ci": (
        "CI",
        "- CI runs on the machines `quay-1` and `quay-2`.\n- A red build blocks merging.\n",
        "where builds run, and what blocks them",
    ),
}
"""By path: the title of each page, its text, and how the root lists it."""
WEEK = (
    ("2026-04-27", "pilot", PROJECT, "Tideline 2.3 ships on 2026-05-12; until then only fixes are merged."),
    ("2026-04-27", "harbour", "technical", "The CI machine `quay-2` has 16 GB of memory, `quay-1` has 8 GB."),
    (
        "2026-04-27",
        "harbour",
        "technical",
        "db-1 runs Postgres 16.2. Backups go to the bucket tide-backups every night at 01:00.",
    ),
    ("2026-04-27", "pilot", "people", "Maren Oltmanns leads Tideline; she is off on Fridays."),
    ("2026-04-28", "harbour", PROJECT, "Build 41 of Tideline passed on staging."),
    (
        "2026-04-28",
        "pilot",
        PROJECT,
        "Crash reports go to the Sentry project tideline-app; its quota is 50,000 events.",
    ),
    (
        "2026-04-28",
        "pilot",
        "technical",
        "`make seed` needs the variable TIDE_SEED; without it the tests of the tide curves fail.",
    ),
    (
        "2026-04-28",
        "harbour",
        "technical",
        "Die Zertifikate liegen unter /etc/tide/certs; certbot erneuert sie am 1. jedes Monats.",
    ),
    ("2026-04-28", "pilot", "people", "Tomás Rivas joined on 2026-04-20 and looks after the maps."),
    ("2026-04-28", "pilot", "people", "Ask Ines Falk about invoices: ines@tideline.example."),
    ("2026-04-29", "harbour", PROJECT, "Build 42 of Tideline passed on staging."),
    (
        "2026-04-29",
        "pilot",
        PROJECT,
        "From today Tideline deploys on Thursdays, because the harbour offices are closed on Tuesdays.",
    ),
    (
        "2026-04-29",
        "pilot",
        "technical",
        "The API allows 60 requests a minute; the header X-Tide-Remaining tells how many are left.",
    ),
    ("2026-04-29", "pilot", "people", "Tomás prefiere revisar el código por la mañana, antes de las 11:00."),
    (
        "2026-04-30",
        "pilot",
        PROJECT,
        "El mapa de boyas usa datos del Instituto Hidrográfico; se actualiza cada lunes a las 06:00.",
    ),
    (
        "2026-04-30",
        "harbour",
        PROJECT,
        "The quota of the Sentry project tideline-app is 50,000 events: crash reports go there.",
    ),
    ("2026-04-30", "harbour", "technical", "CI takes 9 minutes now that the map tests run in parallel; it was 14."),
    ("2026-04-30", "harbour", "technical", "Map tiles are cached in Redis for 24 hours."),
    ("2026-04-30", "pilot", "people", "Ines ist ab Juni in Elternzeit; Jonas Wiek übernimmt die Rechnungen."),
    (
        "2026-05-01",
        "pilot",
        PROJECT,
        "Tideline 2.3 moves to 2026-05-19: the review by the app store takes a week longer.",
    ),
    ("2026-05-01", "harbour", "technical", "db-1 runs Postgres 17.0 since today; pg_upgrade took 11 minutes."),
    ("2026-05-01", "pilot", "people", "Jonas Wiek works in Bremen; his number is 0421-555-0142."),
    ("2026-05-01", "pilot", "people", "Maren wants release notes in two sentences, without emoji."),
    ("2026-05-02", "pilot", PROJECT, "Offline maps take 180 MB per coast; the goal is 120 MB."),
    (
        "2026-05-02",
        "pilot",
        PROJECT,
        "Die Gezeitentabellen kommen vom BSH und werden nachts um 02:15 geladen.",
    ),
    ("2026-05-02", "harbour", "technical", "El túnel SSH a db-1 usa el puerto 2222; el 22 está cerrado desde fuera."),
    ("2026-05-02", "pilot", "people", "Tomás is on call from 2026-05-04 to 2026-05-10, and Maren the week after."),
    ("2026-05-03", "harbour", "technical", "Alarms of db-1 go to the channel #quay-alarms, and no longer by mail."),
    ("2026-05-03", "harbour", PROJECT, "Version 2.2 had 3,140 downloads in April."),
    ("2026-05-03", "pilot", "people", "The harbour master of Norddeich is Heike Janssen; she answers by phone only."),
)
"""The day, the agent, the home and the text of each of the thirty entries."""
FACTS = (
    *(
        r"\b41\b",
        r"\b42\b",
        "tideline-app",
        "harbour offices",
        "boyas",
        "06:00",
        "180 MB",
        "120 MB",
        "BSH",
    ),
    *("02:15", "3,140", "quay-2", "16 GB", "8 GB", "tide-backups", "01:00", "TIDE_SEED", "/etc/tide/certs", "certbot"),
    *("60 requests", "X-Tide-Remaining", "9 minutes", "14", "24 hours", "pg_upgrade", "2222", "#quay-alarms"),
    *("Fridays", "2026-04-20", "ines@tideline.example", "11:00", "Elternzeit", "Bremen", "0421-555-0142"),
    *("without emoji", "2026-05-10", "Heike Janssen", "by phone", "only fixes"),
)
"""What has to be in the memory afterwards, however it is told."""
CHANGED = (("2026-05-19", "2026-05-12"), ("Thursdays", "Tuesdays"), ("17.0", "16.2"))
"""What holds now, and what was before: told in one place, the newest first."""
QUESTIONS = {
    "When does Tideline 2.3 ship?": "2026-05-19",
    "Which version of Postgres runs on db-1?": "17.0",
    "On which day does Tideline deploy?": "Thursdays",
    "What is the phone number of Jonas Wiek?": "0421-555-0142",
    "Where do alarms of db-1 go?": "#quay-alarms",
}


def capture(stage: Stage) -> None:
    """The pages as they are, and the week."""
    stage.page(
        "memory", "Memory", "What the Tideline team knows.", {path: about for path, (_, _, about) in PAGES.items()}
    )
    for path, (title, text, _) in PAGES.items():
        stage.page(path, title, text)
    for day, agent, home, text in WEEK:
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
    assert len(shown.of("work in")) == len(entries) == len(WEEK)
    assert all(entry.consolidated_into and set(entry.consolidated_into) <= pages.keys() for entry in entries)
    assert [fact for fact in FACTS if not re.search(fact, everything, re.I)] == []
    for now, before in CHANGED:
        lines = [line for line in everything.splitlines() if now in line and before in line]
        assert any(line.index(now) < line.index(before) for line in lines), f"{now} (before: {before})"
    assert everything.count("50,000") == 1, "what two entries say is told once"
    assert all(f"entries/{entry.id}" in everything for entry in entries if _is_written(shown, entry.id))
    of_people = [path for path, body in pages.items() if "Heike Janssen" in body or "0421-555-0142" in body]
    assert all(path.startswith("people") for path in of_people), of_people
    assert all("Postgres" not in pages[path] for path in of_people)
    assert "Build 4" in pages[PROJECT] or any(path.startswith(PROJECT) for path in pages if "Build 4" in pages[path])
    assert len(pages) <= len(PAGES) + 6, "a page for each subject, and not for each line"
    assert max(len(stage.text(path).encode()) for path in pages) <= stage.memory.threshold
    for question, answer in QUESTIONS.items():
        assert any(answer in found.excerpt for found in stage.offline.search(question)[:3]), question
    assert stage.offline.entries.consolidate().of("work in") == (), "a second run does nothing"


def _is_written(plan: Plan, entry_id: str) -> bool:
    return next(step.reason for step in plan.of("work in") if step.name == entry_id) != "said already"


SCENARIO = Scenario("consolidate-week", "thirty entries of a week are worked into pages", act, judge, BOTH)
