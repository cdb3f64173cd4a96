"""Weeks with a coding agent that has the memory as tools: it is told facts, asked about them in later sessions, told
that one is wrong, and takes back what it should not have noted. The offline planner files what it writes."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from memory_v2.hosts.host import skill_text
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from tests.replay.agents import AGENT, AGENT_WIRES, Desk, carried_out_on
from tests.replay.counted import counted_ids
from tests.replay.scenario import Scenario

SESSIONS: tuple[tuple[datetime, tuple[str, ...]], ...] = (
    (
        datetime(2026, 6, 1, 9, 10, tzinfo=UTC),
        (
            "morning! from this week on I own Tollgate, our billing service, Henrik handed it over to me. two things "
            "so nobody has to dig again: staging is tollgate-stage.internal on port 8080, and production goes out on "
            "Thursdays at 11:00, only after Mira Okafor has signed it off. she leads payments.",
            "unrelated, what does the -u in `set -euo pipefail` do? one line please",
            "ok thanks. btw Mira wants pull requests under 300 lines, and she's never in on Fridays",
        ),
    ),
    (
        datetime(2026, 6, 3, 13, 30, tzinfo=UTC),
        (
            "I want to run a smoke test against tollgate on staging. which host and port was that? and when is the "
            "next production release?",
            "and which database does it run on, and what version?",
        ),
    ),
    (
        datetime(2026, 6, 8, 10, 0, tzinfo=UTC),
        (
            "smoke test can't connect, connection refused. what do you have as tollgate's staging port?",
            "no, the staging port is 8443, who told you 8080? please get that straight so it doesn't come up again",
            "great. how do I see with curl whether the certificate on it is still good? one line",
        ),
    ),
    (
        datetime(2026, 6, 10, 15, 20, tzinfo=UTC),
        (
            "just off the phone with Nordlys, one of the tollgate customers. remember that they want their invoices as "
            "PDF/A from August, and that they pay net 45",
            "what would be a good name for a feature flag for that pdf thing?",
            "wait, that was the other customer, not Nordlys. take that back please, all of it. the other one sends it "
            "to me in writing, I'll tell you when it's there",
        ),
    ),
    (
        datetime(2026, 6, 15, 9, 5, tzinfo=UTC),
        (
            "Mira moves to the fraud team today. from now on Deniz Aydin signs off the tollgate releases. the day and "
            "the hour stay as they are",
        ),
    ),
    (
        datetime(2026, 6, 22, 16, 20, tzinfo=UTC),
        (
            "I'm writing the hand-over page for tollgate. where's staging (host and port), when does production go out "
            "and who signs it off?",
            "which payment terms do we have for Nordlys, and how do they want their invoices?",
            "last one: how big may a pull request be for Mira, and on which day is she out?",
        ),
    ),
)
UNKNOWN, STAGING, NORDLYS, MIRA = 4, -3, -2, -1
"""The places of answers that are judged."""
KEPT = ("tollgate-stage.internal", "8443", "Thursday", "11:00", "Mira Okafor", "Deniz Aydin", "300", "Friday")
TAKEN_BACK = re.compile(r"PDF/A|\b(?:net[- ]?)?45\b")
A_DATABASE = re.compile(r"(?i)\b(?:postgres\w*|mysql|mariadb|oracle|sqlite|mongo\w*|redis)\W+v?\d")
READING = {"search_memory", "read_memory", "list_memory_files"}
NOTING = {"write_memory", "replace_in_memory", "capture_memory"}


@dataclass(frozen=True)
class Weeks:
    """What came of it: the pages, the excerpts that answer two questions, what was done, oldest first, and what is
    wrong with the tree."""

    pages: Mapping[str, str]
    ports: Sequence[str]
    signers: Sequence[str]
    done: Sequence[str]
    faults: Sequence[str]


def act(desk: Desk) -> Weeks:
    with tempfile.TemporaryDirectory() as folder:
        for now, said in SESSIONS:
            with opened(folder, now) as memory, counted_ids(now.isoformat()):
                system = AGENT.format(day=f"{now:%A, %Y-%m-%d}", more=skill_text())
                desk.session(system, desk.agent.model.tools(memory), said, carried_out_on(memory))
        with opened(folder, now) as memory:
            return Weeks(
                pages={page.path: memory.read(page.path) for page in memory.list_files()},
                ports=[found.excerpt for found in memory.search("On which port is Tollgate's staging?")],
                signers=[found.excerpt for found in memory.search("Who signs off the releases of Tollgate?")],
                done=[one.first.kind for one in reversed(memory.history())],
                faults=[str(finding) for finding in memory.check() if finding.severity == "error"],
            )


def opened(folder: str, now: datetime) -> Memory:
    """The memory as it comes out of the box, with a clock that stands still."""
    return Memory(LocalStorage(Path(folder)), now=lambda: now)


def judge(desk: Desk, weeks: Weeks) -> None:
    everything = "\n".join(weeks.pages.values())
    assert weeks.faults == []
    for kept in KEPT:
        assert kept in everything, f"{kept} is not on any page"
    told = [text for text in (*everything.splitlines(), *weeks.ports) if "8080" in text and "8443" not in text]
    assert not told, f"the wrong port is still told: {told}"
    for answer, found in (("8443", weeks.ports), ("Deniz", weeks.signers)):
        assert answer in "".join(found[:3])
    assert all(page.count("## Links") <= 1 for page in weeks.pages.values())
    assert "undo" in weeks.done
    assert not TAKEN_BACK.search(everything), "what was taken back is still there"
    for number, calls in enumerate(desk.calls):
        reads, writes = ({call.name for call in calls} & names for names in (READING, NOTING))
        assert reads or number not in (1, 2, 5), f"session {number + 1} was answered without a look"
        assert writes or number not in (0, 2, 3, 4), f"nothing was noted in session {number + 1}"
    assert not A_DATABASE.search(desk.answers[UNKNOWN]), "what was never said is told"
    for value in ("tollgate-stage.internal", "8443", "Thursday", "11:00", "Deniz"):
        assert value in desk.answers[STAGING]
    assert not TAKEN_BACK.search(desk.answers[NORDLYS])
    assert "300" in desk.answers[MIRA] and "Friday" in desk.answers[MIRA]


SCENARIO = Scenario("remembered", "weeks with an agent that has the memory as tools", act, judge, AGENT_WIRES, Desk)
