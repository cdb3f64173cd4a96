"""The connected agent decides: it is shown what a model would be shown, and answers with the same tool calls."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

from memory_v2.errors import ModelError, ToolProblem
from memory_v2.models.base import AssistantMessage, Conversation, Prompt, Reply, ToolCall, ToolMessage, UserMessage
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.delegated import DelegatedRequest
from memory_v2.models.prices import with_usage
from memory_v2.models.provider import parsed_arguments
from memory_v2.text.words import tokens

DECIDE = "decide_memory"
DECIDED_BY_HOST = ("write_memory", "split_memory")
"""The tools whose decisions are the agent's. What it looks for it reads itself, so a search does not ask it."""
LONGEST_TASK = 20_000
"""Limits what an agent is shown at once, in tokens: some hosts cut a result after 25,000."""
DECIDE_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "operation": {"type": "string", "description": "the operation, as the task names it"},
        "calls": {
            "type": "array",
            "description": "the calls that make your decision, in order; empty: show the task again",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "one of the calls that the task lists"},
                    "arguments": {"type": "object", "description": "its arguments, as the task lists them"},
                },
                "required": ["name", "arguments"],
            },
        },
    },
    "required": ["operation", "calls"],
    "additionalProperties": False,
}


def rules_of(question: DelegatedRequest) -> Hashable:
    """What of a question is the same for every operation of its kind."""
    conversation = question.conversation
    tools = ((tool.name, tool.description, json.dumps(tool.schema)) for tool in conversation.tools)
    return conversation.system.text, *tools


def shown(
    question: DelegatedRequest, operation: str, seconds: float, again: bool = False, knows_rules: bool = False
) -> str:
    """The question in words: the whole task at first, then what has become of the last calls. Whoever `knows_rules` is
    not shown those, unless `again`."""
    conversation = question.conversation
    last = _last_answer(conversation)
    if last < 0:
        return _task(conversation, operation, seconds, knows_rules and not again)
    news = conversation.messages[last + 1 :]
    results = [
        {"name": one.call.name, "is_error": one.is_error, "text": one.prompt.text}
        for one in news
        if isinstance(one, ToolMessage)
    ]
    messages = [one.prompt.text for one in news if isinstance(one, UserMessage)]
    data = {"kind": kind_of(conversation), "operation": operation, "results": results, "messages": messages}
    further = Prompt("mcp/further", data).text
    return f"{_task(conversation, operation, seconds)}\n\n{further}" if again else further


def kind_of(conversation: Conversation) -> str:
    """What is asked for: `write`, for the place of a text, or `split`, for the parts of a page."""
    return "write" if isinstance(conversation.brief, WriteBrief) else "split"


def check_length(question: DelegatedRequest) -> None:
    """Raises `ModelError` if the question is too long to be shown."""
    length = tokens(shown(question, "", 0))
    if length > LONGEST_TASK:
        raise ModelError(f"its task is too long to be shown: {length:,} tokens, of {LONGEST_TASK:,} at most")


def decided(question: DelegatedRequest, arguments: Mapping[str, Any]) -> Reply:
    """The agent's decision as a model's answer. What is wrong with a single call, the loop says. Raises `ToolProblem`
    if there are no calls."""
    given = arguments.get("calls")
    if isinstance(given, str):
        given = parsed_arguments(f'{{"calls": {given}}}')[0].get("calls")
    if not isinstance(given, list):
        raise ToolProblem(f'{DECIDE} takes `calls`, a list such as [{{"name": "place", "arguments": {{…}}}}]')
    calls = tuple(_call(number, one) for number, one in enumerate(given, 1))
    reply = Reply(tool_calls=calls, stop_reason="tool_use", money=None)
    return with_usage(reply, question.conversation, lambda usage: None)


def _call(number: int, given: object) -> ToolCall:
    if not isinstance(given, Mapping):
        return ToolCall("", {}, f"c{number}", str(given))
    arguments, malformed = parsed_arguments(given.get("arguments", {}))
    return ToolCall(str(given.get("name", "")), arguments, f"c{number}", malformed)


def _last_answer(conversation: Conversation) -> int:
    """The place of the last answer among the messages; -1 if there is none."""
    places = (n for n, message in enumerate(conversation.messages) if isinstance(message, AssistantMessage))
    return max(places, default=-1)


def _task(conversation: Conversation, operation: str, seconds: float, knows_rules: bool = False) -> str:
    data = {
        "knows_rules": knows_rules,
        "kind": kind_of(conversation),
        "operation": operation,
        "time": f"{seconds:g} seconds" if seconds < 120 else f"{seconds / 60:.2g} minutes",
        "system": conversation.system.text,
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "arguments": json.dumps(tool.schema, separators=(",", ":")),
            }
            for tool in conversation.tools
        ],
        "task": conversation.messages[0].prompt.text,  # type: ignore[union-attr]  # the first is the task
    }
    return Prompt("mcp/question", data).text
