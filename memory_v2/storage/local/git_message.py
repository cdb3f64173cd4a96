"""A revision as the message of its commit, which `git log` shows."""

from __future__ import annotations

import json
import re

from memory_v2.storage.history import EXTERNAL, Revision

TEXT = "Text:"
"""The line before the text of a write, each line of which is marked as quoted."""
TEXT_AS_JSON = "Text as JSON:"
"""The same for a text with a null character, at which git would end the message."""
QUOTED = "> "

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
    return "\n\n".join(filter(None, [f"{told.kind}: {told.summary}", why, _quoted(told.text), named])) + "\n"


def read_message(message: str) -> Revision:
    """The revision whose message `message_of` wrote; a commit that somebody else made has its first line only."""
    first, _, rest = message.partition("\n")
    kind, colon, summary = first.partition(": ")
    parts = [part for part in rest.strip("\n").split("\n\n") if part]
    text = next((part for part in parts if part.startswith((f"{TEXT}\n", f"{TEXT_AS_JSON}\n"))), "")
    paragraphs = [part.strip().splitlines() for part in parts if part != text]
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
        text=_unquoted(text),
    )


def _quoted(text: str) -> str:
    """A text as one paragraph of a message."""
    if not text:
        return ""
    if "\0" in text:
        return f"{TEXT_AS_JSON}\n{json.dumps(text, ensure_ascii=False)}"
    return "\n".join([TEXT, *(f"{QUOTED}{line}" for line in text.split("\n"))])


def _unquoted(paragraph: str) -> str:
    """The text that `_quoted` made a paragraph of."""
    first, _, rest = paragraph.partition("\n")
    if first == TEXT_AS_JSON:
        try:
            return str(json.loads(rest))
        except ValueError:  # somebody has edited the message
            return rest
    return "\n".join(line.removeprefix(QUOTED) for line in rest.split("\n"))
