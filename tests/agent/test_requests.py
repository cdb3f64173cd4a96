"""How many requests are at work at once, and what a model's name has to be."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_v2.agent.load import load_model
from memory_v2.agent.loop import MAX_REQUESTS, ModelRequest, ask
from memory_v2.agent.operation import Operation
from memory_v2.errors import InvalidSetting, ModelError
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Limits
from memory_v2.trace.recording import Trace
from tests.agent.test_ask import ANSWER, Silent, conversation

PATIENCE = 60.0
"""Seconds after which something that should have happened is taken to have failed."""


class Held:
    """Requests that are at work until they are released."""

    def __init__(self) -> None:
        self.at_work = threading.Semaphore(0)
        self.released = threading.Event()

    def __call__(self) -> threading.Thread:
        self.at_work.release()
        assert self.released.wait(PATIENCE)
        return threading.current_thread()

    def expect_at_work(self, count: int) -> None:
        """Waits until so many more are at work, and sees that no other is."""
        assert all(self.at_work.acquire(timeout=PATIENCE) for _ in range(count))
        assert not self.at_work.acquire(timeout=0.05)


@contextmanager
def held() -> Iterator[Held]:
    requests_held = Held()
    try:
        yield requests_held
    finally:
        requests_held.released.set()


def now(respond: Callable[[], object]) -> object:
    """What comes of a request."""
    request = ModelRequest(respond, "asking")
    assert request.done.wait(PATIENCE)
    return request.answer[0]


def test_no_more_requests_are_at_work_than_there_are_places() -> None:
    with held() as hold:
        started = [ModelRequest(hold, "asking") for _ in range(MAX_REQUESTS + 3)]
        hold.expect_at_work(MAX_REQUESTS)
        hold.released.set()
        assert all(request.done.wait(PATIENCE) for request in started)


def test_a_request_that_is_abandoned_before_it_began_is_never_made() -> None:
    made: list[str] = []
    with held() as hold:
        started = [ModelRequest(hold, "asking") for _ in range(MAX_REQUESTS)]
        hold.expect_at_work(MAX_REQUESTS)
        ModelRequest(lambda: made.append("it was made"), "asking").abandon()
    assert all(request.done.wait(PATIENCE) for request in started)
    assert now(lambda: made) == []


def test_the_place_of_an_abandoned_request_goes_to_the_one_that_waits() -> None:
    with held() as hold:
        started = [ModelRequest(hold, "asking") for _ in range(MAX_REQUESTS)]
        hold.expect_at_work(MAX_REQUESTS)
        waiting = ModelRequest(lambda: "an answer", "asking")
        started[0].abandon()
        assert waiting.done.wait(PATIENCE)
        hold.released.set()
        assert started[0].done.wait(PATIENCE)
        left_behind = started[0].answer[0]
    assert isinstance(left_behind, threading.Thread)
    left_behind.join(PATIENCE)
    assert not left_behind.is_alive()


def test_models_that_hang_do_not_use_up_the_pool() -> None:
    model = Silent()
    with model.left_to_itself():
        for _ in range(MAX_REQUESTS + 5):
            with pytest.raises(ModelError, match="no answer within the limit"):
                ask(model, conversation(), Operation(Limits(seconds=0.02), Trace()))
        assert ask(ScriptedModel([ANSWER]), conversation(), Operation()) is ANSWER


def test_the_time_that_a_request_waits_for_its_place_counts() -> None:
    with held() as hold:
        started = [ModelRequest(hold, "asking") for _ in range(MAX_REQUESTS)]
        hold.expect_at_work(MAX_REQUESTS)
        model = ScriptedModel([ANSWER])
        with pytest.raises(ModelError, match=r"no answer within the limit of 0\.05 seconds"):
            ask(model, conversation(), Operation(Limits(seconds=0.05), Trace()))
        assert model.sent == []
    assert all(request.done.wait(PATIENCE) for request in started)


HANGING = """
import threading
from memory_v2.agent.loop import ModelRequest
begun = threading.Event()
def hang():
    begun.set()
    threading.Event().wait()
ModelRequest(hang, "asking")
assert begun.wait(60)
print("the end")
"""


def test_a_request_that_hangs_does_not_keep_the_program_from_ending() -> None:
    done = subprocess.run([sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "the end\n", "")


FORKING = """
import os, sys
from memory_v2.agent.loop import MAX_REQUESTS, ModelRequest
import threading
forever = threading.Event().wait
for _ in range(MAX_REQUESTS + 1):
    ModelRequest(forever, "asking")
child = os.fork()
if not child:
    request = ModelRequest(lambda: "an answer", "asking")
    os._exit(0 if request.done.wait(30) and request.answer == ["an answer"] else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_has_a_pool_of_its_own() -> None:
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKING]
    assert subprocess.run(command, timeout=PATIENCE).returncode == 0


@pytest.mark.parametrize("name", ["anthropic", "anthropic:", "openai: ", "litellm:", "claude", "", ":x", "OpenAI:x"])
def test_a_name_that_is_none_is_answered_with_those_there_are(name: str) -> None:
    with pytest.raises(InvalidSetting, match=r"use one of: offline, anthropic:<model>, openai:<model>"):
        load_model(name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "are not JSON"),
        (b"{", "are not JSON"),
        (b"\xff", "are not JSON"),
        (b"[]", "are malformed"),
        (b'{"models": {"x": {"input": 1}}}', "models.x.output"),
        (b'{"models": {"x": {"input": -1, "output": 1}}}', "models.x.input"),
        (b'{"models": {"x": {"input": 1, "output": NaN}}}', "models.x.output"),
        (b'{"models": {"x": {"input": 1, "output": 1, "per_call": 1}}}', "models.x.per_call"),
    ],
    ids=repr,
)
def test_prices_that_mean_nothing_are_told(content: bytes, said: str, tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(content)
    with pytest.raises(InvalidSetting, match=said.replace(".", r"\.")):
        load_model("openai:gpt-x", file)
    with pytest.raises(InvalidSetting, match=r"cannot read the prices in .*none\.json: No such file"):
        load_model("openai:gpt-x", tmp_path / "none.json")
