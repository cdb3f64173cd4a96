"""What the history records of an operation."""

from __future__ import annotations

from collections.abc import Mapping

from memory_v2.operations.context import Context
from memory_v2.storage.history import Revision
from memory_v2.storage.versioned import MAX_SUMMARY
from memory_v2.text.plain import shorten
from memory_v2.trace.recording import Event, Trace
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import Page

LINE_ENDS = "\r\n"
INTERRUPTED = "it was interrupted, and finished later"


def revision_of(context: Context, pages: Mapping[str, Page | None]) -> Revision:
    """The revision for the next change, which stores these pages: the operation, or the split that follows it, who
    decided and why. It is derived from the trace."""
    operation = context.operation
    events = operation.trace.events
    begin = _begin(operation.trace)
    since = max((number for number, event in enumerate(events, 1) if event["event"] == "commit"), default=0)
    asked = [event for event in events[since:] if event["event"] == "ask"]
    ended = [event for event in events[since:] if event["event"] == "decided"]
    kind = asked[-1]["task"] if asked else begin["operation"]
    interrupted = [INTERRUPTED] if begin.get("goes_on") else []
    about = next((str(value) for value in begin["arguments"].values() if value and value is not True), "")
    if begin["operation"] == "rename":
        about = f"{begin['arguments']['old']} → {begin['arguments']['new']}"
    if kind != begin["operation"] or not about:
        about = ", ".join(sorted(pages))
    return Revision(
        kind=kind,
        summary=shorten(about, MAX_SUMMARY),
        operation=operation.id,
        decided_by=asked[-1]["model"] if asked else "",
        degraded="; ".join([*interrupted, *(event["reason"] for event in ended if event["reason"])]),
        undoes=next((str(event["of"]) for event in operation.trace.of("undo")), ""),
        why=tuple(ended[-1]["checked"]) if ended else (),
        when=context.now(),
        text=unplaced_text(operation.trace, pages),
    )


def unplaced_text(trace: Trace, pages: Mapping[str, Page | None]) -> str:
    """The text of a write, to the letter, unless each block of it stands on these pages, as they are stored now. Empty
    once the write is stored, and for other operations."""
    begin = _begin(trace)
    if begin["operation"] != "write" or trace.of("commit"):
        return ""
    text, stored = str(begin["arguments"]["text"]), [page for page in pages.values() if page]
    lines = f"\n{text.strip(LINE_ENDS)}\n"
    if any(lines in f"\n{page.body}\n" for page in stored):
        return ""
    there = {block.content for page in stored for block in page.blocks}
    return "" if there and all(block.content in there for block in parse_blocks(text)) else text


def _begin(trace: Trace) -> Event:
    return next(iter(trace.of("begin")), {"operation": "change", "arguments": {}})
