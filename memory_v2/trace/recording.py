"""The record of one operation while it happens: what was shown, answered, checked, and what came of it, as data. It is
kept as one file of JSON lines per operation; when there are too many, the oldest are deleted.

Searches and all other operations each keep half of the room, so that many searches do not delete the trace of the last
write. Room that one of them does not need is the other's.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias, get_args

from memory_v2.errors import InvalidText, NotAllowed, StorageError
from memory_v2.models.base import (
    Conversation,
    Message,
    Reply,
    StopReason,
    ToolCall,
    ToolMessage,
    UserMessage,
    hidden,
    long_enough,
)
from memory_v2.storage.local.disk import read_bytes, replace_bytes

_OWN = ("begin", "commit")
"""Events that hold the user's text and the pages, which a replay needs to the letter."""

logger = logging.getLogger(__name__)

Event: TypeAlias = dict[str, Any]
"""Plain data, with its kind under `event`; `trace/event_kinds.py` has the fields of each kind."""


@dataclass
class Trace:
    """The events of one operation in order, and the pages as it first read them (path → digest; empty: no page).
    `name` is the name of its file, empty until it is saved. `listener` is called with each event as it happens. `keys`
    are those that providers were sent: only what the user wrote, and the pages, may hold them."""

    name: str = ""
    events: list[Event] = field(default_factory=list)
    reads: dict[str, str] = field(default_factory=dict)
    listener: Callable[[Event], object] | None = field(default=None, repr=False, compare=False)
    keys: set[str] = field(default_factory=set, repr=False, compare=False)

    def add(self, event: str, **data: Any) -> None:
        """Appends an event, of a kind in `trace/event_kinds.py`, and tells the listener, whose errors are logged and
        change nothing."""
        try:
            noted = {"event": event, **(data if event in _OWN else self.without_keys(data))}
        except RecursionError:  # nested without end
            noted = {"event": "unreadable", "was": event}
        self.events.append(noted)
        if self.listener is None:
            return
        try:
            self.listener(noted)
        except Exception:  # it is no part of the operation
            logger.exception("the listener failed on the event %s", event)

    def began(self, operation: str, arguments: dict[str, Any], started: datetime, **setting: Any) -> None:
        """Appends that the operation begins."""
        self.add("begin", operation=operation, arguments=arguments, started=started.isoformat(), **setting)

    def asked(self, task: str, model: str, conversation: Conversation, in_words: bool) -> None:
        """Appends that a model is asked; for a model that reads no prose, only the name of the template."""
        shown = preamble(conversation) if in_words else {"template": conversation.system.template}
        self.add("ask", task=task, model=model, **shown)

    def said(self, message: Message, in_words: bool) -> None:
        """Appends what a model is shown."""
        if isinstance(message, UserMessage | ToolMessage):
            self.add("message", template=message.prompt.template, **message_data(message, in_words))

    def answered(self, reply: Reply, seconds: float) -> None:
        """Appends what a model answered, and how long that took."""
        self.keys.update(reply.keys)
        self.add("reply", seconds=round(seconds, 3), **reply_data(reply))

    def without_keys(self, value: Any) -> Any:
        """The same plain data without the keys that providers were sent."""
        return hidden(value, long_enough(self.keys))

    def of(self, event: str) -> list[Event]:
        """The events of one kind."""
        return [one for one in self.events if one["event"] == event]


def digest(data: bytes) -> str:
    """A short hash of a page's bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def preamble(conversation: Conversation) -> dict[str, Any]:
    """What is before the messages: the system's words and the tools."""
    tools = [{"name": tool.name, "description": tool.description, "schema": tool.schema} for tool in conversation.tools]
    return {"system": conversation.system.text, "tools": tools}


def message_data(message: Message, in_words: bool = True) -> dict[str, Any]:
    """One message. Wording it costs time: for a model that reads no prose it is left out."""
    match message:
        case UserMessage(prompt):
            return {"role": "user"} | ({"text": prompt.text} if in_words else {})
        case ToolMessage(call, prompt, is_error):
            text = {"text": prompt.text} if in_words else {}
            return {"role": "tool", "name": str(call.name), **text, "error": is_error}
        case _:
            reply = message.reply
            return {"role": "assistant", "text": reply.text, "calls": [call_data(call) for call in reply.tool_calls]}


