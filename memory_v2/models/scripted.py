"""A model that follows a script, for testing this package and anything built on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from memory_v2.errors import ModelError
from memory_v2.models.base import Conversation, Message, Model, Reply, ToolMessage, UserMessage

Answer: TypeAlias = Reply | Exception


@dataclass(frozen=True, slots=True)
class Sent:
    """What the model was sent in one call, as text."""

    system: str
    tools: tuple[str, ...]
    messages: tuple[str, ...]


class ScriptedModel:
    """Gives the answers of a list in order, or those of a function of the conversation. An exception among them is
    raised.

    `sent` records what the model was asked. When the list is used up, `ModelError` is raised.
    """

    def __init__(self, script: Iterable[Answer] | Callable[[Conversation], Answer], name: str = "scripted") -> None:
        self.name = name
        self.sent: list[Sent] = []
        self._answer = script if callable(script) else _in_order(script)

    def respond(self, conversation: Conversation) -> Reply:
        """The next answer of the script."""
        self.sent.append(
            Sent(
                conversation.system.text,
                tuple(tool.name for tool in conversation.tools),
                tuple(_words(message) for message in conversation.messages),
            )
        )
        answer = self._answer(conversation)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _in_order(script: Iterable[Answer]) -> Callable[[Conversation], Answer]:
    answers = iter(script)

    def following(_: Conversation) -> Answer:
        return next(answers, ModelError("the script has no more answers"))

    return following


def _words(message: Message) -> str:
    if isinstance(message, UserMessage | ToolMessage):
        return message.prompt.text
    return message.reply.text


_: type[Model] = ScriptedModel
