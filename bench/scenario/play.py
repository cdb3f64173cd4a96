"""Plays the scenario: writes the texts and asks the questions, each at its own time."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.data import own_texts
from bench.scenario.key import Question, Text
from memory_v2 import Memory
from memory_v2.agent.load import load_model
from memory_v2.errors import NotRecorded
from memory_v2.models.base import Conversation, Model, Reply
from memory_v2.operations.results import SearchResults, WriteResult
from memory_v2.settings import Limits
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.trace.recorded import RecordedModel
from memory_v2.trace.recording import Trace
from memory_v2.tree.page import Page, parse_page

_GIVEN = own_texts("scenario")
TEXTS = tuple(Text(**one) for one in _GIVEN["texts"])
QUESTIONS = tuple(Question(**one) for one in _GIVEN["questions"])
ASKED = "2026-08-25"
"""The day after the last text."""
THRESHOLD = 4_096
RECORDED = Path(__file__).parents[2] / "cassettes" / "scenario"
"""The traces of a live play."""
PATIENT = Limits(turns=16, tokens=1_000_000, seconds=36_000, money=100)


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of the play: its number among its kind (from 1), what was asked for, and what came of it. `pages`
    is the whole tree after it."""

    number: int
    asked: Text | Question
    result: WriteResult | SearchResults
    trace: Trace
    pages: dict[str, Page]

    @property
    def is_decided(self) -> bool:
        """Whether the model of the play made every decision."""
        return not any(event["reason"] for event in self.trace.of("decided"))


class Continued:
    """A model that gives the recorded answers, and asks a live model where they end."""

    def __init__(self, recorded: Model, live: Model) -> None:
        self.name = live.name
        self._recorded = recorded
        self._live = live

    def respond(self, conversation: Conversation) -> Reply:
        """The recorded answer, or else that of the live model."""
        try:
            return self._recorded.respond(conversation)
        except NotRecorded:
            return self._live.respond(conversation)


def play(folder: Path, model: Model, threshold: int, kept: Path | None) -> Iterator[Step]:
    """The operations in order. The traces go to the folder `kept`, each as soon as it is complete; an operation that a
    model did not decide is not kept, so that the play can be continued there. Search goes by words, whatever is
    installed: what is shown is then the same everywhere."""
    clock = _Clock()
    memory = Memory(
        LocalStorage(folder), model, threshold=threshold, limits=PATIENT, now=clock, traces=1_000, dense=False
    )
    with memory:
        everything: tuple[Text | Question, ...] = (*TEXTS, *QUESTIONS)
        for asked in everything:
            clock.set(asked.day if isinstance(asked, Text) else ASKED)
            result = _written(memory, asked) if isinstance(asked, Text) else memory.search(asked.text)
            number = TEXTS.index(asked) if isinstance(asked, Text) else QUESTIONS.index(asked)
            trace = memory.trace(result.trace)
            pages = {file.path: parse_page(file.path, memory.read(file.path)) for file in memory.list_files()}
            step = Step(number + 1, asked, result, trace, pages)
            if kept and step.is_decided and not any(kept.glob(f"{trace.name.rpartition('-')[0]}-*")):
                shutil.copy(folder / ".metadata" / "traces" / f"{trace.name}.jsonl", kept)
            yield step


def chosen_model(name: str, kept: Path | None) -> Model:
    """The model with this name, which first gives the answers that are kept already."""
    model = load_model(name)
    return Continued(RecordedModel.load(kept), model) if kept and any(kept.glob("*.jsonl")) else model


def _written(memory: Memory, text: Text) -> WriteResult:
    return memory.write(text.text, source=text.source, date=text.date)


class _Clock:
    """Nine in the morning of the day that was set, and a minute later each time it is set."""

    def __init__(self) -> None:
        self._minutes = 0
        self._now = datetime.now(UTC)

    def set(self, day: str) -> None:
        self._minutes += 1
        self._now = datetime.fromisoformat(f"{day}T09:00:00+00:00") + timedelta(minutes=self._minutes)

    def __call__(self) -> datetime:
        return self._now
