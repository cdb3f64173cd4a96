"""The definitions of the tools in the form of each vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memory_v2.memory import Memory
from memory_v2.tools.tools import TOOLS, Tool


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
