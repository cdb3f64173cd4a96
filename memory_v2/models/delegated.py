"""A model that is somebody else: what it is asked is handed over, and the answer comes from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from memory_v2.errors import ModelError
from memory_v2.models.base import Conversation, Model, Reply

HOST = "host"
"""The model where the connected agent decides; before the name of that agent, if it is known: `host:codex`."""


class DelegatedRequest:
    """One request. `conversation` does not change while the question waits for its answer."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._deciding = threading.Lock()
        self._answer: Reply | ModelError | None = None
        self._closed = threading.Event()

    @property
    def is_open(self) -> bool:
        """Whether an answer still counts."""
        return not self._closed.is_set()

    def answer(self, answer: Reply | ModelError) -> bool:
        """Gives the answer, or the reason why there is none. Returns whether it counts: only the first in time does."""
        with self._deciding:
            if self._closed.is_set():
                return False
            self._answer = answer
            self._closed.set()
            return True

    def wait(self, seconds: float) -> Reply:
        """Returns the answer. Raises `ModelError` if there is none within so many seconds."""
        self._closed.wait(seconds)
        self.answer(ModelError(f"nobody answered within {seconds:g} seconds"))
        if isinstance(self._answer, Reply):
            return self._answer
        assert self._answer is not None
        raise self._answer


class DelegatedModel:
    """Hands each request to `ask`, and waits so many seconds for the answer. `ask` raises `ModelError` if nobody can be
    asked; it must not wait."""

    def __init__(self, name: str, ask: Callable[[DelegatedRequest], object], seconds: float) -> None:
        self.name = name
        self._ask = ask
        self._seconds = seconds

    def respond(self, conversation: Conversation) -> Reply:
        """The answer that somebody gave."""
        question = DelegatedRequest(conversation)
        self._ask(question)
        return question.wait(self._seconds)


_: type[Model] = DelegatedModel
