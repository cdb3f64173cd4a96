"""The four ways to a provider, and a conversation for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_v2.agent.task import TaskTool
from memory_v2.models.anthropic import AnthropicModel
from memory_v2.models.base import Conversation, Message, Model, Prompt, UserMessage
from memory_v2.models.litellm import LiteLLMModel
from memory_v2.models.openai import OpenAIModel

KEY = "a-key.nobody+knows/0123"
NOBODY = "nobodys-model"
"""A model whose price nobody knows."""


@dataclass(frozen=True)
class Adapter:
    """One way to a provider: the adapter, what comes before the model's name, what comes behind the address."""

    adapter: Callable[..., Model]
    before: str = ""
    behind: str = ""

    def __call__(self, url: str, model: str = NOBODY, prices: Path | None = None, key: str = KEY) -> Model:
        """The model, at this address."""
        return self.adapter(self.before + model, api_key=key, base_url=url + self.behind, prices=prices)


ADAPTERS = {
    "anthropic": Adapter(AnthropicModel),
    "openai": Adapter(OpenAIModel, behind="/v1"),
    "litellm-anthropic": Adapter(LiteLLMModel, before="anthropic/"),
    "litellm-openai": Adapter(LiteLLMModel, before="openai/", behind="/v1"),
}


class Words(Prompt):
    """A prompt that says what it is given."""

    @property
    def text(self) -> str:
        return self.template


@dataclass(frozen=True, slots=True)
class Put:
    word: str


@dataclass(frozen=True, slots=True)
class Look:
    pages: list[str]


class Worded(TaskTool[Any]):
    """A tool with words of its own."""

    @property
    def description(self) -> str:
        return f"How to {self.name}: “so” 中."


TOOLS = (
    Worded("put", Put, lambda call: Words(call.word)),
    Worded("look", Look, lambda call: Words("nothing to see")),
)
SYSTEM = "You put words down.\n\n— Nothing else."


def conversation(*messages: Message) -> Conversation:
    """A conversation that has got so far."""
    brief: Any = None  # no adapter reads it
    return Conversation(Words(SYSTEM), TOOLS, brief, [UserMessage(Words("Put down a word.")), *messages])