def call_data(call: ToolCall) -> dict[str, Any]:
    """One tool call: its name and its arguments."""
    arguments: Any = call.arguments  # of a model of somebody's own making, it may be anything
    noted = {"name": str(call.name), "arguments": dict(arguments) if isinstance(arguments, Mapping) else arguments}
    return noted | ({"malformed": call.malformed} if call.malformed else {})


def reply_data(reply: Reply) -> dict[str, Any]:
    """A whole answer."""
    return {
        "text": reply.text,
        "calls": [{"id": str(call.id), **call_data(call)} for call in reply.tool_calls],
        "stop": reply.stop_reason if reply.stop_reason in get_args(StopReason) else "other",
        "usage": asdict(reply.usage),
        "money": reply.money,
        "raw": reply.raw,
    } | ({"is_estimate": True} if reply.is_estimate else {})


FORMAT = 1
SUFFIX = ".jsonl"
TEMPORARY = ".tmp"
STAMP = "%Y%m%dT%H%M%S%f"
LAST = "last"
SEARCH = "search"
TORN_SECONDS = 60.0
"""A temporary file older than this was left by a process that died. A trace is written in far less time."""
MAX_BYTES = 64_000_000
"""All trace files together take no more than this, however many may be kept."""


@dataclass(frozen=True)
class Traces:
    """The traces in a folder, at most `max_count` of them. The folder is made when the first is saved."""

    folder: Path
    max_count: int

    def save(self, trace: Trace, operation: str, moment: datetime, ending: str = "") -> str:
        """Writes the trace, deletes the oldest, returns its name; names sort by time. If it cannot be written, that is
        logged and the name is empty: the operation itself has succeeded or failed already."""
        data = b"".join((_line({"event": "format", "format": FORMAT}), *map(_line, trace.events)))
        try:
            if self.folder.is_symlink():
                raise OSError(f"{self.folder} is a symbolic link, and links are not followed")
            files = self._entries("")  # listed once, as that takes as long as all the rest
            name = f"{_free(files, moment)}-{operation}-{ending or os.urandom(5).hex()}"
            replace_bytes(self._file(name), data, is_flushed=False)
            self._remove_oldest(files.values(), name, len(data))
        except OSError as error:
            logger.info("the trace of this operation could not be kept: %s", error)
            return ""
        trace.name = name
        return name

    def names(self) -> list[str]:
        """The names of all traces, oldest first."""
        return sorted(self._entries())

    def find(self, given: str) -> str:
        """The full name of the trace whose name contains `given`, or of the `last` one. Raises `NotAllowed` if there is
        none, or more than one."""
        if not isinstance(given, str):
            raise NotAllowed(f"the name of a trace is a string, not {type(given).__name__}")
        names = self.names()
        if given == LAST and names:
            return names[-1]
        found = [name for name in names if name == given] or [name for name in names if given in name]
        if len(found) == 1:
            return found[0]
        there = f"there are {len(found)} traces with" if found else "there is no trace with"
        raise NotAllowed(f"{there} {given!r} in the name; 'silica memory trace' lists those there are")

    def load(self, name: str) -> Trace:
        """The trace of this name. Raises `InvalidText` if the file is not a trace."""
        return load_trace(self._file(name))

    def holding(self, holds: Callable[[Any], bool]) -> list[str]:
        """The names of the traces of which an event, as JSON data, holds something, or that cannot be read."""
        found = []
        for name in self.names():
            try:
                is_held = any(holds(json.loads(line)) for line in read_bytes(self._file(name)).splitlines())
            except (OSError, ValueError, RecursionError):
                is_held = True
            if is_held:
                found.append(name)
        return found

    def remove(self, names: Iterable[str]) -> None:
        """Removes those of these traces that there are."""
        for name in self._entries().keys() & set(names):
            self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}{SUFFIX}"

    def _entries(self, suffix: str = SUFFIX) -> dict[str, os.DirEntry[str]]:
        """The file of each trace, by the trace's name; or all whose names end otherwise, by what is before that."""
        try:
            with os.scandir(self.folder) as entries:
                return {entry.name.removesuffix(suffix): entry for entry in entries if entry.name.endswith(suffix)}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"cannot list the traces in {self.folder}: {error.strerror or error}") from error

    def _remove_oldest(self, files: Iterable[os.DirEntry[str]], new: str, size: int) -> None:
        """Removes what is too much of these files and a new trace of this size; the new one is kept."""
        sizes = {new: size}
        for file in files:
            with suppress(FileNotFoundError):
                if file.name.endswith(SUFFIX):
                    sizes[file.name.removesuffix(SUFFIX)] = file.stat().st_size
                elif file.name.endswith(TEMPORARY) and time.time() - file.stat().st_mtime > TORN_SECONDS:
                    Path(file).unlink()  # left by a process that was killed while it wrote
        room = 0
        for before, name in enumerate(self._most_wanted(sizes)):
            room += sizes[name]
            if name != new and (before >= self.max_count or room > MAX_BYTES):
                self._file(name).unlink(missing_ok=True)

    def _most_wanted(self, sizes: Mapping[str, int]) -> list[str]:
        """The names of all traces: first those within the share of searches and the share of other operations, then the
        rest, newest first."""
        within: list[str] = []
        beyond: list[str] = []
        kept, room = Counter[bool](), Counter[bool]()
        for name in sorted(sizes, reverse=True):
            is_search = name.split("-")[1:2] == [SEARCH]
            kept[is_search] += 1
            room[is_search] += sizes[name]
            is_within = 2 * kept[is_search] <= self.max_count and 2 * room[is_search] <= MAX_BYTES
            (within if is_within else beyond).append(name)
        return within + beyond


