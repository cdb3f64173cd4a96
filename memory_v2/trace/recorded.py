"""A model that answers from recordings of what a model was asked, and what it answered.

A recording is matched on every word that was shown, system prompt and tools included. So a run on it is reproducible,
and a changed prompt, tool or tree is noticed at once.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from memory_v2.errors import InvalidSetting, ModelError, NotRecorded
from memory_v2.models.base import Conversation, Model, Reply, ToolCall, Usage
from memory_v2.trace.recording import SUFFIX, Event, call_data, message_data, preamble, read_events

Outcome: TypeAlias = Reply | ModelError

SHOWN = 160
"""Characters shown of each side of a difference: two lines of a terminal."""


@dataclass
class _Asked:
    """A conversation up to one point, part by part, and the answers recorded there."""

    parts: list[Any]
    outcomes: deque[Outcome] = field(default_factory=deque)


class RecordedModel:
    """Gives the answers recorded for exactly this conversation, each once, in order. Raises `NotRecorded` for any
    other; a recorded failure of the provider is raised again."""

    def __init__(self, events: Iterable[Event], name: str = "recorded") -> None:
        """`events` are those of one trace, or of several in order."""
        self.name = name
        self._asked: dict[str, _Asked] = {}
        self._lock = threading.Lock()
        self._take_in(events)

    @classmethod
    def load(cls, place: Path) -> RecordedModel:
        """The recording in a trace file, or all those in a folder, oldest first. Raises `InvalidSetting` if there is
        none, `InvalidText` if a file is not a trace."""
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
        """How many answers are left."""
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
                    reply, failed = _reply(event), None
                    self._note(parts, reply)
                    calls = [call_data(call) for call in reply.tool_calls]
                    parts.append({"role": "assistant", "text": reply.text, "calls": calls})
                case "decided" if readable and (failed or event["reason"]):
                    self._note(parts, ModelError(failed or event["reason"]))

    def _note(self, parts: list[Any], outcome: Outcome) -> None:
        self._asked.setdefault(_key(parts), _Asked(list(parts))).outcomes.append(outcome)


def _reply(event: Event) -> Reply:
    return Reply(
        text=event["text"],
        tool_calls=tuple(ToolCall(**call) for call in event["calls"]),
        usage=Usage(**event["usage"]),
        stop_reason=event["stop"],
        money=event["money"],
        raw=event["raw"],
        is_estimate=event.get("is_estimate", False),
    )


def _key(parts: list[Any]) -> str:
    return hashlib.sha256(_json(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)


def _unlike(parts: list[Any], recorded: list[list[Any]], was_played: bool) -> str:
    """Where the conversation first differs from the most similar recorded one."""
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
