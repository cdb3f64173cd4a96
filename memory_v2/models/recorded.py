"""A model that answers from recordings: what a model was asked once, and what it answered.

A recording is matched on every word that was shown, the system's and the tools' included. So a run on it is
reproducible, and a prompt, a tool or a tree that is not as it was is noticed at once.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from memory_v2.errors import InvalidSetting, InvalidText, ModelError, NotRecorded, StorageError
from memory_v2.models.base import Conversation, Model, Reply
from memory_v2.models.events import checked_event
from memory_v2.models.transcript import call_data, message_data, preamble, read_reply

Event: TypeAlias = Mapping[str, Any]
Outcome: TypeAlias = Reply | ModelError

SUFFIX = ".jsonl"
FORMAT = 1

SHOWN = 160
"""Characters of each side of a difference that are shown."""


@dataclass
class _Asked:
    """What was shown up to a moment, part by part, and what came of it."""

    parts: list[Any]
    outcomes: deque[Outcome] = field(default_factory=deque)


class RecordedModel:
    """Answers what was recorded for just this conversation, each answer once, in order. Raises `NotRecorded` for
    another; a provider's failure is raised again as it was."""

    def __init__(self, events: Iterable[Event], name: str = "recorded") -> None:
        """`events` are those of one trace or of several, one after the other."""
        self.name = name
        self._asked: dict[str, _Asked] = {}
        self._lock = threading.Lock()
        self._take_in(events)

    @classmethod
    def load(cls, place: Path) -> RecordedModel:
        """The recording in a trace file, or those in a folder of them, oldest first. Raises `InvalidSetting` if nothing
        is there, `InvalidText` if a file is no trace."""
        files = sorted(place.glob(f"*{SUFFIX}")) if place.is_dir() else [place]
        if not files or not all(file.is_file() for file in files):
            raise InvalidSetting(f"there is no recording at {place}: name a trace file, or a folder that holds some")
        return cls((event for file in files for event in read_events(file)), f"recorded:{place.name}")

    def respond(self, conversation: Conversation) -> Reply:
        """The recorded answer."""
        parts: list[Any] = [preamble(conversation), *map(message_data, conversation.messages)]
        with self._lock:
            asked = self._asked.get(_key(parts))
            outcome = asked.outcomes.popleft() if asked and asked.outcomes else None
        if outcome is None:
            raise NotRecorded(_unlike(parts, [one.parts for one in self._asked.values()], was_played=asked is not None))
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome

    @property
    def left(self) -> int:
        """How many answers have not been asked for."""
        return sum(len(asked.outcomes) for asked in self._asked.values())

    def _take_in(self, events: Iterable[Event]) -> None:
        parts: list[Any] = []
        readable, failed = False, None
        for event in events:
            match event["event"]:
                case "ask":
                    readable, failed = "system" in event, None
                    parts = [{"system": event.get("system"), "tools": event.get("tools")}]
                case "message" if readable:
                    parts.append({key: event[key] for key in ("role", "name", "text", "error") if key in event})
                case "failed" if readable:
                    failed = str(event["error"])
                case "reply" if readable:
                    reply, failed = read_reply(event), None
                    self._note(parts, reply)
                    calls = [call_data(call) for call in reply.tool_calls]
                    parts.append({"role": "assistant", "text": reply.text, "calls": calls})
                case "decided" if readable and (failed or event["reason"]):
                    self._note(parts, ModelError(failed or event["reason"]))

    def _note(self, parts: list[Any], outcome: Outcome) -> None:
        self._asked.setdefault(_key(parts), _Asked(list(parts))).outcomes.append(outcome)


def read_events(file: Path) -> list[dict[str, Any]]:
    """The events of a trace in a file. Raises `StorageError` if it cannot be read, `InvalidText` if it is none."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise StorageError(f"cannot read the trace {file}: {error.strerror or error}") from error
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(checked_event(json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise InvalidText(f"{file} is no trace: line {number} is no event of one") from error
    if not events or events[0].get("format") != FORMAT:
        raise InvalidText(f"{file} is no trace of format {FORMAT}")
    return events


def _key(parts: list[Any]) -> str:
    return hashlib.sha256(_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)


def _unlike(parts: list[Any], recorded: list[list[Any]], was_played: bool) -> str:
    """Where a conversation first differs from the recorded one that is most like it."""
    if was_played:
        return "this was asked more often than it was recorded; record it again"
    if not recorded:
        return "nothing is recorded here of a model that was asked in words"
    nearest = max(recorded, key=lambda one: (_same(parts, one), -abs(len(one) - len(parts))))
    number = _same(parts, nearest)
    if number >= min(len(parts), len(nearest)):
        return f"the recording ends before message {number}; record it again"
    where = "the system's words or the tools" if number == 0 else f"message {number}"
    return f"{where} differ from what was recorded: {_difference(nearest[number], parts[number])}; record it again"


def _same(parts: list[Any], others: list[Any]) -> int:
    return next(
        (n for n, (one, other) in enumerate(zip(parts, others, strict=False)) if _json(one) != _json(other)),
        min(len(parts), len(others)),
    )


def _difference(recorded: Any, asked: Any) -> str:
    """Both sides around the first character that differs."""
    before, after = _json(recorded), _json(asked)
    at = next((n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), None)
    start = max(0, (min(len(before), len(after)) if at is None else at) - SHOWN // 2)
    return " is now ".join(f"“…{text[start : start + SHOWN]}…”" for text in (before, after))


_: type[Model] = RecordedModel
