"""The offline planner: a deterministic model without a network. It reads the brief rather than the prompt and answers
with the same tool calls as any other model; its decisions pass the same guards."""

from __future__ import annotations

from typing import assert_never

from memory_v2.models.base import AssistantMessage, Conversation, Reply, ToolCall, ToolResult
from memory_v2.models.briefs import ConsolidateBrief, GradeBrief, RouteBrief, SearchBrief, SplitBrief, WriteBrief
from memory_v2.tree.numbers import show_numbers


class OfflinePlanner:
    """Decides by counting words and bytes. The same brief always gives the same answer."""

    name = "offline"

    def respond(self, conversation: Conversation) -> Reply:
        """The whole decision in one reply; if it is asked again, a simpler one."""
        plain = any(isinstance(message, AssistantMessage) for message in conversation.messages)
        match conversation.brief:  # each kind imports what it needs: a search must not wait for what a split needs
            case ConsolidateBrief() as brief:
                from memory_v2.models.offline.filing import file_observations

                results = (message for message in conversation.messages if isinstance(message, ToolResult))
                calls = file_observations(brief, [one.call for one in results if not one.is_error] if plain else None)
            case RouteBrief() as brief:
                calls = _left(brief)
            case GradeBrief() as brief:
                calls = _graded(brief)
            case WriteBrief() as brief:
                from memory_v2.models.offline.filing import file_text

                calls = file_text(brief, plain)
            case SplitBrief() as brief:
                from memory_v2.models.offline.dividing import divide

                calls = divide(brief, plain)
            case SearchBrief() as brief:
                calls = _found(brief)
            case brief:
                assert_never(brief)
        return Reply(tool_calls=calls, stop_reason="tool_use")


def _found(brief: SearchBrief) -> tuple[ToolCall, ...]:
    """All places in the order in which the index ranked them, up to the limit."""
    if not brief.places:
        return (ToolCall("no_answer", {"reason": "no page has a word of the question"}),)
    results = [{"place": f"p{number}", "score": hit.score} for number, hit in enumerate(brief.places[: brief.limit], 1)]
    return (ToolCall("answer", {"results": results}),)


def _left(brief: RouteBrief) -> tuple[ToolCall, ...]:
    """The call that leaves everything unsorted."""
    numbers = show_numbers(range(1, len(brief.texts) + 1), "e")
    return (ToolCall("leave", {"notes": numbers, "why": "no rule says where they belong"}),)


def _graded(brief: GradeBrief) -> tuple[ToolCall, ...]:
    """The calls that say of each line what its words hint at."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(brief.lines, 1):
        for category in line.guesses:
            found.setdefault(category, []).append(number)
    return tuple(
        ToolCall("grade", {"lines": show_numbers(numbers, "i"), "category": category})
        for category, numbers in found.items()
    )
