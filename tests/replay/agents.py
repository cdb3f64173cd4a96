"""A coding agent, of which only the loop is here: it is told something, calls tools, and answers.

The loops are those of `examples/`, in parts. What the agent remembers is what its tools tell: each session is a new
conversation.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypeVar

from anthropic import Anthropic
from openai import OpenAI

from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall, Usage
from memory_v2.tools import claude_tools, dispatch, openai_tools

AGENT_WIRES = ("agent-anthropic", "agent-openai")
PATIENCE = 3_600.0
"""Seconds for one answer: who answers behind a local endpoint may be slow."""
MAX_OUTPUT_TOKENS = 4_096
AGENT = """\
You are a coding agent in a user's terminal. Help with their software, and answer briefly: a few lines of plain text, no
headings. In this session you have no files and no shell, only the tools that are listed. If you do not know something,
say so. Today is {day}.

{more}"""
"""The words of a plain coding agent, with the day, and with what a memory adds to them."""
MOST_TURNS = 12
"""Limits the model's turns until it answers a user: one that needs more goes in circles."""

ADDED = {"search_memory": {"since", "agent", "tags"}}
"""Arguments that tools have had since these conversations were recorded, by tool. All may be left out, so an agent that
is not told of them is answered as before. None is left here when the conversations are recorded again."""

T = TypeVar("T", contravariant=True)
Result: TypeAlias = tuple[ToolCall, str, bool]
"""A call, what its answer says, and whether it is an error."""
CarryOut: TypeAlias = Callable[[ToolCall], tuple[str, bool]]
"""Runs a call: what its answer says, and whether it is an error."""


def as_recorded(tools: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The tools, by either API, without the arguments that were `ADDED`."""
    told = copy.deepcopy(list(tools))
    for tool in told:
        function: Any = tool.get("function", tool)
        schema = function.get("parameters") or function["input_schema"]
        for name in ADDED.get(function["name"], ()):
            del schema["properties"][name]
            schema["required"] = [one for one in schema["required"] if one != name]
    return told


class Answering(Protocol[T]):
    """What answers a conversation."""

    @property
    def name(self) -> str:
        """Who it is."""

    def respond(self, conversation: T) -> Reply:
        """The next answer."""


@dataclass
class Talk:
    """A conversation in the form of a vendor's API, to which answers and results are added."""

    system: str
    tools: Sequence[Mapping[str, Any]]
    messages: list[Any] = field(default_factory=list)


class ClaudeAgent:
    """An agent by Anthropic's Messages API."""

    def __init__(self, model: str, key: str, endpoint: str) -> None:
        self.name = f"anthropic:{model}"
        self._model = model
        self._client = Anthropic(api_key=key, base_url=endpoint, max_retries=0, timeout=PATIENCE)

    def tools(self, memory: Memory) -> Sequence[Mapping[str, Any]]:
        """The memory's tools, as this API takes them."""
        return as_recorded(claude_tools(memory))

    def respond(self, conversation: Talk) -> Reply:
        """The next answer, which is added to the conversation."""
        sent: Any = self._client.messages.create(
            model=self._model,
            max_tokens=MAX_OUTPUT_TOKENS,
            system=conversation.system,
            tools=conversation.tools,  # type: ignore[arg-type]  # plain data
            messages=conversation.messages,
        )
        conversation.messages.append({"role": "assistant", "content": sent.content})
        return Reply(
            "".join(block.text for block in sent.content if block.type == "text"),
            tuple(ToolCall(one.name, one.input, one.id) for one in sent.content if one.type == "tool_use"),
            Usage(sent.usage.input_tokens, sent.usage.output_tokens),
        )

    def tell(self, talk: Talk, results: Sequence[Result]) -> None:
        """Adds the results of the last calls."""
        told = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": is_error}
            for call, text, is_error in results
        ]
        talk.messages.append({"role": "user", "content": told})


class ChatAgent:
    """An agent by OpenAI's Chat Completions API."""

    def __init__(self, model: str, key: str, endpoint: str) -> None:
        self.name = f"openai:{model}"
        self._model = model
        self._client = OpenAI(api_key=key, base_url=endpoint, max_retries=0, timeout=PATIENCE)

    def tools(self, memory: Memory) -> Sequence[Mapping[str, Any]]:
        """The memory's tools, as this API takes them."""
        return as_recorded(openai_tools(memory))

    def respond(self, conversation: Talk) -> Reply:
        """The next answer, which is added to the conversation."""
        completion: Any = self._client.chat.completions.create(
            model=self._model,
            tools=conversation.tools,  # type: ignore[arg-type]  # plain data
            messages=[{"role": "system", "content": conversation.system}, *conversation.messages],
        )
        sent, usage = completion.choices[0].message, completion.usage
        said: dict[str, Any] = {"role": "assistant", "content": sent.content}
        if sent.tool_calls:
            said["tool_calls"] = [call.model_dump() for call in sent.tool_calls]
        conversation.messages.append(said)
        return Reply(
            sent.content or "",
            tuple(
                ToolCall(one.function.name, json.loads(one.function.arguments), one.id) for one in sent.tool_calls or ()
            ),
            Usage(usage.prompt_tokens, usage.completion_tokens),
        )

    def tell(self, talk: Talk, results: Sequence[Result]) -> None:
        """Adds the results of the last calls."""
        talk.messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text, _ in results]


class Desk:
    """Where a user sits with an agent, session after session. `answers` are the agent's, one for each thing that the
    user said; `calls` are those of its tools, session by session."""

    def __init__(self, agent: Any) -> None:
        """`agent`: a watched `ClaudeAgent` or `ChatAgent`."""
        self.agent = agent
        self.answers: list[str] = []
        self.calls: list[list[ToolCall]] = []

    def session(
        self,
        system: str,
        tools: Sequence[Mapping[str, Any]],
        said: Sequence[str],
        carry_out: CarryOut,
    ) -> None:
        """A new conversation, in which the user says these things."""
        talk = Talk(system, tools)
        self.calls.append([])
        for words in said:
            talk.messages.append({"role": "user", "content": words})
            self.answers.append(self._answer(talk, carry_out))

    def _answer(self, talk: Talk, carry_out: CarryOut) -> str:
        for _ in range(MOST_TURNS):
            reply: Reply = self.agent.respond(talk)
            if not reply.tool_calls:
                return reply.text
            self.calls[-1] += reply.tool_calls
            self.agent.model.tell(talk, [(call, *carry_out(call)) for call in reply.tool_calls])
        raise AssertionError(f"no answer after {MOST_TURNS} turns")


def carried_out_on(memory: Memory) -> CarryOut:
    """Runs the calls of an agent's tools."""

    def carry_out(call: ToolCall) -> tuple[str, bool]:
        result = dispatch(memory, call.name, call.arguments)
        return result.text, result.is_error

    return carry_out
