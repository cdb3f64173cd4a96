"""The offline planner: a deterministic model without a network. It reads the brief rather than the prompt and answers
with the same tool calls as any other model; its decisions pass the same guards."""

from __future__ import annotations

from typing import assert_never

from memory_v2.models.base import AssistantMessage, Conversation, Reply, ToolCall, ToolMessage
from memory_v2.models.briefs import ConsolidateBrief, RouteBrief, SearchBrief, SplitBrief, WriteBrief
from memory_v2.tree.edit import show_numbers


class OfflinePlanner:
    """Decides by counting words and bytes. The same brief always gives the same answer."""

    name = "offline"

    def respond(self, conversation: Conversation) -> Reply:
        """The whole decision in one reply; if it is asked again, a simpler one."""
        plain = any(isinstance(message, AssistantMessage) for message in conversation.messages)
        match conversation.brief:  # each kind imports what it needs: a search must not wait for what a split needs
            case RouteBrief() as brief:
                calls = _left(brief)
            case WriteBrief() as brief:  # or a `ConsolidateBrief`, which is one too
                calls = _filed(brief, conversation, plain)
            case SplitBrief() as brief:
                from memory_v2.models.offline.dividing import divide

                calls = divide(brief, plain)
            case SearchBrief() as brief:
                calls = _found(brief)
            case brief:
                assert_never(brief)
        return Reply(tool_calls=calls, stop_reason="tool_use")


def _filed(brief: WriteBrief, conversation: Conversation, plain: bool) -> tuple[ToolCall, ...]:
    """The calls that file a text, or observations; of those, the ones that were accepted are not filed again."""
    from memory_v2.models.offline.filing import file_observations, file_text

    if not isinstance(brief, ConsolidateBrief):
        return file_text(brief, plain)
    results = (message for message in conversation.messages if isinstance(message, ToolMessage))
    accepted = [result.call for result in results if not result.is_error]
    return file_observations(brief, accepted if plain else None)


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
