"""The offline planner: a deterministic model without a network. It reads the brief rather than the prompt and answers
with the same tool calls as any other model; its decisions pass the same guards."""

from __future__ import annotations

from typing import assert_never

from memory_v2.models.base import AssistantMessage, Conversation, Reply, ToolCall, ToolResult
from memory_v2.models.briefs import ConsolidateBrief, GradeBrief, RouteBrief, SearchBrief, SplitBrief, WriteBrief


class OfflinePlanner:
    """Decides by counting words and bytes. The same brief always gives the same answer."""

    name = "offline"

    def respond(self, conversation: Conversation) -> Reply:
        """The whole decision in one reply; if it is asked again, a simpler one."""
        plain = any(isinstance(message, AssistantMessage) for message in conversation.messages)
        match conversation.brief:  # each kind imports what it needs: a search must not wait for what a split needs
            case ConsolidateBrief() as brief:
                from memory_v2.models.offline.observations import file_observations

                results = (message for message in conversation.messages if isinstance(message, ToolResult))
                calls = file_observations(brief, [one.call for one in results if not one.is_error] if plain else None)
            case RouteBrief() as brief:
                from memory_v2.models.offline.observations import leave_all

                calls = leave_all(brief)
            case GradeBrief() as brief:
                from memory_v2.models.offline.observations import grade_as_guessed

                calls = grade_as_guessed(brief)
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
