"""Entries made up for tests, and models that decide about them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path
from typing import Any

from memory_v2.entries.curation import Stock, stock_of
from memory_v2.entries.entry import Entry
from memory_v2.entries.entry_paths import path_of
from memory_v2.entries.file import EntryFile, entry_data
from memory_v2.models.base import Conversation, Reply, ToolCall, ToolMessage
from memory_v2.text.days import Calendar

DAY = date(2026, 2, 15)


def made(name: str = "hawk/obs-2026-02-15-001", text: str = "CTR fell by 12%.\n", **fields: Any) -> Entry:
    """An entry of a day with this id, unless its fields say otherwise."""
    return Entry(id=name, text=text, **{"observed_at": DAY, **fields})


def stock(*entries: Entry) -> Stock:
    """These entries, as they were read."""
    return stock_of(
        EntryFile(path_of(entry.space, entry.name, entry.archived), entry_data(entry), entry) for entry in entries
    )


def at(moment: datetime, zone: tzinfo = UTC) -> Calendar:
    """A calendar whose clock stands."""
    return Calendar(zone, lambda: moment)


def noon(day: date, zone: tzinfo = UTC) -> Calendar:
    """A calendar whose clock stands at noon of a day."""
    return at(datetime(day.year, day.month, day.day, 12, tzinfo=zone), zone)


def files(folder: Path) -> dict[str, bytes]:
    """Every page and every entry in a folder, by path."""
    found = (one for one in sorted(folder.rglob("*.md")) if ".metadata" not in one.parts)
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in found}


def answering(*calls: tuple[str, dict[str, Any]], told: list[str] | None = None) -> Callable[[Conversation], Reply]:
    """A model that makes these calls, and refuses to go on; what it is told is noted."""

    def decide(conversation: Conversation) -> Reply:
        if told is not None:
            told.extend(one.prompt.text for one in conversation.messages if not hasattr(one, "reply"))
        if any(isinstance(message, ToolMessage) for message in conversation.messages):
            return Reply("no", stop_reason="refusal")
        return Reply("", tuple(ToolCall(name, given) for name, given in calls), stop_reason="tool_use")

    return decide
