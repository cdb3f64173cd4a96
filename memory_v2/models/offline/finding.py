"""Searching offline: the places are the answer, as the index ranked them."""

from __future__ import annotations

from memory_v2.models.base import ToolCall
from memory_v2.models.briefs import SearchBrief


def find(brief: SearchBrief) -> tuple[ToolCall, ...]:
    """All places in their order, up to the limit."""
    if not brief.places:
        return (ToolCall("no_answer", {"reason": "no page has a word of the question"}),)
    results = [{"place": f"p{number}", "score": hit.score} for number, hit in enumerate(brief.places[: brief.limit], 1)]
    return (ToolCall("answer", {"results": results}),)
