"""The definitions of the tools in the form of each vendor, and running a tool call of a model. Whatever the model has
sent, the answer is a result; a wrong call changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from memory_v2.agent.arguments import checked
from memory_v2.errors import (
    Cancelled,
    InvalidPath,
    InvalidSetting,
    InvalidText,
    ModelError,
    NotAllowed,
    PageNotFound,
    SilicaError,
    StorageConflict,
    StorageError,
    ToolProblem,
)
from memory_v2.memory import Memory
from memory_v2.tools.answer import ToolResult
from memory_v2.tools.tools import TOOLS, Tool
from memory_v2.tree.path import ROOT, similar_paths


def claude_tools(memory: Memory) -> list[dict[str, Any]]:
    """The tools for the `tools` of Anthropic's Messages API."""
    return [{"name": tool.name, "description": tool.about(memory), "input_schema": dict(tool.schema)} for tool in TOOLS]


def openai_tools(memory: Memory) -> list[dict[str, Any]]:
    """The tools for the `tools` of OpenAI's Chat Completions API, with strict schemas; LiteLLM takes them too."""
    return [{"type": "function", "function": _function(tool, memory)} for tool in TOOLS]


def openai_responses_tools(memory: Memory) -> list[dict[str, Any]]:
    """The tools for the `tools` of OpenAI's Responses API, with strict schemas."""
    return [{"type": "function", **_function(tool, memory)} for tool in TOOLS]


def _function(tool: Tool, memory: Memory) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.about(memory),
        "parameters": _strict(tool.schema),
        "strict": True,
    }


def _strict(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as strict function calling wants it: every argument is required, and one that may be left out may be
    null instead. Ranges are left out, since not every endpoint takes them; the descriptions tell them."""
    required = schema.get("required", ())
    properties = {
        name: _told(argument, may_be_null=name not in required) for name, argument in schema["properties"].items()
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _told(argument: Mapping[str, Any], may_be_null: bool) -> dict[str, Any]:
    told = {key: value for key, value in argument.items() if key not in ("minimum", "maximum")}
    if may_be_null:
        told["type"] = [told["type"], "null"]
        if "enum" in told:
            told["enum"] = [*told["enum"], None]
    return told


LONGEST_ERROR = 1_000
"""Limits an error, in characters: it may repeat what a model has sent."""
_BY_NAME = {tool.name: tool for tool in TOOLS}
_NEXT: tuple[tuple[type[SilicaError], str], ...] = (
    (InvalidPath, "Nothing was changed. A path looks like projects/silica; list_memory_files lists all."),
    (InvalidText, "Nothing was changed. Correct the text and call the tool again."),
    (InvalidSetting, "Nothing was changed. Correct the argument and call the tool again."),
    (NotAllowed, "Nothing was changed. memory_history lists past changes with their ids."),
    (Cancelled, "Do not call the tool again unless the user asks for it."),
    (StorageConflict, "Nothing was changed. Call the tool again."),
    (StorageError, "What was stored before is still there. Call the tool once more, and then tell the user."),
    (ModelError, "Call the tool once more, and then tell the user."),
)
"""What to do about an error; the first match counts."""


def dispatch(memory: Memory, name: str, arguments: Mapping[str, Any] | str | None) -> ToolResult:
    """Runs the tool `name`. `arguments` are an object, or the JSON text of one, as models send them. A call that is
    wrong, and an operation that fails, give a result with `is_error`."""
    try:
        return _run(memory, name, arguments)
    except SilicaError as error:
        return refusal(error, _where_else(memory, error.path) if isinstance(error, PageNotFound) else next_move(error))


def refusal(error: SilicaError, advice: str = "") -> ToolResult:
    """The result of a call that failed: what happened, and what to do next."""
    said = str(error)
    said = said if len(said) <= LONGEST_ERROR else said[:LONGEST_ERROR] + "…"
    begins_with_name = "_" in said.split(" ", 1)[0]
    text = f"{said if begins_with_name else said[:1].upper() + said[1:]}".rstrip(".") + f". {advice}".rstrip()
    kind = next(kind.__name__ for kind in type(error).__mro__ if not kind.__name__.startswith("_"))
    return ToolResult(text, {"error": {"kind": kind, "message": text}}, is_error=True)


def _run(memory: Memory, name: object, arguments: Mapping[str, Any] | str | None) -> ToolResult:
    tool = _BY_NAME.get(name) if isinstance(name, str) else None
    if tool is None:
        raise ToolProblem(f"there is no tool {str(name)[:80]!r}; the tools are {', '.join(_BY_NAME)}")
    return tool.run(memory, **checked(tool.name, tool.run, as_object(tool.name, arguments)))


def as_object(tool: str, arguments: Mapping[str, Any] | str | None) -> Mapping[str, Any]:
    """The arguments of a call as an object. Raises `ToolProblem` if they are none."""
    given: Any = arguments
    if isinstance(given, str | bytes):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError) as error:
            raise ToolProblem(f"the arguments of {tool} are not valid JSON: {error}. Send one JSON object") from error
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ToolProblem(f"the arguments of {tool} are a JSON object, not {type(given).__name__}")
    return given


def next_move(error: SilicaError) -> str:
    """What a model is to do about an error; empty if the error says it itself."""
    return next((advice for kind, advice in _NEXT if isinstance(error, kind)), "")


def _where_else(memory: Memory, path: str) -> str:
    """What to do about a page that does not exist: pages with similar paths, if there are any."""
    known: list[str] = []
    with suppress(SilicaError):  # the advice is not worth another error
        known = [page.path for page in memory.list_files()]
    if not known:
        return "The memory is empty: there is nothing to read yet, and write_memory begins it."
    if similar := similar_paths(path, known):
        return f"Did you mean {' or '.join(similar)}? list_memory_files lists all pages."
    return f"list_memory_files lists all pages, and the root page is {ROOT!r}."
