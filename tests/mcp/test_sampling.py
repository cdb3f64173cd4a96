"""The client's own model decides, where the client offers sampling with tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ErrorData,
    SamplingCapability,
    SamplingToolsCapability,
    TextContent,
    ToolResultContent,
    ToolUseContent,
)

from tests.mcp.scenes import AGES, Mode, connected, pages, play, refused, served, words

ages = pytest.mark.parametrize("mode", AGES)
TEXT = "Leeks are planted in March."
Answer = CreateMessageResult | CreateMessageResultWithTools | ErrorData


def use(*calls: tuple[str, dict[str, Any]]) -> CreateMessageResultWithTools:
    made = (ToolUseContent(name=name, id=f"u{n}", input=given) for n, (name, given) in enumerate(calls))
    return CreateMessageResultWithTools(role="assistant", content=[*made], model="a-model", stop_reason="toolUse")


def said(text: str) -> CreateMessageResultWithTools:
    content = TextContent(text=text)
    return CreateMessageResultWithTools(role="assistant", content=content, model="a-model", stop_reason="endTurn")


def sampling(answers: Sequence[Answer]) -> tuple[list[CreateMessageRequestParams], dict[str, Any]]:
    """The options of a client that answers so, and what it will have been asked."""
    seen: list[CreateMessageRequestParams] = []
    left = iter(answers)

    async def answer(_: Any, params: CreateMessageRequestParams) -> Answer:
        seen.append(params)
        return next(left)

    offered = SamplingCapability(tools=SamplingToolsCapability())
    return seen, {"sampling_callback": answer, "sampling_capabilities": offered}


def wrote(mode: Mode, options: dict[str, Any], check: Callable[[Any], object]) -> dict[str, str]:
    """Writes the text as such a client, checks the facts of the result, and returns the pages."""
    memory = served()

    async def scene() -> None:
        async with connected(memory, "sampling", mode, **options) as client:
            result = await client.call_tool("write_memory", {"content": TEXT})
            assert not result.is_error, words(result)
            check(result.structured_content)

    play(scene)
    assert not memory.running()
    return pages(memory)


@ages
def test_the_model_of_the_client_is_shown_what_a_model_is_shown_and_decides(mode: Mode) -> None:
    seen, options = sampling([use(("place", {"blocks": "n1", "page": "memory"}))])
    written = wrote(mode, options, lambda facts: facts["decided_by"] == "sampling:an-agent" or pytest.fail(str(facts)))
    assert TEXT in written["memory"]
    (asked,) = seen
    assert "You keep the memory" in (asked.system_prompt or "")
    assert "place" in {tool.name for tool in asked.tools or ()}
    assert "[n1] Leeks" in str(asked.messages[0].content)


@ages
def test_a_wrong_decision_is_sent_back_with_its_results(mode: Mode) -> None:
    wrong, right = ({"blocks": blocks, "page": "memory"} for blocks in ("n8", "n1"))
    seen, options = sampling([said("Well…"), use(("place", wrong), ("sing", {})), use(("place", right))])
    assert TEXT in wrote(mode, options, lambda facts: facts["degraded"] == "" or pytest.fail(str(facts)))["memory"]
    roles = [[one.role for one in params.messages] for params in seen]
    assert roles[2] == ["user", "assistant", "user", "assistant", "user"]
    results = seen[2].messages[-1].content_as_list
    assert [(one.tool_use_id, one.is_error) for one in results if isinstance(one, ToolResultContent)] == [
        ("u0", True),
        ("u1", True),
    ]


REFUSED = [ErrorData(code=INVALID_REQUEST, message="the user said no")]
WORDS = [said("I would rather not."), said("No.")]
WRONG = [use(("place", {"blocks": "n1", "page": "nowhere"}))] * 20


@pytest.mark.parametrize(
    ("answers", "reason", "mode"),
    [
        (REFUSED, "the user said no", "legacy"),  # a newer client gives the whole call up
        (WRONG, "limit of 16 turns", "legacy"),  # so it does after ten turns
        (WORDS, "without using a tool", "legacy"),
        (WORDS, "without using a tool", "auto"),
    ],
    ids=["refused", "always wrong", "words", "words-auto"],
)
def test_a_client_that_does_not_decide_is_helped_out_by_the_planner(
    answers: list[Answer], reason: str, mode: Mode
) -> None:
    _, options = sampling(answers)

    def check(facts: Any) -> None:
        assert facts["decided_by"] == "offline"
        assert facts["degraded"].startswith("sampling:an-agent: ")
        assert reason in facts["degraded"]

    assert TEXT in "".join(wrote(mode, options, check).values())


def test_what_a_client_gives_up_is_filed_when_nobody_answers() -> None:
    memory = served()

    async def scene() -> None:
        _, options = sampling(REFUSED)
        async with connected(memory, "sampling", wait=0.2, **options) as client:
            with pytest.raises(MCPError):
                await client.call_tool("write_memory", {"content": TEXT})
            while memory.running():
                await anyio.sleep(0.01)

    play(scene)
    assert TEXT in "".join(pages(memory).values())


def test_an_answer_to_a_question_of_another_life_is_refused() -> None:
    async def scene() -> None:
        async with connected(served(), "sampling") as client:
            result = await client.session.call_tool("write_memory", {"content": TEXT}, request_state="0123456789")
            assert "do not write it again" in refused(result)

    play(scene)


@ages
def test_without_sampling_the_planner_decides_and_the_result_says_why(mode: Mode) -> None:
    def check(facts: Any) -> None:
        assert facts["decided_by"] == "offline"
        assert "--decide host" in facts["degraded"]

    assert TEXT in "".join(wrote(mode, {}, check).values())


@ages
def test_a_search_is_decided_by_the_model_of_the_client_too(mode: Mode) -> None:
    memory = served()
    memory.write(TEXT)
    seen, options = sampling([use(("answer", {"results": [{"place": "p1", "score": 1, "context": "the month"}]}))])

    async def scene() -> None:
        async with connected(memory, "sampling", mode, **options) as client:
            assert "March" in words(await client.call_tool("search_memory", {"query": "When are leeks planted?"}))

    play(scene)
    assert len(seen) == 1
