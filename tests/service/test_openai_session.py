"""The adapter for OpenAI's Agents SDK, under the SDK itself with a scripted model."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from memory_v2.errors import StorageError
from memory_v2.service.openai_session import ServiceSession
from tests.service.running import Running, running

# Its websockets, older than 17, may hang when a connection is closed: it is not among what developers install.
pytest.importorskip("agents", reason="pip install openai-agents to try the adapter under the SDK")
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.items import TResponseStreamEvent
from agents.memory import Session


class Echo(Model):  # type: ignore[misc]
    """Answers with how many items it was given."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002
        text = ResponseOutputText(text=f"{len(input)} items", type="output_text", annotations=[])
        message = ResponseOutputMessage(id="m", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


@pytest.fixture
def session(shared: Running) -> ServiceSession:
    return another(shared, f"CHAT-{uuid.uuid4()}")


def another(service: Running, session_id: str, source: str = "hawk") -> ServiceSession:
    """The session as another process has it."""
    return ServiceSession(session_id, service.address, service.key(source))


def test_two_processes_go_on_with_one_conversation(shared: Running, session: ServiceSession) -> None:
    as_any: Any = session
    assert isinstance(as_any, Session)
    quiet = RunConfig(tracing_disabled=True)

    async def talk() -> list[str]:
        agent = Agent(name="a", model=Echo())
        first = await Runner.run(agent, "Hello", session=as_any, run_config=quiet)
        elsewhere: Any = another(shared, session.session_id, "owl")
        second = await Runner.run(agent, "And now?", session=elsewhere, run_config=quiet)
        return [first.final_output, second.final_output]

    assert asyncio.run(talk()) == ["1 items", "3 items"]
    items = asyncio.run(session.get_items())
    assert [item["role"] for item in items] == ["user", "assistant"] * 2


def test_items_are_read_popped_and_cleared(session: ServiceSession) -> None:
    async def use() -> None:
        assert await session.get_items() == [] and await session.pop_item() is None
        await session.clear_session()
        await session.add_items([{"n": number} for number in range(5)])
        assert [item["n"] for item in await session.get_items(limit=2)] == [3, 4]
        assert await session.get_items(limit=0) == []
        assert await session.pop_item() == {"n": 4}
        assert len(await session.get_items()) == 4
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(use())


def test_a_context_that_was_there_before_is_kept(shared: Running, session: ServiceSession) -> None:
    client = shared.client("hawk")
    client.post("/context", json={"session_id": session.session_id, "metadata": {"platform": "claude"}})
    asyncio.run(session.add_items([{"n": 1}]))
    assert client.get(f"/context/{session.session_id}").json()["metadata"]["platform"] == "claude"
    assert asyncio.run(session.get_items()) == [{"n": 1}]


def test_of_many_at_once_each_item_is_added_and_popped_once(shared: Running, session: ServiceSession) -> None:
    async def use() -> list[Any]:
        others = [another(shared, session.session_id) for _ in range(6)]
        await asyncio.gather(*(each.add_items([{"n": number}]) for number, each in enumerate(others)))
        return await asyncio.gather(*(each.pop_item() for each in others[:3]))

    popped = asyncio.run(use())
    rest = asyncio.run(session.get_items())
    assert sorted(item["n"] for item in [*popped, *rest]) == list(range(6))


def test_a_refusal_is_no_empty_conversation(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        wrong = ServiceSession("S", service.address, "dm_000000000000_x")
        with pytest.raises(StorageError, match="401"):
            asyncio.run(wrong.get_items())
