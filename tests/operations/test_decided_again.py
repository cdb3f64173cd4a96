"""A decision holds for the pages that it was made on: if others change one of them meanwhile, it is made again."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.offline import OfflinePlanner
from memory_v2.models.scripted import ScriptedModel
from memory_v2.operations.write import MAX_DECISIONS
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import read_page
from tests.operations.scenes import body, call, calls
from tests.properties.whole import clock, faults, pages_of
from tests.tree.texts import STEADY

PAGE = "# Tea\n\n## Green\n\n- Sencha is mild.\n- Gyokuro is sweet.\n\n## Black\n\n- Assam is strong.\n"
"""Blocks: 1 the title, 2 ## Green, 3 Sencha, 4 Gyokuro, 5 ## Black, 6 Assam."""
NEW = "- Mint is fresh."
THEIRS = "- Oolong is half-way."


def stored(text: str, path: str = "memory", traces_in: Path | None = None) -> VolatileStorage:
    storage = VolatileStorage(clock, traces_in)
    storage.write(path, text.encode())
    return storage


def edit(storage: VolatileStorage, old: str, new: str, path: str = "memory") -> None:
    """Somebody else's change."""
    text = storage.read(path).data.decode()
    assert old in text
    storage.write(path, text.replace(old, new, 1).encode())


def meanwhile(storage: VolatileStorage, act: Callable[[], object], *replies: Reply) -> tuple[Memory, ScriptedModel]:
    """A memory whose model answers from a script; while it thinks about its first answer, somebody else acts."""
    answers = iter(replies)

    def answer(_: Conversation) -> Reply:
        if len(model.sent) == 1:
            act()
        return next(answers)

    model = ScriptedModel(answer)
    return Memory(storage, model, now=clock), model


PLACE = call("place", blocks="n1", page="memory")
REPLACE = call("replace", page="memory", blocks=4, new_blocks="n1", reason="it is out of stock")
REMOVE = call("remove", page="memory", blocks=4, reason="it is out of stock")
MAKE = call("create_page", path="herbs", parent="memory", title="Mint", description="Mint is fresh", blocks="n1")
REWRITE = call("rewrite_page", page="memory", text=PAGE + NEW)
KNOWN = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 4}])


@pytest.mark.parametrize("made", [[REPLACE], [PLACE, REMOVE], [REWRITE]], ids=["replaces", "removes", "rewrites"])
@pytest.mark.parametrize(
    "now",
    [
        PAGE.replace("sweet", "sour"),
        PAGE.replace("- Gyokuro is sweet.\n", ""),
        PAGE.replace("# Tea\n", f"# Tea\n\n{THEIRS}\n"),
    ],
    ids=["changed", "gone", "moved down"],
)
def test_a_model_is_asked_again_if_others_have_changed_its_page(made: list[ToolCall], now: str) -> None:
    storage = stored(PAGE)
    memory, model = meanwhile(storage, lambda: edit(storage, PAGE, now), calls(*made), calls(PLACE))
    result = memory.write(NEW)
    assert (len(model.sent), result.decided_by, result.degraded) == (2, "scripted", "")
    assert now.splitlines()[2] in model.sent[1].messages[0]
    assert faults(pages_of(storage), 10_240) == []
    assert Counter(stored_texts(storage)) == Counter(texts_in(now + NEW))


def test_a_model_is_not_asked_again_if_others_have_changed_other_pages() -> None:
    storage = stored(PAGE)
    storage.write("garden", b"# Garden\n")
    memory, model = meanwhile(storage, lambda: edit(storage, "Garden", "Herbs", "garden"), calls(PLACE))
    memory.write(NEW)
    assert (len(model.sent), body(memory)) == (1, PAGE + NEW)


def test_a_page_that_two_make_at_once_takes_both_texts_in() -> None:
    storage = stored(PAGE)
    place = calls(call("place", blocks="n1", page="herbs"))
    memory, _ = meanwhile(storage, lambda: Memory(storage, now=clock).write(THEIRS, "herbs", "append"), place, place)
    memory.write(NEW, "herbs")
    assert body(memory, "herbs") == f"# Herbs\n\n{THEIRS}\n\n{NEW}"


def test_what_was_said_already_is_written_if_it_is_not_said_any_more() -> None:
    storage = stored(PAGE)
    memory, model = meanwhile(storage, lambda: edit(storage, "- Gyokuro is sweet.\n", ""), calls(KNOWN), calls(PLACE))
    assert memory.write("Gyokuro is sweet.").outcome == "written"
    assert body(memory).endswith("Gyokuro is sweet.")
    assert len(model.sent) == 2


def test_a_model_is_asked_again_if_the_path_of_its_new_page_is_taken() -> None:
    storage = stored(PAGE)
    again = call("create_page", **{**MAKE.arguments, "path": "mint"})
    memory, model = meanwhile(
        storage, lambda: Memory(storage, now=clock).write(THEIRS, "Herbs", "append"), calls(MAKE), calls(again)
    )
    memory.write(NEW)
    assert THEIRS in memory.read("Herbs")
    assert NEW in memory.read("mint")
    assert len(model.sent) == 2


