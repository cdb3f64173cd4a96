"""The tools that an agent gets: their names, arguments and descriptions, and the operation behind each.

The descriptions are `prompts/memory_tools/<name>.md.j2`. An argument that may be left out may also be null, as strict
schemas have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from memory_v2.memory import Memory
from memory_v2.models.base import Prompt
from memory_v2.tools import answers, arguments
from memory_v2.tools.answers import Answer

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool: the dataclass of its `arguments`, and `run`, which carries a call out. It changes
    pages, entries or nothing."""

    name: str
    arguments: type[A]
    run: Callable[[Memory, A], Answer]
    changes: Literal["nothing", "entries", "tree"] = "tree"

    def about(self, memory: Memory) -> str:
        """The description: when to use the tool, what it returns, what to do about an error."""
        return Prompt(f"memory_tools/{self.name}", {"threshold": f"{memory.threshold:,}"}).text

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments; what is not required may be left out or null."""
        from memory_v2.agent.arguments import schema_of  # imports pydantic

        return schema_of(self.arguments)

    @property
    def is_read_only(self) -> bool:
        """Whether the tool changes nothing."""
        return self.changes == "nothing"


TOOLS: tuple[Tool[Any], ...] = (
    Tool("read_memory", arguments.Read, answers.read, changes="nothing"),
    Tool("write_memory", arguments.Write, answers.write),
    Tool("capture_memory", arguments.Capture, answers.capture, changes="entries"),
    Tool("replace_in_memory", arguments.Replace, answers.replace),
    Tool("search_memory", arguments.Search, answers.search, changes="nothing"),
    Tool("list_memory_files", arguments.ListFiles, answers.list_files, changes="nothing"),
    Tool("split_memory", arguments.Split, answers.split),
    Tool("get_memory_graph", arguments.Graph, answers.graph, changes="nothing"),
    Tool("delete_memory", arguments.Delete, answers.delete),
    Tool("memory_history", arguments.History, answers.history, changes="nothing"),
    Tool("undo_memory", arguments.Undo, answers.undo),
)
"""All tools, the most important first."""
