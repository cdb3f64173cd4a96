"""The tools that an agent gets: their names, arguments and descriptions, and the operation behind each.

The descriptions are `prompts/memory_tools/<name>.md.j2`. An argument that may be left out may also be null, as strict
schemas have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memory_v2.entries import rows as entry_rows
from memory_v2.entries.search_row import SEARCH
from memory_v2.memory import Memory
from memory_v2.models.base import Prompt
from memory_v2.operations import rows
from memory_v2.operations.row import Row
from memory_v2.tools import answers, arguments
from memory_v2.tools.answers import Answer

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Tool(Generic[A]):
    """One tool: the `row` of its operation, the dataclass of its `arguments`, and `run`, which carries a call out."""

    name: str
    row: Row[Any]
    arguments: type[A]
    run: Callable[[Memory, A], Answer]

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
        return self.row.changes == "nothing"


TOOLS: tuple[Tool[Any], ...] = (
    Tool("read_memory", rows.READ, arguments.Read, answers.read),
    Tool("write_memory", rows.WRITE, arguments.Write, answers.write),
    Tool("capture_memory", entry_rows.CAPTURE, arguments.Capture, answers.capture),
    Tool("replace_in_memory", rows.REPLACE_TEXT, arguments.Replace, answers.replace),
    Tool("search_memory", SEARCH, arguments.Search, answers.search),
    Tool("list_memory_files", rows.LIST_FILES, arguments.ListFiles, answers.list_files),
    Tool("split_memory", rows.SPLIT, arguments.Split, answers.split),
    Tool("get_memory_graph", rows.GRAPH, arguments.Graph, answers.graph),
    Tool("delete_memory", rows.DELETE, arguments.Delete, answers.delete),
    Tool("memory_history", rows.HISTORY, arguments.History, answers.history),
    Tool("undo_memory", rows.UNDO, arguments.Undo, answers.undo),
)
"""All tools, the most important first."""
