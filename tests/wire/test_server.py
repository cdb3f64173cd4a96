"""The provider of these tests: it goes when its test ends, and it is the only one that can be reached."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
from pytest_socket import SocketBlockedError, SocketConnectBlockedError

from memory_v2.errors import ModelError
from memory_v2.models.base import AssistantMessage, Reply, ToolCall, ToolResult, UserMessage

from .adapters import ADAPTERS, Adapter, Words, conversation
from .dialects import Says
from .server import HOST, PATIENCE, Hangs, serving

DOCUMENTATION_ONLY = "192.0.2.1"
"""An address that belongs to nobody."""


@pytest.mark.allow_hosts([HOST])
@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_nothing_of_a_provider_is_left_when_it_goes(adapter: Adapter) -> None:
    with serving() as provider:
        provider.script = [Hangs()]
        asking = threading.Thread(target=_failed, args=(adapter, provider.url), name="asking")
        asking.start()
        while not provider.requests:
            asking.join(0.01)
    asking.join(PATIENCE)
    assert not asking.is_alive(), "whoever waits for it hears that it is gone"
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("provider")]
    with pytest.raises(ConnectionRefusedError), socket.socket() as client:
        client.connect((HOST, int(provider.url.rpartition(":")[2])))


@pytest.mark.allow_hosts([HOST])
@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
def test_no_other_host_can_be_reached(adapter: Adapter) -> None:
    with (
        pytest.warns(UserWarning, match="socket.connect"),
        pytest.raises(SocketConnectBlockedError),
        socket.socket() as client,
    ):
        client.connect((DOCUMENTATION_ONLY, 80))
    with pytest.raises(Exception, match=r".") as failed:  # what stops it is a warning that is an error, so any may do
        adapter(f"http://{DOCUMENTATION_ONLY}").respond(conversation())
    assert "socket.connect" in _reasons(failed.value)


def test_where_nothing_is_allowed_not_even_this_machine_can_be_reached() -> None:
    with pytest.warns(UserWarning, match="socket"), pytest.raises(SocketBlockedError):
        socket.socket()


BROKEN: dict[str, Callable[[], tuple[AssistantMessage | ToolResult | UserMessage, ...]]] = {
    "a result without a call": lambda: (
        ToolResult(ToolCall("put", {}, "call_x"), Words("ok")),
        UserMessage(Words("Go on.")),
    ),
    "a call without a result": lambda: (AssistantMessage(Reply(raw=_both_formats())), UserMessage(Words("Go on."))),
}


@pytest.mark.allow_hosts([HOST])
@pytest.mark.parametrize("adapter", ADAPTERS.values(), ids=ADAPTERS.keys())
@pytest.mark.parametrize("messages", BROKEN.values(), ids=BROKEN.keys())
def test_a_request_against_the_rules_is_refused_and_noted(
    adapter: Adapter, messages: Callable[[], tuple[AssistantMessage | ToolResult | UserMessage, ...]]
) -> None:
    with pytest.raises(AssertionError, match=r"messages\.\d"), serving() as provider:
        provider.script = [Says("Done.")]
        with pytest.raises(ModelError, match=r"rejected the request"):
            adapter(provider.url).respond(conversation(*messages()))


@pytest.mark.allow_hosts([HOST])
def test_a_script_that_has_run_out_is_noted() -> None:
    with pytest.raises(AssertionError, match=r"no further answer"), serving() as provider:
        _failed(ADAPTERS["openai"], provider.url)


def _failed(adapter: Adapter, url: str) -> None:
    with pytest.raises(ModelError):
        adapter(url).respond(conversation())


def _both_formats() -> dict[str, object]:
    function = {"name": "put", "arguments": "{}"}
    return {
        "content": [{"type": "tool_use", "id": "call_a", "name": "put", "input": {}}],
        "tool_calls": [{"id": "call_a", "type": "function", "function": function}],
    }


def _reasons(error: BaseException | None) -> str:
    return "" if error is None else f"{error!r} {_reasons(error.__cause__ or error.__context__)}"
