"""Searching offline: the index has ranked the places; they are the answer."""

from __future__ import annotations

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import SearchBrief


def find(brief: SearchBrief) -> tuple[ToolCall, ...]:
    """All proposed places, as they were ranked, up to the limit."""
    if not brief.places:
        return (ToolCall("no_answer", {"reason": "no page has a word of the question"}),)
    results = [{"place": f"p{number}", "score": hit.score} for number, hit in enumerate(brief.places[: brief.limit], 1)]
    return (ToolCall("answer", {"results": results}),)
