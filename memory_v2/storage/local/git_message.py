"""A revision as the message of its commit, which `git log` shows."""

from __future__ import annotations

import re

from memory_v2.storage.history import EXTERNAL, Revision

_TRAILER = re.compile(r"^(Operation|Decided-by|Degraded|Undoes): (.*)$")


def message_of(revision: Revision) -> str:
    """The commit's message, as git shows it."""
    told = revision.in_lines
    trailers = (
        ("Operation", told.operation),
        ("Decided-by", told.decided_by),
        ("Degraded", told.degraded),
        ("Undoes", told.undoes),
    )
    why = "\n".join(f"- {why}" for why in told.why)
    named = "\n".join(f"{name}: {value}" for name, value in trailers if value)
    return "\n\n".join(filter(None, [f"{told.kind}: {told.summary}", why, named])) + "\n"


def read_message(message: str) -> Revision:
    """The revision whose message `message_of` wrote; a commit that somebody else made has its first line only."""
    first, _, rest = message.partition("\n")
    kind, colon, summary = first.partition(": ")
    paragraphs = [part.splitlines() for part in rest.strip().split("\n\n") if part]
    trailers: dict[str, str] = {}
    if paragraphs and all(_TRAILER.match(line) for line in paragraphs[-1]):
        trailers = {match[1]: match[2] for line in paragraphs.pop() if (match := _TRAILER.match(line))}
    return Revision(
        kind=kind if colon else EXTERNAL,
        summary=summary if colon else first,
        operation=trailers.get("Operation", ""),
        decided_by=trailers.get("Decided-by", ""),
        degraded=trailers.get("Degraded", ""),
        undoes=trailers.get("Undoes", ""),
        why=tuple(line.removeprefix("- ") for part in paragraphs for line in part),
    )
