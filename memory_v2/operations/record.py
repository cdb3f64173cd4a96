"""What the history records of an operation."""

from __future__ import annotations

from collections.abc import Collection

from memory_v2.operations.context import Context
from memory_v2.storage.checkout import MAX_SUMMARY
from memory_v2.storage.history import Revision
from memory_v2.text.plain import shorten
from memory_v2.trace.recording import Event

INTERRUPTED = "it was interrupted, and finished later"


def revision_of(context: Context, paths: Collection[str]) -> Revision:
    """The revision for the next change: the operation, or the split that follows it, who decided and why. It is derived
    from the trace."""
    operation = context.operation
    events = operation.trace.events
    begin: Event = next(iter(operation.trace.of("begin")), {"operation": "change", "arguments": {}})
    since = max((number for number, event in enumerate(events, 1) if event["event"] == "commit"), default=0)
    asked = [event for event in events[since:] if event["event"] == "ask"]
    ended = [event for event in events[since:] if event["event"] == "decided"]
    kind = asked[-1]["task"] if asked else begin["operation"]
    interrupted = [INTERRUPTED] if begin.get("goes_on") else []
    about = next((str(value) for value in begin["arguments"].values() if value), "")
    if kind != begin["operation"] or not about:
        about = ", ".join(sorted(paths))
    return Revision(
        kind=kind,
        summary=shorten(about, MAX_SUMMARY),
        operation=operation.id,
        decided_by=asked[-1]["model"] if asked else "",
        degraded="; ".join([*interrupted, *(event["reason"] for event in ended if event["reason"])]),
        undoes=next((str(event["of"]) for event in operation.trace.of("undo")), ""),
        why=tuple(ended[-1]["checked"]) if ended else (),
        when=context.now(),
    )
