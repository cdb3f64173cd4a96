"""Estimating the tokens of a request whose server does not count them, so that limits hold all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import astuple, replace

from memory_v2.models.base import AssistantMessage, Conversation, Reply, Usage
from memory_v2.text.words import tokens


def with_usage(reply: Reply, conversation: Conversation, price: Callable[[Usage], float | None]) -> Reply:
    """The reply; if its server has counted no tokens, with an estimate of them and of what they cost."""
    if any(astuple(reply.usage)):
        return reply
    tools = (tool.name + tool.description + json.dumps(dict(tool.schema)) for tool in conversation.tools)
    said = (
        _words(message.reply) if isinstance(message, AssistantMessage) else message.prompt.text
        for message in conversation.messages
    )
    usage = Usage(sum(map(tokens, (conversation.system.text, *tools, *said))), tokens(_words(reply)))
    return replace(reply, usage=usage, money=price(usage), is_estimate=True)


def _words(reply: Reply) -> str:
    return reply.text + "".join(f"{call.name}{json.dumps(call.arguments, default=str)}" for call in reply.tool_calls)
