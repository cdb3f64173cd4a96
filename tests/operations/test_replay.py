"""Every operation can be done again: on the tree as it was, with the answers that were given, to the same bytes."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import InvalidPath, InvalidText, ModelError, NotAllowed, PageExists, SilicaError
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Model, Reply, Usage
from memory_v2.models.briefs import RouteBrief, SearchBrief, SplitBrief, WriteBrief
from memory_v2.models.scripted import Answer, ScriptedModel
from memory_v2.operations.replay import Replay
from memory_v2.settings import Limits
from memory_v2.storage.base import ANY, Expected, MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage
from tests.effort import effort
from tests.operations.scenes import SMALL, Crowded, call, calls
from tests.properties.hostile import Hostile
from tests.properties.sentences import text as any_text
from tests.properties.whole import clock, stands

FACT = "Silica uses pytest 8.3 since 2026-02-03."
NAMES = ("Alice", "Boats", "Carmen", "Deploy", "Garden")
SECTIONS = "".join(f"## {name}\n\n{(name + ' has facts. ') * 60}\n\n" for name in NAMES)
LOG = "".join(
    f"## 2026-{month:02d}-{day:02d}\n\n{'Worked on the kiln. ' * 9}\n\n" for month in (1, 2) for day in range(1, 25)
)


class Sealed(VolatileStorage):
    """A storage that can be closed to all changes."""

    sealed = False

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        assert not self.sealed, f"{path} was written"
        return super().write(path, data, expected)

    def delete(self, path: str, expected: Expected = ANY) -> None:
        assert not self.sealed, f"{path} was deleted"
        super().delete(path, expected)


def stored(storage: MemoryStorage) -> dict[str, bytes]:
    return {path: storage.read(path).data for path in storage.list_files()}


def agrees(done: Replay) -> None:
    assert (done.differences, done.agrees) == ((), True), done


# stories: what is done to a memory, one operation after the other

Step = Callable[[Memory], Any]
STORY: list[tuple[str, Step]] = [
    ("check", lambda memory: memory.checkup(apply=True)),
    ("write", lambda memory: memory.write(FACT)),
    ("write", lambda memory: memory.write(SECTIONS)),
    ("search", lambda memory: memory.search("which pytest does Silica use")),
    ("write", lambda memory: memory.write(LOG, "logs/kiln")),
    ("write", lambda memory: memory.write("The boats were painted.\n\nAlice paid 70 euros.\n")),
    ("write", lambda memory: memory.write(FACT)),
    ("write", lambda memory: memory.write("To the letter \t\r\n\r\n", "alice", "append")),
    ("search", lambda memory: memory.search("Alice euros", 3)),
    ("write", lambda memory: memory.write("word " * 1_000, "large")),
    ("rename", lambda memory: memory.rename("logs/kiln", "kiln")),
    ("write", lambda memory: memory.write("Instead of it.", "boats", "replace")),
    ("delete", lambda memory: memory.delete("carmen")),
    ("merge", lambda memory: memory.merge("boats")),
    ("search", lambda memory: memory.search("xylophone")),
    ("split", lambda memory: memory.split("memory")),
    ("search", lambda memory: memory.search("worked on the kiln in February")),
    ("check", lambda memory: memory.checkup(apply=True)),
]
"""Its first step mends what somebody wrote by hand; after it nobody does."""

BY_HAND = {
    "memory": b"# By hand\r\n\r\nSee [[loose]].\r\n\r\n## Links\r\n\r\n- [[ghost]] - boo\r\n",
    "loose": b"# Loose\n\nA page about turnips, caf\xe9 \xff\n",
    "orphan": b"# Orphan\n\n- Nobody links here\n- and here\n",
}


def begun(storage: MemoryStorage, model: Model | str = "offline", **setting: Any) -> Memory:
    for path, data in BY_HAND.items():
        storage.write(path, data)
    return Memory(storage, model, threshold=SMALL, now=clock, **setting)


def decides(conversation: Conversation) -> Answer:
    """A model that has a way of its own to do everything, and does not always succeed."""
    number = len(conversation.messages)
    match conversation.brief:
        case WriteBrief() as brief:
            if number == 1:
                return calls(call("read_pages", paths=["memory"]))
            if "boats" in brief.text:
                return ModelError("overloaded")
            if "word word" in brief.text:
                return Reply("I will not.", stop_reason="refusal")
            return calls(call("place", blocks=f"n1-n{len(brief.blocks)}", page=brief.pages[0].page.path))
        case SplitBrief() as brief:
            size = len(brief.view.page.blocks)
            child = {"name": f"half-of-{size}", "title": "Half", "description": "half of it", "blocks": f"2-{size}"}
            return calls(call("split_page", strategy="topic", children=[child], summary=""))
        case SearchBrief() as brief:
            if not brief.places:
                return calls(call("no_answer", reason="there is nothing"))
            return calls(call("answer", results=[{"place": "p1", "score": 0.5, "context": "the first"}]))
        case RouteBrief():
            return calls(call("leave", notes="e1", why="none fits"))


MODELS: dict[str, Callable[[], Model | str]] = {"offline": lambda: "offline", "a model": lambda: ScriptedModel(decides)}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_each_operation_agrees_at_once_and_after_all_that_came_later(
    tmp_path: Path, model: Callable[[], Model | str]
) -> None:
    memory = begun(Sealed(clock, tmp_path), model(), limits=Limits(turns=6))
    for operation, step in STORY:
        step(memory)
        done = memory.replay()
        assert (done.trace, done.operation) == (memory.traces()[-1], operation)
        agrees(done)
    assert len(memory.traces()) == len(STORY)
    later = {name: memory.replay(name) for name in memory.traces()}
    for done in later.values():
        agrees(done)
    changed = {path for name, done in later.items() for path in done.pages if name.split("-")[1] != "search"}
    assert {"memory", "loose", "orphan", "alice", "carmen", "boats", "kiln", "logs/kiln", "large"} & changed
    decided_by = {event["model"] for name in memory.traces() for event in memory.trace(name).of("ask")}
    assert decided_by == ({"offline"} if model() == "offline" else {"offline", "scripted"})


def test_a_replay_on_the_disk_agrees_too_and_with_an_index_that_is_not_new(tmp_path: Path) -> None:
    for operation, step in STORY:
        with Memory(LocalStorage(tmp_path), threshold=SMALL, now=clock) as memory:
            if operation == "check" and not memory.traces():
                begun(memory.storage)
            step(memory)
    with Memory(LocalStorage(tmp_path), threshold=SMALL, now=clock) as memory:
        for name in memory.traces():
            agrees(memory.replay(name))


@pytest.mark.parametrize("seed", range(effort(1, 6)))
def test_what_a_hostile_model_brought_about_can_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("memory_v2.agent.loop.FIRST_WAIT", 0.0)
    rng = random.Random(seed)
    model = ScriptedModel(Hostile(rng).answer, "hostile")
    memory = Memory(VolatileStorage(clock, tmp_path), model, threshold=SMALL, limits=Limits(turns=4), now=clock)
    for _ in range(40):
        kind = rng.choices(["write", "split", "search"], [7, 1, 2])[0]
        if kind == "search":
            memory.search(f"number {rng.randrange(200)}")
        elif kind == "split" and (pages := memory.storage.list_files()):
            memory.split(rng.choice(pages))
        else:
            memory.write(any_text(rng))
    names = memory.traces()
    assert sum(bool(memory.trace(name).of("commit")) for name in names) > 20
    assert {name: memory.replay(name).differences for name in names} == dict.fromkeys(names, ())


def test_the_memory_is_not_touched(tmp_path: Path) -> None:
    storage = Sealed(clock, tmp_path)
    memory = begun(storage)
    for _, step in STORY:
        step(memory)
    before = {path: storage.read(path) for path in storage.list_files()}
    names, found = memory.traces(), memory.search("kiln")
    files = {file: file.read_bytes() for file in (tmp_path / "traces").iterdir()}
    storage.sealed = True
    for name in names:
        memory.replay(name)
    assert {path: storage.read(path) for path in storage.list_files()} == before
    assert {file: file.read_bytes() for file in (tmp_path / "traces").iterdir()} == files
    assert memory.search("kiln") == found


# with what it was done


LIMITS: dict[str, Limits] = {
    "turns": Limits(turns=1),
    "tokens": Limits(tokens=1),
    "money": Limits(money=0.1),
    "none at all": Limits(turns=0),
}


@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS.keys())
def test_what_a_limit_has_cut_short_is_cut_short_again(tmp_path: Path, limits: Limits) -> None:
    def dear(conversation: Conversation) -> Answer:
        reply = decides(conversation)
        assert isinstance(reply, Reply)
        return replace(reply, usage=Usage(3, 1), money=0.2)

    memory = Memory(VolatileStorage(clock, tmp_path), ScriptedModel(dear), threshold=SMALL, limits=limits, now=clock)
    assert "was reached" in memory.write(SECTIONS).degraded
    agrees(memory.replay())


@dataclass
class Late:
    """A model that answers so many times, and then not before it may."""

    name: str = "late"
    times: int = 0
    reads: bool = True

    def __post_init__(self) -> None:
        self.may_answer = threading.Event()

    def respond(self, conversation: Conversation) -> Reply:
        """The answer."""
        if self.times:
            self.times -= 1
        else:
            assert not self.reads or conversation.system.text
            self.may_answer.wait()
        reply = decides(conversation)
        assert isinstance(reply, Reply)
        return reply


@pytest.mark.parametrize("reads", [True, False])
@pytest.mark.parametrize("times", [0, 1, 2])
def test_what_the_clock_has_cut_short_is_cut_short_again(tmp_path: Path, times: int, reads: bool) -> None:
    """Also the splits for which no time was left: of those the model was not even asked."""
    model = Late(times=times, reads=reads)
    memory = Memory(VolatileStorage(clock, tmp_path), model, threshold=SMALL, limits=Limits(seconds=0.3), now=clock)
    try:
        result = memory.write(SECTIONS)
        assert result.split_triggered
        assert "0.3 seconds" in result.degraded
        agrees(memory.replay())
    finally:
        model.may_answer.set()


def test_a_model_that_failed_before_it_read_a_word_fails_again(tmp_path: Path) -> None:
    class Unread:
        name = "unread"

        def respond(self, _: Conversation) -> Reply:
            raise ModelError("there is no connection")

    memory = Memory(VolatileStorage(clock, tmp_path), Unread(), threshold=SMALL, now=clock)
    assert "there is no connection" in memory.write(SECTIONS).degraded
    agrees(memory.replay())


FAILED: dict[str, tuple[type[SilicaError], Step]] = {
    "merge": (NotAllowed, lambda memory: memory.merge("memory")),
    "rename": (PageExists, lambda memory: memory.rename("loose", "ORPHAN")),
    "write": (InvalidText, lambda memory: memory.write("a\ud800")),
    "delete": (InvalidPath, lambda memory: memory.delete("../x")),
    "search": (InvalidText, lambda memory: memory.search("")),
}


@pytest.mark.parametrize(("error", "step"), FAILED.values(), ids=FAILED.keys())
def test_what_has_failed_fails_again(tmp_path: Path, error: type[SilicaError], step: Step) -> None:
    memory = begun(VolatileStorage(clock, tmp_path))
    with pytest.raises(error):
        step(memory)
    agrees(memory.replay())


def test_a_trace_in_a_file_of_somebody_elses_is_done_again(tmp_path: Path) -> None:
    memory = begun(VolatileStorage(clock, tmp_path / "here"))
    for _, step in STORY[:4]:
        step(memory)
    name = memory.traces()[2]
    sent = tmp_path / f"{name}.jsonl"
    sent.write_bytes((tmp_path / "here" / "traces" / sent.name).read_bytes())
    agrees(memory.replay(sent))
    assert memory.replay(sent).trace == name
    agrees(memory.replay(sent.rename(tmp_path / "a bug.jsonl")))


def test_a_trace_of_another_memory_cannot_be_done_again_here(tmp_path: Path) -> None:
    there, here = two_writes(tmp_path / "there"), two_writes(tmp_path / "here")
    with pytest.raises(NotAllowed, match="is not among the traces of this memory"):
        here.replay(tmp_path / "there" / "traces" / f"{there.traces()[1]}.jsonl")


# what cannot be done again


def two_writes(folder: Path) -> Memory:
    memory = begun(VolatileStorage(clock, folder))
    memory.checkup(apply=True)
    memory.write(FACT, "silica")
    return memory


def edited(memory: Memory, path: str) -> None:
    memory.storage.write(path, memory.storage.read(path).data + b"\nBy hand.\n")


BY_WHOM = pytest.mark.parametrize(
    "change", [edited, lambda memory, path: memory.storage.delete(path)], ids=["edit", "deletion"]
)


@BY_WHOM
def test_what_was_read_and_has_been_changed_by_hand_since_is_told_and_nothing_is_guessed(
    tmp_path: Path, change: Callable[[Memory, str], None]
) -> None:
    memory = two_writes(tmp_path)
    memory.write("Silica has a logo.", "silica")  # with a third statement, the line of the page stays as it is
    names = [memory.write("Silica also uses ruff.", "silica").trace, memory.search("ruff").trace]
    for name in names:
        agrees(memory.replay(name))
    change(memory, "memory")
    for name in names:
        with pytest.raises(NotAllowed, match=f"the tree as it was before {name} cannot be had any more: memory"):
            memory.replay(name)
    agrees(memory.replay(memory.write("A word on something else.", "elsewhere").trace))


@BY_WHOM
def test_what_was_changed_by_the_operation_itself_is_on_record_whoever_has_changed_it_since(
    tmp_path: Path, change: Callable[[Memory, str], None]
) -> None:
    memory = two_writes(tmp_path)
    name = memory.write("Silica also uses ruff.", "silica").trace
    change(memory, "silica")
    agrees(memory.replay(name))


def test_a_page_on_which_something_was_found_and_that_was_changed_by_hand_since_is_told(tmp_path: Path) -> None:
    memory = two_writes(tmp_path)
    assert memory.search("pytest")[0].path == "silica"
    agrees(memory.replay())
    memory.storage.write("silica", b"# Silica\n\nNothing is said of it any more.\n")
    with pytest.raises(NotAllowed, match="silica"):
        memory.replay()


def test_what_met_another_writer_cannot_be_done_again_alone(tmp_path: Path) -> None:
    storage = Crowded(0)
    storage.cache_folder = tmp_path
    memory = Memory(storage, now=clock)
    memory.write("What was there.")
    storage.rivals = 1
    memory.write(FACT)
    with pytest.raises(NotAllowed, match="met another writer"):
        memory.replay()


def test_splits_that_met_another_writer_cannot_be_done_again_alone(tmp_path: Path) -> None:
    class Rival(Crowded):
        armed = False

        def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
            if self.armed and expected != ANY:
                self.armed, self.rivals = False, 1  # the write is stored: the rival comes before the first split
            return super().write(path, data, expected)

    storage = Rival(0)
    storage.cache_folder = tmp_path
    memory = Memory(storage, threshold=SMALL, now=clock)
    memory.write("What was there.")
    storage.armed = True
    assert memory.write(SECTIONS).split_triggered
    assert stands(memory, storage.said[0])
    with pytest.raises(NotAllowed, match="met another writer"):
        memory.replay()


def test_without_the_traces_of_what_came_later_there_is_no_way_back(tmp_path: Path) -> None:
    memory = two_writes(tmp_path)
    name = memory.search("pytest").trace
    later = memory.write("A word on something else.", "elsewhere")
    assert "memory" in later.changed_pages
    agrees(memory.replay(name))
    (tmp_path / "traces" / f"{later.trace}.jsonl").unlink()
    with pytest.raises(NotAllowed, match=f"before {name} cannot be had any more: memory"):
        memory.replay(name)


# what is not as it was


def tampered(memory: Memory, change: Callable[[list[Any]], None]) -> Replay:
    """What comes of the last trace after somebody has changed its file."""
    name = memory.traces()[-1]
    assert memory.storage.cache_folder
    file = memory.storage.cache_folder / "traces" / f"{name}.jsonl"
    events = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    change(events)
    file.write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    return memory.replay(name)


def of(events: list[Any], kind: str) -> Any:
    return next(event for event in events if event["event"] == kind)


def _other_bytes(events: list[Any]) -> None:
    of(events, "commit")["pages"][0]["after"] += "More.\n"


def _other_text(events: list[Any]) -> None:
    of(events, "begin")["arguments"]["text"] = FACT.replace("8.3", "9.1")


def _other_moment(events: list[Any]) -> None:
    of(events, "begin")["started"] = "2026-12-24T18:00:00+00:00"


def _other_answer(events: list[Any]) -> None:
    of(events, "reply")["calls"][0]["arguments"]["after"] = 1


def _other_words(events: list[Any]) -> None:
    of(events, "ask")["system"] += "Be kind."


def _no_answer(events: list[Any]) -> None:
    events.remove(of(events, "reply"))


ALTERED: dict[str, tuple[Callable[[list[Any]], None], str]] = {
    "the bytes of a page": (_other_bytes, "memory is not what it was"),
    "what was written": (_other_text, "the model was asked for something else: message 1"),
    "the moment": (_other_moment, "the model was asked for something else: message 1"),
    "an answer": (_other_answer, "memory is not what it was"),
    "the system's words": (_other_words, "the model was asked for something else: the system's words"),
    "an answer that is gone": (_no_answer, "the model was asked for something else"),
}


@pytest.mark.parametrize(("change", "told"), ALTERED.values(), ids=ALTERED.keys())
def test_a_trace_that_was_changed_is_told_as_a_difference(
    tmp_path: Path, change: Callable[[list[Any]], None], told: str
) -> None:
    place = calls(call("place", blocks="n1", page="memory", after=2))
    memory = Memory(VolatileStorage(clock, tmp_path), ScriptedModel([place]), now=clock)
    memory.storage.write("memory", b"# Memory\n\nWhat was there.\n\nAnd more.\n")
    memory.write(FACT)
    before = stored(memory.storage)
    agrees(memory.replay())
    done = tampered(memory, change)
    assert not done.agrees
    assert done.differences[0].startswith(told), done.differences
    assert stored(memory.storage) == before


def test_a_difference_says_which_page_was_changed_now_and_which_then(tmp_path: Path) -> None:
    memory = Memory(VolatileStorage(clock, tmp_path), now=clock)
    memory.write("What was there.")
    memory.write(FACT, "silica")

    def elsewhere(events: list[Any]) -> None:
        of(events, "begin")["arguments"]["path"] = "silica/more"
        silica = next(change for change in of(events, "commit")["pages"] if change["path"] == "silica")
        of(events, "commit")["pages"] = [silica, {"path": "other", "before": None, "after": "# Other\n"}]
        of(events, "end")["reads"] = {}  # the page that is not on record cannot be got back to what it was

    assert tampered(memory, elsewhere).differences == (
        "memory was changed only now",
        "other was changed only then",
        "silica was changed only then",
        "silica/more was changed only now",
    )


def test_an_operation_that_there_is_not_cannot_be_done_again(tmp_path: Path) -> None:
    memory = two_writes(tmp_path)

    def other(events: list[Any]) -> None:
        of(events, "begin")["operation"] = "dream"

    with pytest.raises(NotAllowed, match="tells of 'dream'"):
        tampered(memory, other)


def test_an_operation_that_fails_now_and_did_not_then_does_not_agree(tmp_path: Path) -> None:
    memory = two_writes(tmp_path)

    def other(events: list[Any]) -> None:
        of(events, "begin")["arguments"]["path"] = "../x"

    (first, *_) = tampered(memory, other).differences
    assert re.fullmatch(r"it fails \(.*\) now, and succeeds then", first)


def test_an_operation_that_failed_then_and_does_not_now_does_not_agree(tmp_path: Path) -> None:
    memory = two_writes(tmp_path)
    with pytest.raises(InvalidText):
        memory.write("", "silica")

    def other(events: list[Any]) -> None:
        of(events, "begin")["arguments"]["text"] = FACT  # which is nothing new: no page is changed by it

    (difference,) = tampered(memory, other).differences
    assert re.fullmatch(r"it succeeds now, and fails \(InvalidText: there is nothing to write.*\) then", difference)
