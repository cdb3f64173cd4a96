"""Benchmark data: public, but not ours to ship. `SILICA_BENCH_DATA` names its folder."""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

VARIABLE = "SILICA_BENCH_DATA"
DEFAULT = Path(__file__).resolve().parents[1] / ".." / "shared" / "data"
ADVERSARIAL = 5

_TURN = re.compile(r"D?:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a speaker; `caption` describes a picture sent with it, `when` is the start of the session."""

    id: str
    speaker: str
    text: str
    caption: str
    session: int
    when: datetime

    @property
    def said(self) -> str:
        """The turn as one line, without its speaker."""
        caption = f" (image: {self.caption})" if self.caption else ""
        return " ".join(f"{self.text}{caption}".split())


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the ids of the turns that answer it, and its kind: 1 multi-hop, 2 temporal, 3 open, 4 single-hop."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation of two people over many sessions, with questions about it."""

    name: str
    sessions: tuple[tuple[Turn, ...], ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> list[Turn]:
        """All turns in order."""
        return [turn for session in self.sessions for turn in session]


@dataclass(frozen=True, slots=True)
class Facts:
    """Numbered facts, of which later ones override earlier ones, and questions with accepted answers."""

    name: str
    facts: tuple[str, ...]
    questions: tuple[tuple[str, tuple[str, ...]], ...]


def data_file(name: str) -> Path:
    """A file of the benchmark data. Exits with status 2, naming the file, if it is missing."""
    folder = Path(os.environ.get(VARIABLE) or DEFAULT)
    file = folder / name
    if not file.is_file():
        print(f"missing: {file}\nset {VARIABLE} to the folder that holds {name}", file=sys.stderr)
        raise SystemExit(2)
    return file


def load_locomo(name: str = "locomo/locomo_dev.json") -> list[Conversation]:
    """The LoCoMo conversations, without questions whose evidence does not exist."""
    return [_conversation(given) for given in json.loads(data_file(name).read_text("utf-8"))]


def load_facts(name: str = "factconsolidation/factconsolidation_sh_dev.json") -> list[Facts]:
    """The single-hop lists of FactConsolidation."""
    return [_facts(given) for given in json.loads(data_file(name).read_text("utf-8"))]


def _conversation(given: dict[str, Any]) -> Conversation:
    talk = given["conversation"]
    numbers = sorted(int(found[1]) for key in talk if (found := re.fullmatch(r"session_(\d+)", key)))
    sessions = tuple(_session(number, talk) for number in numbers if talk[f"session_{number}"])
    known = {turn.id for session in sessions for turn in session}
    questions = (
        Question(str(asked["question"]), _evidence(asked.get("evidence", []), known), int(asked["category"]))
        for asked in given["qa"]
    )
    return Conversation(str(given["sample_id"]), sessions, tuple(q for q in questions if q.evidence))


def _session(number: int, talk: dict[str, Any]) -> tuple[Turn, ...]:
    when = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
    return tuple(
        Turn(turn["dia_id"], turn["speaker"], turn["text"], turn.get("blip_caption", ""), number, when)
        for turn in talk[f"session_{number}"]
    )


def _evidence(given: list[str], known: set[str]) -> frozenset[str]:
    """The turns that are meant. Some ids in the data are run together, padded, or of turns that do not exist."""
    ids = {f"D{int(session)}:{int(turn)}" for text in given for session, turn in _TURN.findall(str(text))}
    return frozenset(ids & known)


def _facts(given: dict[str, Any]) -> Facts:
    lines = tuple(line for line in given["context"].splitlines() if re.match(r"\d+\. ", line))
    questions = zip(given["questions"], given["answers"], strict=True)
    name = str(given["metadata"].get("source") or f"{len(lines)} facts")
    return Facts(name, lines, tuple((question, tuple(answers)) for question, answers in questions))
