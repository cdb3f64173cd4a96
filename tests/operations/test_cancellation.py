"""An operation that is cancelled ends at once and leaves nothing; one whose change is stored is not cancelled."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memory_v2.agent.operation import RunningOperation
from memory_v2.errors import Cancelled, ModelError, NotAllowed, StorageConflict
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.settings import Limits
from memory_v2.storage.base import PENDING, MemoryStorage
from memory_v2.storage.history import Change
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.trace.recording import Event
from tests.operations.scenes import SMALL, call, calls, offline
from tests.properties.whole import clock, faults, pages_of, stands

FACT = "Silica uses pytest 8.3 since 2026-02-03."
LONG = "".join(f"- Fact {n} of the harbour is paid by Ines in Porto.\n" for n in range(60))
PLACE = calls(call("place", blocks="n1", page="memory"))
PATIENCE = 60.0
"""Seconds after which something that should have happened is taken to have failed."""


class Thinking:
    """A model that tells when it is asked, and answers when it may."""

    name = "thinking"

    def __init__(self, answer: Callable[[Conversation], Reply] = lambda _: PLACE) -> None:
        self.is_asked, self.may_answer = threading.Event(), threading.Event()
        self.answer = answer

    def respond(self, conversation: Conversation) -> Reply:
        """The answer, in its own time."""
        self.is_asked.set()
        assert self.may_answer.wait(PATIENCE)
        return self.answer(conversation)


@contextmanager
def started(work: Callable[[], Any], model: Thinking) -> Iterator[Future[Any]]:
    """The work in a thread of its own, from the moment in which its model is asked."""
    with ThreadPoolExecutor() as threads:
        try:
            future = threads.submit(work)
            assert model.is_asked.wait(PATIENCE)
            yield future
        finally:
            model.may_answer.set()


def only(memory: Memory) -> RunningOperation:
    (operation,) = memory.running()
    return operation


def left(storage: MemoryStorage) -> list[str]:
    return storage.state.names(PENDING)


@pytest.fixture(params=["in memory", "on disk"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryStorage:
    return LocalStorage(tmp_path / "tree") if request.param == "on disk" else VolatileStorage(clock, tmp_path)


# before anything is stored


def test_a_write_that_is_cancelled_leaves_no_text_and_no_note(storage: MemoryStorage) -> None:
    model = Thinking()
    with Memory(storage, model, now=clock) as memory, started(lambda: memory.write(FACT), model) as written:
        assert len(left(storage)) == 1
        operation = only(memory)
        assert operation.kind == "write"
        assert memory.cancel(operation.id)
        with pytest.raises(Cancelled, match="nothing was stored"):
            written.result(PATIENCE)
        assert (memory.running(), left(storage), storage.list_files()) == ([], [], [])
        assert not memory.cancel(operation.id)
        assert memory.trace().of("error")[0]["kind"] == "Cancelled"
    assert offline(storage=storage).recover() == []


@pytest.mark.parametrize(
    "operation",
    [lambda memory: memory.search("pytest"), lambda memory: memory.split(), lambda memory: memory.write(FACT)],
)
def test_whatever_waits_for_a_model_can_be_cancelled(operation: Callable[[Memory], Any]) -> None:
    storage, model = VolatileStorage(clock), Thinking()
    offline(storage=storage).write(LONG)
    before = pages_of(storage)
    memory = Memory(storage, model, now=clock)
    with started(lambda: operation(memory), model) as running:
        assert memory.cancel(only(memory).id)
        with pytest.raises(Cancelled):
            running.result(PATIENCE)
    assert pages_of(storage) == before


def test_an_operation_that_waits_before_it_asks_again_is_cancelled_at_once() -> None:
    ids: list[str] = []
    failed = threading.Event()

    def listen(operation: str, event: Event) -> None:
        if event["event"] == "failed":
            ids.append(operation)
            failed.set()

    busy = ScriptedModel(lambda _: ModelError("busy", retryable=True, retry_after=59.0))
    memory = Memory(VolatileStorage(clock), busy, limits=Limits(seconds=1_000), now=clock, on_event=listen)
    with ThreadPoolExecutor() as threads:
        written = threads.submit(memory.write, FACT)
        assert failed.wait(PATIENCE)
        assert memory.cancel(ids[0])
        with pytest.raises(Cancelled):
            written.result(PATIENCE / 2)


def test_the_others_are_told_of_each_operation_and_only_the_one_that_is_meant_is_cancelled() -> None:
    model = Thinking()
    memory = Memory(VolatileStorage(clock), model, now=clock)
    with started(lambda: memory.write(FACT), model) as first:
        operation = only(memory)
        with ThreadPoolExecutor() as threads:
            model.is_asked.clear()
            second = threads.submit(memory.search, "pytest")
            assert model.is_asked.wait(PATIENCE)
            assert [one.kind for one in memory.running()] == ["write", "search"]
            assert memory.cancel(memory.running()[1].id)
            with pytest.raises(Cancelled):
                second.result(PATIENCE)
        assert memory.running() == [operation]
        model.may_answer.set()
        assert first.result(PATIENCE).revision
    assert not memory.cancel("no such operation")
    assert stands(memory, FACT)


# while it is stored, and afterwards


class Slow(VolatileStorage):
    """A storage that tells when it is about to store a change, and goes on when it may."""

    def __init__(self, conflict: bool = False) -> None:
        super().__init__(clock)
        self.is_storing, self.may_go_on = threading.Event(), threading.Event()
        self.conflict = conflict

    def commit(self, change: Change, check: Callable[[], object] | None = None) -> Change:
        def halted() -> None:
            assert check is not None
            check()
            self.is_storing.set()
            assert self.may_go_on.wait(PATIENCE)
            if self.conflict:
                self.conflict = False
                raise StorageConflict("somebody was faster")

        return super().commit(change, halted)


@pytest.mark.parametrize("conflict", [False, True])
def test_who_cancels_while_the_change_is_stored_is_told_what_came_of_it(conflict: bool) -> None:
    storage = Slow(conflict)
    memory = Memory(storage, now=clock)
    with ThreadPoolExecutor() as threads:
        try:
            written = threads.submit(memory.write, FACT, mode="append")
            assert storage.is_storing.wait(PATIENCE)
            cancelled = threads.submit(memory.cancel, only(memory).id)
        finally:
            storage.may_go_on.set()
        if cancelled.result(PATIENCE):
            with pytest.raises(Cancelled):
                written.result(PATIENCE)
            assert conflict  # it was not stored
            assert (storage.list_files(), left(storage)) == ([], [])
        else:
            assert written.result(PATIENCE).revision
            assert stands(memory, FACT)


def placed_then_thinking() -> Thinking:
    """A model that places a text at once, and then thinks about the split."""
    model = Thinking(lambda _: calls(call("leave_whole", reason="it is fine")))
    think = model.respond

    def respond(conversation: Conversation) -> Reply:
        if isinstance(brief := conversation.brief, WriteBrief):
            return calls(call("place", blocks=f"n1-n{len(brief.blocks)}", page="memory"))
        return think(conversation)

    model.respond = respond  # type: ignore[method-assign]
    return model


def test_who_cancels_the_splits_after_a_write_gets_the_write_and_the_splits_are_made_later(
    storage: MemoryStorage,
) -> None:
    model = placed_then_thinking()
    with (
        Memory(storage, model, threshold=SMALL, now=clock) as memory,
        started(lambda: memory.write(LONG), model) as written,
    ):
        assert not memory.cancel(only(memory).id), "the text is stored"
        result = written.result(PATIENCE)
        assert result.revision
        assert "cancelled before all pages were split" in result.degraded
        assert not result.split_triggered
        assert len(left(storage)) == 1
        assert stands(Memory(storage), LONG.splitlines()[7])
        with pytest.raises(NotAllowed, match="cancelled"):
            memory.replay(result.trace)
    with offline(SMALL, storage) as later:
        later.recover()
        assert left(storage) == []
        assert faults(pages_of(storage), SMALL) == []


# the listener


def test_the_listener_hears_each_event_as_it_happens_in_the_thread_of_the_operation(tmp_path: Path) -> None:
    heard: list[tuple[str, Event, threading.Thread]] = []
    memory = Memory(
        VolatileStorage(clock, tmp_path),
        ScriptedModel([PLACE]),
        now=clock,
        on_event=lambda operation, event: heard.append((operation, event, threading.current_thread())),
    )
    result = memory.write(FACT)
    kinds = [event["event"] for _, event, _ in heard]
    assert kinds == ["begin", "ask", "message", "reply", "message", "decided", "commit", "end"]
    assert {operation for operation, _, _ in heard} == {result.revisions[0].revision.operation}
    assert {thread for _, _, thread in heard} == {threading.current_thread()}
    assert [event["event"] for event in memory.trace().events] == kinds


def test_a_listener_that_fails_is_logged_and_disturbs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: str, event: Event) -> None:
        raise ZeroDivisionError(event["event"])

    memory = Memory(VolatileStorage(clock), now=clock, on_event=fail)
    with caplog.at_level(logging.ERROR):
        memory.write(FACT)
    assert stands(memory, FACT)
    told = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert (told[0], told[-1]) == ("begin", "end")


def test_an_operation_that_fails_is_heard_to_its_end() -> None:
    heard: list[str] = []
    memory = Memory(VolatileStorage(clock), now=clock, on_event=lambda _, event: heard.append(event["event"]))
    with pytest.raises(NotAllowed):
        memory.write(FACT)
        memory.merge("memory")
    assert heard[-3:] == ["begin", "error", "end"]
