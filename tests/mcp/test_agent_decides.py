"""The connected agent decides: it gets the numbered blocks and the task, and answers by decide_memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from memory_v2.mcp import calls as tool_calls
from memory_v2.memory import Memory
from memory_v2.settings import MIN_THRESHOLD
from memory_v2.storage.base import PENDING
from memory_v2.storage.volatile import VolatileStorage
from tests.mcp.scenes import AGES, Mode, connected, make, operation_of, pages, refused, served, words
from tests.properties.whole import clock

pytestmark = pytest.mark.anyio
ages = pytest.mark.parametrize("mode", AGES)
LEEKS = "Leeks are planted in March.\n\n- Chard is sown in April."
PLACE = make("place", blocks="n1-n2", page="garden")


async def decide(client: Client, operation: str, *calls: Any) -> Any:
    return await client.call_tool("decide_memory", {"operation": operation, "calls": list(calls)})


async def asked(client: Client, text: str = LEEKS, **where: str) -> str:
    """Writes a text, and returns the operation that waits for a decision."""
    result = await client.call_tool("write_memory", {"content": text, **where})
    assert result.structured_content["is_waiting"]
    operation = operation_of(words(result))
    assert result.structured_content["operation"] == operation
    return operation


def garden(threshold: int = 10_240) -> Memory:
    memory = served(threshold=threshold)
    memory.write("# Garden\n\nTwo beds behind the house.", "garden")
    return memory


@ages
async def test_an_agent_is_shown_the_blocks_and_its_decision_is_carried_out(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode) as client:
        task = words(await client.call_tool("write_memory", {"content": LEEKS}))
        for shown in ("[n1] Leeks are planted", "[n2] - Chard", "===== NEW TEXT", "- `place`:", '"after"'):
            assert shown in task
        assert "Leeks" not in memory.read("garden")
        made = make("create_page", path="leeks", parent="garden", title="Leeks", description="When", blocks="n1-n2")
        result = await decide(client, operation_of(task), made)
        assert "'leeks'" in words(result)
        assert result.structured_content["decided_by"] == "host:an-agent"
    assert LEEKS in memory.read("leeks")
    assert not memory.storage.state.names(PENDING)


@ages
async def test_a_decision_that_cannot_be_carried_out_is_answered_by_what_is_missing(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode) as client:
        operation = await asked(client)
        told = words(await decide(client, operation, make("place", blocks="n7", page="garden")))
        assert "n1 to n2" in told
        told = words(await decide(client, operation, make("place", blocks="n1", page="garden")))
        assert "n2" in told
        assert f"The write {operation} waits" in told
        assert f"the write {operation}" in refused(await decide(client, "0" * 10, PLACE))
        assert "## Rules" not in told
        told = words(await decide(client, operation, make("read_pages", paths=["garden"])))
        assert "===== PAGE" in told
        assert "garden" in words(await decide(client, operation, make("place", blocks="n2", page="garden")))
    assert LEEKS.replace("\n\n", "\n") in memory.read("garden").replace("\n\n", "\n")


@ages
async def test_without_calls_the_whole_task_is_shown_again(mode: Mode) -> None:
    async with connected(garden(), "host", mode) as client:
        first = words(await client.call_tool("write_memory", {"content": LEEKS}))
        assert words(await decide(client, operation_of(first))) == first
        await decide(client, operation_of(first), make("place", blocks="n9", page="garden"))
        again = words(await decide(client, operation_of(first)))
        assert again.startswith(first)
        assert "n1 to n2" in again


@ages
async def test_the_rules_are_shown_once_to_a_client_that_can_be_told_from_others(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode) as client:
        first = words(await client.call_tool("write_memory", {"content": LEEKS}))
        await decide(client, operation_of(first), PLACE)
        second = words(await client.call_tool("write_memory", {"content": "Kale is sown in May."}))
        assert "## Rules" in first
        assert ("## Rules" in second) == (mode != "legacy")
        assert "[n1] Kale" in second
        assert "## Rules" in words(await decide(client, operation_of(second)))
        await decide(client, operation_of(second), make("place", blocks="n1", page="garden"))
    async with connected(memory, "host", mode) as client:
        assert "## Rules" in words(await client.call_tool("write_memory", {"content": "Beans are red."}))


@pytest.mark.parametrize(
    "calls",
    [
        json.dumps([PLACE]),
        [{"name": "place", "arguments": json.dumps(PLACE["arguments"])}],
        [PLACE, make("sing", loudly=True)],
        ["place", 3, None, PLACE],
    ],
    ids=["as text", "arguments as text", "an unknown call besides", "other things besides"],
)
async def test_a_decision_may_be_written_carelessly(calls: object) -> None:
    memory = garden()
    async with connected(memory, "host") as client:
        operation = await asked(client)
        arguments = {"operation": operation, "calls": calls}
        result = await client.session.call_tool("decide_memory", arguments)
        while "waits for the rest" in words(result):
            result = await decide(client, operation, PLACE)
    assert memory.read("garden").count("Leeks") == 1


@pytest.mark.parametrize("arguments", [{}, {"operation": 3, "calls": []}, {"operation": "0" * 10**6, "calls": []}])
async def test_an_operation_that_does_not_wait_is_an_error_that_names_those_that_do(arguments: dict[str, Any]) -> None:
    async with connected(garden(), "host") as client:
        operation = await asked(client)
        said = refused(await client.session.call_tool("decide_memory", arguments))
        assert operation in said
        assert len(said) < 1_500
        assert "calls" in refused(await client.session.call_tool("decide_memory", {"operation": operation}))
        await decide(client, operation, PLACE)


@ages
async def test_a_page_that_grows_too_large_is_divided_as_the_agent_decides(mode: Mode) -> None:
    memory = garden(MIN_THRESHOLD)
    text = "## Leeks\n\n" + "- Leeks are planted in March, in rows.\n" * 25
    text += "\n## Chard\n\n" + "- Chard is sown in April, under glass.\n" * 25
    async with connected(memory, "host", mode) as client:
        operation = await asked(client, text)
        task = words(await decide(client, operation, make("place", blocks="n1-n52", page="garden")))
        assert operation_of(task) == operation
        assert "`split_page`" in task
        assert memory.read("garden").count("Leeks") == 26
        children = [
            {"name": name, "title": name.title(), "description": f"{name} in beds", "blocks": blocks}
            for name, blocks in (("leeks", "3-28"), ("chard", "29-54"))
        ]
        result = await decide(client, operation, make("split_page", strategy="topic", children=children))
        assert "garden/chard" in words(result)
    assert memory.history()[0].first.decided_by == "host:an-agent"
    assert memory.read("garden/leeks").count("Leeks") == 26


@ages
async def test_an_agent_decides_a_split_that_it_asked_for_and_may_leave_the_page_whole(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode) as client:
        task = words(await client.call_tool("split_memory", {"path": "garden"}))
        told = words(await decide(client, operation_of(task), make("leave_whole", reason="it is one thing")))
        assert "it is one thing" in told


@ages
async def test_a_text_that_the_agent_never_decides_about_is_filed_without_it(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode, wait=0.2) as client:
        operation = await asked(client)
        while memory.running():
            await anyio.sleep(0.01)
        result = await decide(client, operation, PLACE)  # too late: told what has become of it
        assert result.structured_content["decided_by"] == "offline"
        assert "2 seconds" in result.structured_content["degraded"]
        assert "so do not write it again" in refused(await decide(client, operation, PLACE))
    assert "".join(pages(memory).values()).count("Chard is sown") == 1
    assert not memory.storage.state.names(PENDING)


@ages
async def test_when_the_agent_has_gone_the_planner_files_what_is_open_at_once(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode) as client:
        await asked(client)
    assert not memory.running()
    assert "".join(pages(memory).values()).count("Chard is sown") == 1


async def test_who_takes_a_decision_back_does_not_take_back_the_text() -> None:
    memory = garden()
    async with connected(memory, "host", "legacy") as client:
        operation = await asked(client)
        with memory.storage.lock():  # so that the decision cannot be carried out at once
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(decide, client, operation, PLACE)
                await anyio.sleep(0.3)
                tasks.cancel_scope.cancel()
            await anyio.sleep(0.1)
        result = await decide(client, operation, PLACE)
        assert result.structured_content["decided_by"] == "host:an-agent"
    assert memory.read("garden").count("Leeks") == 1


async def test_several_texts_may_wait_at_once() -> None:
    memory = garden()
    async with connected(memory, "host") as client:
        waiting = [await asked(client, f"Bed {number} is for leeks.") for number in range(4)]
        for number, operation in reversed(list(enumerate(waiting))):
            told = words(await decide(client, operation, make("place", blocks="n1", page="garden")))
            if operation in told:  # the page has changed since: the agent is shown it again
                told = words(await decide(client, operation, make("place", blocks="n1", page="garden")))
            assert "Written on 'garden'" in told, number
    assert all(f"Bed {number} is" in memory.read("garden") for number in range(4))


async def test_an_agent_that_never_decides_does_not_keep_others_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "MAX_QUESTIONS", 2)
    memory = garden()
    async with connected(memory, "host") as client:
        for number in range(2):
            await asked(client, f"Bed {number} is for leeks.")
        result = await client.call_tool("write_memory", {"content": LEEKS})
        assert result.structured_content["decided_by"] == "offline"
        assert "wait for a decision already" in result.structured_content["degraded"]


async def test_what_is_too_long_to_be_shown_is_decided_by_the_planner() -> None:
    memory = garden()
    async with connected(memory, "host") as client:
        result = await client.call_tool("write_memory", {"content": "Leeks are planted in March. " * 4_000})
        assert result.structured_content["decided_by"] == "offline"
        assert "too long to be shown" in result.structured_content["degraded"]


@ages
async def test_what_needs_no_decision_asks_for_none(mode: Mode) -> None:
    memory = garden()
    async with connected(memory, "host", mode) as client:
        arguments = {"content": LEEKS, "path": "garden", "mode": "append"}
        assert "is_waiting" not in (await client.call_tool("write_memory", arguments)).structured_content
        assert "March" in words(await client.call_tool("search_memory", {"query": "leeks"}))


async def test_others_may_change_the_page_while_the_agent_thinks() -> None:
    memory = garden()
    async with connected(memory, "host") as client:
        operation = await asked(client, "- Chard is sown in April.", path="garden")
        memory.write("- Beans climb.", "garden", "append")
        task = words(await decide(client, operation, make("place", blocks="n1", page="garden", after=2)))
        assert "Beans climb" in task  # the page is shown again as it is now
        result = await decide(client, operation, make("place", blocks="n1", page="garden", after=2))
        assert result.structured_content["decided_by"] == "host:an-agent"
    assert "Chard" in memory.read("garden")
    assert "Beans" in memory.read("garden")


async def test_only_a_server_whose_agent_decides_offers_the_tool_for_it() -> None:
    async def names(way: Any) -> set[str]:
        async with connected(served(), way) as client:
            assert client.instructions is not None
            assert ("decide_memory" in client.instructions) == (way == "host")
            return {tool.name for tool in (await client.list_tools()).tools}

    assert await names("host") - await names("model") == {"decide_memory"}


async def test_a_decision_of_an_agent_can_be_replayed(tmp_path: Path) -> None:
    memory = served(VolatileStorage(clock, tmp_path))
    async with connected(memory, "host") as client:
        operation = await asked(client)
        await decide(client, operation, make("place", blocks="n9", page="memory"))
        await decide(client, operation, make("place", blocks="n1-n2", page="memory"))
    assert memory.replay("last").agrees