def test_a_model_is_asked_again_if_somebody_else_wrote_the_same() -> None:
    storage = stored(PAGE)
    known = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 7}])
    memory, model = meanwhile(
        storage, lambda: Memory(storage, now=clock).write(NEW, None, "append"), calls(PLACE), calls(known)
    )
    assert memory.write(NEW).outcome == "nothing new"
    assert body(memory).count(NEW) == 1
    assert len(model.sent) == 2


def test_a_block_that_is_never_left_alone_is_decided_about_by_the_planner() -> None:
    storage = stored(PAGE)
    words = iter(range(100))

    def answer(_: Conversation) -> Reply:
        edit(storage, "- Gyokuro is", f"- Gyokuro is {next(words)}")
        return calls(REPLACE)

    model = ScriptedModel(answer)
    result = Memory(storage, model, now=clock).write(NEW)
    assert (result.decided_by, result.degraded) == ("offline", "others kept changing the page")
    assert len(model.sent) == MAX_DECISIONS
    assert storage.read("memory").data.decode().count(NEW) == 1


# the record of it


def test_the_trace_tells_why_a_model_was_asked_again(tmp_path: Path) -> None:
    storage = stored(PAGE, traces_in=tmp_path)
    memory, _ = meanwhile(storage, lambda: edit(storage, "Gyokuro", "Matcha"), calls(PLACE), calls(PLACE))
    trace = memory.trace(memory.write(NEW).trace)
    assert [event["event"] for event in trace.events if event["event"] in ("ask", "conflict")] == [
        "ask",
        "conflict",
        "ask",
    ]
    assert "'memory'" in trace.of("conflict")[0]["error"]
    with pytest.raises(NotAllowed):
        memory.replay()


# many writers


class Crowd:
    """A model that lets nobody go on before all of them have made their first decision."""

    name = "crowd"

    def __init__(self, writers: int, decide: Callable[[Conversation], Reply]) -> None:
        self.decisions = 0
        self._decide = decide
        self._all_here = threading.Barrier(writers)
        self._counting = threading.Lock()

    def respond(self, conversation: Conversation) -> Reply:
        """The decision, as soon as all have asked once."""
        with self._counting:
            self.decisions += 1
            is_first = self.decisions <= self._all_here.parties
        reply = self._decide(conversation)
        if is_first:
            self._all_here.wait(60)
        return reply


def write_all(memory: Memory, texts: list[str]) -> Iterator[str]:
    """Writes each text in a thread of its own; tells why any of them failed."""
    failed: list[str] = []

    def write(text: str) -> None:
        try:
            memory.write(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, the test is told
            failed.append(f"{text}: {error!r}")

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    yield from failed


@pytest.mark.parametrize("writers", [2, 8, 16])
def test_writers_on_one_page_ask_twice_at_most(writers: int) -> None:
    storage = stored(PAGE)
    crowd = Crowd(writers, OfflinePlanner().respond)
    texts = [f"- Fact {number} is known." for number in range(writers)]
    assert list(write_all(Memory(storage, crowd, now=clock), texts)) == []
    assert crowd.decisions <= 2 * writers
    page = storage.read("memory").data.decode()
    assert [page.count(text) for text in texts] == [1] * writers


# whatever others do

LINES = ["- one", "- two", "- three", "Four.", "## Five", "- six"]
lines = st.lists(st.sampled_from(LINES), min_size=1, max_size=8)


def page_of(texts: list[str]) -> str:
    return "# T\n\n" + "".join(f"{text}\n\n" for text in texts)


def texts_in(text: str) -> list[str]:
    return [block.content for block in parse_blocks(text)]


def stored_texts(storage: VolatileStorage) -> list[str]:
    return [block.content for block in read_page("memory", storage.read("memory").data).blocks]


@STEADY
@given(lines, st.lists(st.sampled_from([*LINES, "- theirs", "## Theirs"]), max_size=10), st.data())
def test_whatever_others_do_theirs_stays_and_the_text_stands_once(
    before: list[str], now: list[str], data: st.DataObject
) -> None:
    storage = stored(page_of(before))
    removed = data.draw(st.sets(st.integers(2, len(before) + 1)))
    after = data.draw(st.none() | st.integers(0, len(before) + 1))
    made = [call("place", blocks="n1", page="memory", after=after)]
    if removed:
        made.append(call("remove", page="memory", blocks=sorted(removed), reason="they are wrong"))
    others = partial(storage.write, "memory", page_of(now).encode())
    memory, model = meanwhile(storage, others, calls(*made), calls(PLACE))
    result = memory.write(NEW)
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert faults(pages_of(storage), 10_240) == []
    if len(model.sent) == 2:
        assert Counter(stored_texts(storage)) == Counter(texts_in(page_of(now))) + Counter([NEW])
    else:
        assert now == before
