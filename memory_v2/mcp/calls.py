"""A tool call that a thread carries out, while the server goes on serving.

The core is synchronous, and a call may wait minutes for a decision. So each call has a thread of its own, which tells
the event loop what happens: how far it is, what it has to ask, and last its result.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from memory_v2.errors import ModelError
from memory_v2.memory import Memory
from memory_v2.models.asked import Question
from memory_v2.models.base import Reply
from memory_v2.progress import heard_by
from memory_v2.tools import ToolResult
from memory_v2.trace.recording import Event

logger = logging.getLogger(__name__)

PROGRESS_SECONDS = 0.25
"""The shortest time between two messages about the progress of a call, in seconds: a person reads no faster."""
FAULT = "This is a bug in silica, and its log says more. The tree is whole; read the page before you try again."

_current: ContextVar[Call | None] = ContextVar("call", default=None)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a call is, in words."""

    message: str


Told: TypeAlias = Progress | Question | ToolResult


class Call:
    """One call of a tool on this memory. `told` is filled in order: progress, questions, and last the result."""

    def __init__(self, memory: Memory, act: Callable[[], ToolResult]) -> None:
        self.told: asyncio.Queue[Told] = asyncio.Queue()
        self.operation = ""
        """The id of its operation in the history; empty until that begins."""
        self._memory = memory
        self._act = act
        self._loop = asyncio.get_running_loop()
        self._question: Question | None = None
        self._is_cancelled = False
        self._next_progress = 0.0
        self._thread = threading.Thread(target=self._carry_out, name="a tool call", daemon=True)

    def start(self) -> None:
        """Begins to carry the call out, unless it has begun."""
        if self._thread.ident is None:
            self._thread.start()

    def join(self, seconds: float) -> None:
        """Waits until the call has ended, so many seconds at most."""
        if self._thread.ident is not None:
            self._thread.join(max(seconds, 0.0))

    @property
    def has_ended(self) -> bool:
        """Whether its thread has ended."""
        return self._thread.ident is not None and not self._thread.is_alive()

    @property
    def question(self) -> Question | None:
        """The question that waits for an answer, if there is one."""
        return self._question if self._question is not None and self._question.is_open else None

    def ask(self, question: Question) -> None:
        """Tells a question, from any thread."""
        self._question = question
        self._tell(question)

    def answer(self, answer: Reply | ModelError) -> bool:
        """Answers the question that waits; returns whether there was one."""
        return self._question is not None and self._question.answer(answer)

    def cancel(self) -> None:
        """Cancels the operation, now or as soon as it begins. Waits while its change is being stored."""
        self._is_cancelled = True
        if self.operation:
            self._memory.cancel(self.operation)

    def in_loop(self, run: Callable[[], object]) -> None:
        """Has something run in the event loop, from any thread."""
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(run)

    def _begun(self, operation: str) -> None:
        self.operation = operation
        if self._is_cancelled:
            self._memory.cancel(operation)

    def _carry_out(self) -> None:
        _current.set(self)
        try:
            with heard_by(self._hear):
                result = self._act()
        except Exception:  # the edge of this face: the server goes on
            logger.exception("a tool call broke down")
            result = ToolResult(FAULT, {}, is_error=True)
        self._tell(result)

    def _hear(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if now >= self._next_progress:
            self._next_progress = now + PROGRESS_SECONDS
            self._tell(Progress(f"{what}: {done} of {total}" if total else f"{what}: {done}"))

    def _tell(self, told: Told) -> None:
        self.in_loop(partial(self.told.put_nowait, told))


def note_operation(operation: str, event: Event) -> None:
    """Notes which operation the call of this thread carries out: the listener of a memory that is served."""
    if event["event"] == "begin" and (call := _current.get()) is not None:
        call._begun(operation)
