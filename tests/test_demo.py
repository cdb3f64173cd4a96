"""The demo's memory answers what `make demo` asks it."""

from __future__ import annotations

from datetime import UTC, datetime

from bench.data import own_texts
from demo.notes import QUESTIONS, SMALL
from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage

ANSWERS = (
    "must not eat cashews or pistachios",
    "43 visitors of six museums were hit",
    "Lumen is deployed twice a week: Mondays and Thursdays at 10:00",
    "from 2026-06-01 the odd weeks on call",
    "",
)


def test_the_questions_of_the_demo_are_answered() -> None:
    def now() -> datetime:
        return datetime(2026, 9, 1, 9, tzinfo=UTC)

    memory = Memory(VolatileStorage(now), threshold=SMALL, now=now, dense=False)
    for note in own_texts("scenario")["texts"]:
        memory.write(note["text"], date=note["day"])
    found = [" ".join(" ".join(hit.excerpt for hit in memory.search(question, 1)).split()) for question in QUESTIONS]
    assert all(answer in text if answer else not text for answer, text in zip(ANSWERS, found, strict=True)), found
