"""What a person can choose in the host: recall, remember, tidy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, GetPromptResult, PromptArgument, PromptMessage, TextContent

from memory_v2.mcp.frame import framed
from memory_v2.memory import Memory
from memory_v2.models.base import Prompt
from memory_v2.text.amounts import size
from memory_v2.tools import dispatch

LARGEST = 20
"""Limits the pages that `tidy` names."""


@dataclass(frozen=True, slots=True)
class _Offered:
    about: str
    argument: PromptArgument
    text: Callable[[Memory, str], str]


def _recall(memory: Memory, question: str) -> str:
    found = dispatch(memory, "search_memory", {"query": question})
    return Prompt("mcp/recall", {"question": question, "found": framed(found.text)}).text


def _tidy(memory: Memory, page: str) -> str:
    inside = [file for file in memory.list_files() if not page or f"{file.path}/".startswith(f"{page.strip('/')}/")]
    if page and not inside:
        raise MCPError(INVALID_PARAMS, f"there is no page {page[:80]!r}; resources/list lists all pages")
    largest = sorted(inside, key=lambda one: -one.size_bytes)[:LARGEST]
    lines = [f"{one.path} ({size(one.size_bytes)})" for one in largest]
    return Prompt("mcp/tidy", {"page": page, "pages": lines}).text


_PROMPTS: Mapping[str, _Offered] = {
    "recall": _Offered(
        "Answer a question from the memory.",
        PromptArgument(name="question", description="What you want to know.", required=True),
        _recall,
    ),
    "remember": _Offered(
        "Keep something in the memory.",
        PromptArgument(name="text", description="What is to be kept, in your words.", required=True),
        lambda memory, text: Prompt("mcp/remember", {"text": text}).text,
    ),
    "tidy": _Offered(
        "Correct, divide and clean up pages of the memory.",
        PromptArgument(name="page", description="Only this page and those below it.", required=False),
        _tidy,
    ),
}


def list_prompts() -> types.ListPromptsResult:
    """The prompts with their arguments."""
    listed = (types.Prompt(name=name, description=of.about, arguments=[of.argument]) for name, of in _PROMPTS.items())
    return types.ListPromptsResult(prompts=list(listed))


def get_prompt(memory: Memory, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """The message of a prompt. Raises `MCPError` for an unknown one, a missing argument or an unknown page."""
    if (offered := _PROMPTS.get(name)) is None:
        raise MCPError(INVALID_PARAMS, f"there is no prompt {name[:80]!r}; the prompts are {', '.join(_PROMPTS)}")
    given = arguments.get(offered.argument.name, "").strip()
    if offered.argument.required and not given:
        raise MCPError(INVALID_PARAMS, f"the prompt {name} needs the argument {offered.argument.name!r}")
    message = PromptMessage(role="user", content=TextContent(text=offered.text(memory, given)))
    return GetPromptResult(description=offered.about, messages=[message])
