"""Weeks with a coding agent that has the memory as tools: it is told facts, asked about them in later sessions, told
that one is wrong, and takes back what it should not have noted. The offline planner files what it writes."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_v2.hosts.host import skill_text
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from tests.replay.agents import AGENT, AGENT_WIRES, Desk, carried_out_on
from tests.replay.counted import counted_ids
from tests.replay.scenario import Scenario, data

SESSIONS = [(datetime.fromisoformat(one["at"]), one["said"]) for one in data("remembered")]
"""What a user says, session by session, and when."""
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
    return Memory(LocalStorage(Path(folder)), now=lambda: now, dense=False)


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
