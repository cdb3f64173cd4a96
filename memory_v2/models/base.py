"""What decides: a model is given a conversation and answers with tool calls. Every provider is brought to this form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias, cast

from memory_v2.models.briefs import Brief

StopReason: TypeAlias = Literal["end", "tool_use", "length", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool as a model made it: nothing in it has been checked. Where the arguments were sent as something
    that is no JSON object, they are empty, and what was sent stands in `malformed`."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request: `input_tokens` is all that was sent, `cached_tokens` the part of it that a cache held,
    `cache_write_tokens` the part that a cache was paid to take in."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `money` is what the provider charges for it in US dollars, `None` if nobody knows the price;
    `raw` is the message as the provider sent it, as plain data, where there is such a thing."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop_reason: StopReason = "end"
    money: float | None = 0.0
    raw: Any = None

    @property
    def is_well_formed(self) -> bool:
        """Whether it is made of what its types promise: models of other people's make may not keep to them."""
        text, calls, usage, money = (cast(Any, part) for part in (self.text, self.tool_calls, self.usage, self.money))
        return (
            isinstance(text, str)
            and isinstance(calls, tuple | list)
            and all(isinstance(call, ToolCall) for call in calls)
            and isinstance(usage, Usage)
            and all(isinstance(tokens, int) and tokens >= 0 for tokens in astuple(usage))
            and (money is None or (isinstance(money, int | float) and 0 <= money < math.inf))
        )


@dataclass(frozen=True)
class Prompt:
    """A message as data, worded by the template `prompts/<template>.md.j2` when somebody reads it."""

    template: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The message in words."""
        from memory_v2.prompts import render

        return render(self.template, self.data)


class ToolSpec(Protocol):
    """A tool as a model sees it. Worded only when it is read: a model that reads the brief does not pay for it."""

    @property
    def name(self) -> str:
        """What the tool is called."""

    @property
    def description(self) -> str:
        """What it is for and how it is used."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """The program speaks."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """The model answered."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call of the last answer gave back; `is_error` if the model has to mend it."""

    call: ToolCall
    prompt: Prompt
    is_error: bool = False


Message: TypeAlias = UserMessage | AssistantMessage | ToolResult


@dataclass
class Conversation:
    """What a model is asked: the same system words and tools throughout, and messages that are only ever appended to,
    so that a provider's cache can keep the prefix. `brief` is the task as data, for a model that reads no prose."""

    system: Prompt
    tools: tuple[ToolSpec, ...]
    brief: Brief
    messages: list[Message] = field(default_factory=list)


class Model(Protocol):
    """Whatever answers a conversation with tool calls. Failures of a provider are raised as `ModelError`."""

    @property
    def name(self) -> str:
        """What it is called in results and traces: `offline`, `anthropic:<model>`."""

    def respond(self, conversation: Conversation) -> Reply:
        """The next answer; the conversation is not changed."""
