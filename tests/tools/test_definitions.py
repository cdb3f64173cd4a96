"""The definitions of the tools: what models are told, held to the letter, and the rules of the vendors for schemas."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from memory_v2 import Memory
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tools import TOOLS, Tool, claude_tools, openai_responses_tools, openai_tools
from tests.tools.golden_files import GOLDEN, golden_texts

NAMES = [tool.name for tool in TOOLS]


@pytest.fixture
def memory() -> Memory:
    return Memory(VolatileStorage())


@pytest.mark.parametrize(("name", "text"), list(golden_texts()), ids=NAMES)
def test_a_definition_is_what_the_golden_file_says(name: str, text: str) -> None:
    assert text == (GOLDEN / f"{name}.md").read_text("utf-8")


def test_every_golden_file_is_of_a_tool() -> None:
    assert {file.stem for file in GOLDEN.iterdir()} == set(NAMES)


def test_all_forms_have_the_same_tools(memory: Memory) -> None:
    assert [tool["name"] for tool in claude_tools(memory)] == NAMES
    assert [tool["function"]["name"] for tool in openai_tools(memory)] == NAMES
    assert [tool["name"] for tool in openai_responses_tools(memory)] == NAMES


@pytest.mark.parametrize("form", [claude_tools, openai_tools, openai_responses_tools])
def test_a_definition_is_valid_for_the_sdk_of_its_vendor(form: Any, memory: Memory) -> None:
    from anthropic.types import ToolParam
    from openai.types.chat import ChatCompletionToolParam
    from openai.types.responses import FunctionToolParam
    from pydantic import TypeAdapter

    types: dict[Any, Any] = {
        claude_tools: ToolParam,
        openai_tools: ChatCompletionToolParam,
        openai_responses_tools: FunctionToolParam,
    }
    adapter: TypeAdapter[Any] = TypeAdapter(types[form])
    for tool in form(memory):
        assert adapter.validate_python(tool, extra="forbid")


@pytest.mark.parametrize("tool", openai_responses_tools(Memory(VolatileStorage())), ids=NAMES)
def test_a_strict_schema_keeps_the_rules_of_openai(tool: dict[str, Any]) -> None:
    from openai.lib._pydantic import _ensure_strict_json_schema

    schema = tool["parameters"]
    assert tool["strict"] is True
    assert schema["additionalProperties"] is False
    assert schema["required"] == list(schema["properties"])
    made_strict = _ensure_strict_json_schema(copy.deepcopy(schema), path=(), root=schema)
    assert made_strict == schema


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_exactly_the_optional_arguments_may_be_null(tool: Tool) -> None:
    strict = next(
        one["parameters"] for one in openai_responses_tools(Memory(VolatileStorage())) if one["name"] == tool.name
    )
    optional = {name for name, told in strict["properties"].items() if isinstance(told["type"], list)}
    assert optional == set(tool.schema["properties"]) - set(tool.schema.get("required", ()))
    assert all("null" in strict["properties"][name]["type"] for name in optional)
    assert all(None in told["enum"] for told in strict["properties"].values() if "enum" in told)


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_every_argument_is_described(tool: Tool) -> None:
    assert tool.schema["additionalProperties"] is False
    assert all(told["description"] for told in tool.schema["properties"].values())


@pytest.mark.parametrize("tool", TOOLS, ids=NAMES)
def test_a_description_can_be_read_in_a_minute(tool: Tool, memory: Memory) -> None:
    assert 30 < len(tool.about(memory).split()) < 200


def test_the_tools_that_change_something_are_told_from_those_that_read() -> None:
    changing = {tool.name for tool in TOOLS if not tool.is_read_only}
    assert changing == {
        "write_memory",
        "replace_in_memory",
        "capture_memory",
        "split_memory",
        "delete_memory",
        "undo_memory",
    }
