"""The contract of a task: one decision that a model is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from memory_v2.agent.tools import Tool
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import Brief


class Task(Protocol):
    """One decision to be made. A task collects what the tools stage. If a model fails, its task is discarded and the
    next model starts with a new one."""

    @property
    def kind(self) -> str:
        """The kind of decision: `write`, `split` or `search`."""

    @property
    def brief(self) -> Brief:
        """The task as data."""

    @property
    def system(self) -> Prompt:
        """The system prompt, with the rules for the decision: the same for every task of a kind."""

    @property
    def first_message(self) -> Prompt:
        """The first message: what to decide this time."""

    @property
    def tools(self) -> Sequence[Tool[Any]]:
        """The tools that the model can call."""

    @property
    def reads_on(self) -> bool:
        """Whether a model that asks to read beside its last decision is shown that before the task ends."""

    @property
    def max_corrections(self) -> int:
        """How often a decision that fails the guard is sent back before another model takes over."""

    def objections(self) -> list[str]:
        """The guard: the problems of the decision so far, each with what to do about it; empty if it can be carried
        out."""

    def reminders(self) -> list[str]:
        """What may have been forgotten, each with what to do about it. It is told once; then the decision stands."""

    def checked(self) -> list[str]:
        """What the guard has verified of a decision that passed, one sentence each, for the trace."""
