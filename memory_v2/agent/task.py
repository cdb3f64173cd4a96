"""What a model is asked to decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from memory_v2.agent.tools import Tool
from memory_v2.models.base import Prompt
from memory_v2.models.briefs import Brief


class Task(Protocol):
    """One decision to be made. A task gathers what the tools stage; a model that fails leaves it behind, and the next
    one starts with a new task."""

    @property
    def kind(self) -> str:
        """What kind of decision it is: `write`, `split`, `search`."""

    @property
    def brief(self) -> Brief:
        """The task as data."""

    @property
    def system(self) -> Prompt:
        """Who the model is and by which rules it decides: the same for every task of the kind."""

    @property
    def first_message(self) -> Prompt:
        """The first message: what is to be decided this time."""

    @property
    def tools(self) -> Sequence[Tool[Any]]:
        """What the model can do."""

    @property
    def max_corrections(self) -> int:
        """How often a decision that fails the guard is sent back before another model takes over."""

    def objections(self) -> list[str]:
        """The guard: what is wrong with what has been decided so far, each with what to do about it; empty when it can
        be carried out."""

    def checked(self) -> list[str]:
        """What the guard found to hold of a decision that passed it, for the trace: one sentence each."""