def _free(files: Iterable[str], moment: datetime) -> str:
    """The timestamp of a new name: the moment, or just after the newest name, so that names sort in the order in which
    traces were saved."""
    newest = max((file for file in files if file.endswith(SUFFIX)), default="").partition("-")[0]
    stamp = f"{moment.astimezone(UTC):{STAMP}}"
    if newest >= stamp:  # the clock went back, or two were saved at once
        with suppress(ValueError, OverflowError):  # a name made by hand, or the last moment there is
            return f"{datetime.strptime(newest, STAMP) + timedelta(microseconds=1):{STAMP}}"
    return stamp


def read_events(file: Path) -> list[Event]:
    """The events in a trace file, `format` included. Raises `StorageError` if it cannot be read, `InvalidText` if it is
    not a trace."""
    from memory_v2.trace.event_kinds import checked_event  # imports pydantic, which writing a trace does without

    try:
        lines = read_bytes(file).splitlines()
    except (OSError, ValueError) as error:  # the latter: no file has such a name
        raise StorageError(f"cannot read the trace {file}: {getattr(error, 'strerror', error)}") from error
    events = []
    for number, line in enumerate(lines, 1):
        try:
            events.append(checked_event(json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise InvalidText(f"{file} is no trace: line {number} is no event of one") from error
    if not events or events[0].get("format") != FORMAT:
        raise InvalidText(f"{file} is no trace of format {FORMAT}")
    return events


def load_trace(file: Path) -> Trace:
    """The trace in a file. Raises `StorageError` if it cannot be read, `InvalidText` if it is not a whole trace."""
    trace = Trace(file.name.removesuffix(SUFFIX), read_events(file)[1:])
    if not trace.of("begin") or not trace.of("end"):
        raise InvalidText(f"{file} is no whole trace: its beginning or its end is missing")
    for event in trace.of("end"):
        trace.reads |= event["reads"]
    return trace


def _line(event: Event) -> bytes:
    """An event as one line of JSON. A custom model may have put anything into it; what JSON cannot hold is replaced."""
    for readable in (True, False):
        with suppress(UnicodeEncodeError):  # lone surrogates stand for bytes that are not UTF-8: escape them
            try:
                return json.dumps(event, ensure_ascii=not readable, default=repr, skipkeys=True).encode() + b"\n"
            except UnicodeEncodeError:
                raise
            except Exception:  # noqa: BLE001 - a cycle, endless nesting, a `repr` that raises
                return _line({"event": "unreadable", "was": event["event"]})
    raise AssertionError("ASCII can be encoded")
