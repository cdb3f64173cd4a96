"""The offline planner: a model with no network and no chance in it. It reads the brief, not the words, and answers with
the same tool calls as any other model; what it decides passes the same guards."""

from __future__ import annotations

from typing import assert_never

from memory_v2.models.base import AssistantMessage, Conversation, Reply
from memory_v2.models.briefs import SearchBrief, SplitBrief, WriteBrief
from memory_v2.models.offline.dividing import divide
from memory_v2.models.offline.filing import file_text
from memory_v2.models.offline.finding import find


class OfflinePlanner:
    """Decides by what can be counted: the same brief gives the same answer, always and everywhere."""

    name = "offline"

    def respond(self, conversation: Conversation) -> Reply:
        """The decision in one reply; asked again, a plainer one."""
        plain = any(isinstance(message, AssistantMessage) for message in conversation.messages)
        match conversation.brief:
            case WriteBrief() as brief:
                calls = file_text(brief, plain)
            case SplitBrief() as brief:
                calls = divide(brief, plain)
            case SearchBrief() as brief:
                calls = find(brief)
            case brief:
                assert_never(brief)
        return Reply(tool_calls=calls, stop_reason="tool_use")
