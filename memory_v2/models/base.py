"""What decides: a model is given a conversation and answers with tool calls. Every provider is brought to this form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeAlias

from memory_v2.models.briefs import Brief

StopReason: TypeAlias = Literal["end", "tool_use", "length", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool as a model made it: nothing in it has been checked."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request: `input_tokens` is all that was sent, `cached_tokens` the part that a cache held."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `raw` is what the provider sent, where there is such a thing."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop_reason: StopReason = "end"
    raw: Any = None


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
class Said:
    """The program speaks."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class Answered:
    """The model answered."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class Returned:
    """What a tool call of the last answer gave back; `is_error` if the model has to mend it."""

    call: ToolCall
    prompt: Prompt
    is_error: bool = False


Message: TypeAlias = Said | Answered | Returned


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
