"""The types that all models share: a model gets a conversation and answers with tool calls. The keys of its provider
are hidden in what is logged, recorded or shown, and never in what is decided on."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast

if TYPE_CHECKING:
    from memory_v2.models.briefs import Brief

HIDDEN = "…"
MIN_LENGTH = 8
"""The shortest key that is hidden, in characters. Shorter ones are placeholders for local servers, such as `ollama`:
words that any text may hold."""

_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


def keys_sent(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The keys in the headers of a request."""
    return long_enough(headers.get(name, "").rpartition(" ")[2] for name in _HEADERS)


def long_enough(keys: Iterable[str | None]) -> tuple[str, ...]:
    """Those of these keys that are hidden, longest first, since a key may be part of another."""
    return tuple(sorted({key for key in keys if key and len(key) >= MIN_LENGTH}, key=lambda key: (-len(key), key)))


def hidden(value: Any, keys: Collection[str]) -> Any:
    """The same plain data without these keys. Raises `RecursionError` for data that is nested too deeply."""
    if not keys:
        return value
    if isinstance(value, str):
        for key in keys:
            value = value.replace(key, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {hidden(name, keys): hidden(part, keys) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [hidden(part, keys) for part in value]
    return value


StopReason: TypeAlias = Literal["end", "tool_use", "length", "refusal", "other"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as the model made it, unchecked. If the arguments were not a JSON object, `arguments` is empty and
    `malformed` holds what was sent."""

    name: str
    arguments: Mapping[str, Any]
    id: str = ""
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `input_tokens` counts everything that was sent, including `cached_tokens` (read from a
    cache) and `cache_write_tokens` (written to one)."""

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
    """A model's answer. `money` is its price in US dollars, or `None` if the price is unknown; `raw` is the provider's
    own message as plain data, if there is one. `keys` are those of the request, which some providers repeat; a record
    of the answer leaves them out. `is_estimate` if the provider told no usage, and it was estimated."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    stop_reason: StopReason = "end"
    money: float | None = 0.0
    raw: Any = None
    keys: tuple[str, ...] = field(default=(), repr=False, compare=False)
    is_estimate: bool = False

    @property
    def is_well_formed(self) -> bool:
        """Whether its values have the declared types; a model written by somebody else may return others."""
        parts = (self.text, self.tool_calls, self.usage, self.money, self.keys)
        text, calls, usage, money, keys = (cast(Any, part) for part in parts)
        return (
            isinstance(text, str)
            and isinstance(calls, tuple | list)
            and all(isinstance(call, ToolCall) for call in calls)
            and isinstance(usage, Usage)
            and all(isinstance(tokens, int) and tokens >= 0 for tokens in astuple(usage))
            and isinstance(keys, tuple)
            and (money is None or (isinstance(money, int | float) and 0 <= money < math.inf))
        )


@dataclass(frozen=True)
class Prompt:
    """A message as data; the template `prompts/<template>.md.j2` renders it when it is read."""

    template: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The message in words."""
        from memory_v2.prompts import render

        return render(self.template, self.data)


class ToolSpec(Protocol):
    """A tool as a model sees it. Its texts are rendered when they are read; the offline planner never reads them."""

    @property
    def name(self) -> str:
        """The name of the tool."""

    @property
    def description(self) -> str:
        """What it is for and how it is used."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message from the program."""

    prompt: Prompt


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """An answer of the model."""

    reply: Reply


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """The result of a tool call; `is_error` if the model must correct the call."""

    call: ToolCall
    prompt: Prompt
    is_error: bool = False


Message: TypeAlias = UserMessage | AssistantMessage | ToolMessage


@dataclass
class Conversation:
    """What a model is asked. System prompt and tools never change and messages are only appended, so that a provider
    can cache the prefix. `brief` is the task as data, for a model that reads no prose."""

    system: Prompt
    tools: tuple[ToolSpec, ...]
    brief: Brief
    messages: list[Message] = field(default_factory=list)


class Model(Protocol):
    """Anything that answers a conversation with tool calls. It raises `ModelError` if its provider fails. If it has a
    method `prepare`, that is called before each request, and its time counts against no limit."""

    @property
    def name(self) -> str:
        """The name in results and traces: `offline`, `anthropic:<model>`."""

    def respond(self, conversation: Conversation) -> Reply:
        """The next answer. Does not change the conversation."""
