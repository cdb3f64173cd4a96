"""A decision holds for the blocks that it names, whatever others do to the rest of the page meanwhile."""

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


def after_edit(old: str, new: str, *made: ToolCall, text: str = NEW) -> tuple[str, ScriptedModel]:
    """The page after a write that was decided once, while others made an edit."""
    storage = stored(PAGE)
    memory, model = meanwhile(storage, lambda: edit(storage, old, new), calls(*made))
    result = memory.write(text)
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert faults(pages_of(storage), 10_240) == []
    return body(memory), model


# carried over


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Tea\n", "# Tea\n\nTea is a drink.\n"),
        ("- Gyokuro is sweet.\n", ""),
        ("Sencha is mild", "Sencha is wild"),
        ("- Assam is strong.\n", f"- Assam is strong.\n{THEIRS}\n"),
    ],
)
@pytest.mark.parametrize("after", [None, 6])
def test_what_goes_to_the_end_goes_to_the_end(old: str, new: str, after: int | None) -> None:
    page, model = after_edit(old, new, call("place", blocks="n1", page="memory", after=after))
    assert page == f"{PAGE.replace(old, new)}{NEW}"
    assert len(model.sent) == 1


def test_what_goes_to_the_end_does_not_come_under_a_new_heading() -> None:
    page, _ = after_edit("strong.\n", "strong.\n\n## Herbs\n\n- Sage.\n", call("place", blocks="n1", page="memory"))
    assert page.endswith(f"- Assam is strong.\n\n{NEW}\n\n## Herbs\n\n- Sage.")


def test_what_goes_to_the_end_goes_there_though_the_last_block_is_gone() -> None:
    page, _ = after_edit("- Assam is strong.", "- Ceylon is bright.", call("place", blocks="n1", page="memory"))
    assert page.endswith(f"- Ceylon is bright.\n{NEW}")


@pytest.mark.parametrize("tool", ["place", "insert"])
def test_what_goes_behind_a_block_goes_behind_what_others_put_there(tool: str) -> None:
    made = (
        call("place", blocks="n1", page="memory", after=4)
        if tool == "place"
        else call("insert", page="memory", after=4, text=NEW)
    )
    page, model = after_edit("- Gyokuro is sweet.\n", f"- Gyokuro is sweet.\n{THEIRS}\n", made)
    assert f"- Gyokuro is sweet.\n{THEIRS}\n\n{NEW}\n\n## Black" in page
    assert len(model.sent) == 1


def test_what_goes_behind_a_block_follows_it_to_its_new_place() -> None:
    page, _ = after_edit(PAGE, f"- Assam is strong.\n\n{PAGE[: -len('- Assam is strong.') - 1]}", call(
        "place", blocks="n1", page="memory", after=6
    ))  # fmt: skip
    assert page.startswith(f"- Assam is strong.\n\n{NEW}\n\n# Tea")


def test_a_page_is_made_below_a_parent_that_others_have_changed() -> None:
    made = call("create_page", path="herbs", parent="memory", title="Mint", description="Mint is fresh", blocks="n1")
    page, model = after_edit("# Tea\n", f"# Tea\n\n{THEIRS}\n", made)
    assert THEIRS in page
    assert len(model.sent) == 1


def test_what_is_said_already_is_said_by_the_same_block() -> None:
    known = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 3}])
    page, model = after_edit("# Tea\n", f"# Tea\n\n{THEIRS}\n", known, text="Sencha is mild.")
    assert page.count("Sencha") == 1
    assert len(model.sent) == 1


def test_a_page_of_which_the_body_is_the_same_is_rewritten() -> None:
    new = PAGE.replace("- Assam is strong.", f"- Assam is strong.\n{NEW}")
    links = "\n## Links\n\n- [[garden]] - Tomatoes\n"
    storage = stored(PAGE)
    storage.write("garden", b"# Garden\n\nTomatoes.\n")
    rewrite = calls(call("rewrite_page", page="memory", text=new))
    memory, model = meanwhile(storage, lambda: storage.write("memory", (PAGE + links).encode()), rewrite)
    memory.write(NEW)
    assert NEW in body(memory)
    assert "[[garden]]" in memory.read()
    assert len(model.sent) == 1


@pytest.mark.parametrize(("which", "left"), [(3, "## B\n\n- todo\n"), (5, "## A\n\n- todo\n")])
def test_of_equal_blocks_the_one_that_was_named_is_removed(which: int, left: str) -> None:
    storage = stored("# T\n\n## A\n\n- todo\n\n## B\n\n- todo\n")
    replace = calls(call("replace", page="memory", blocks=which, new_blocks="n1", reason="it is done"))
    memory, model = meanwhile(storage, lambda: edit(storage, "## A\n", f"{THEIRS}\n\n## A\n"), replace)
    memory.write(NEW)
    assert (left.strip() in body(memory), body(memory).count("- todo"), len(model.sent)) == (True, 1, 1)


def test_line_ends_stay_as_they_are() -> None:
    storage = stored(PAGE.replace("\n", "\r\n"))
    place = calls(call("place", blocks="n1", page="memory", after=4))
    memory, model = meanwhile(storage, lambda: edit(storage, "# Tea\r\n", f"# Tea\r\n\r\n{THEIRS}\r\n"), place)
    memory.write(f"{NEW}\r\n")
    text = storage.read("memory").data.decode()
    assert f"- Gyokuro is sweet.\r\n\r\n{NEW}\r\n" in text
    assert text.count("\n") == text.count("\r\n")
    assert len(model.sent) == 1


def test_a_page_that_two_make_at_once_takes_both_texts_in() -> None:
    storage = stored(PAGE)
    place = calls(call("place", blocks="n1", page="herbs"))
    memory, model = meanwhile(storage, lambda: Memory(storage, now=clock).write(THEIRS, "herbs", "append"), place)
    memory.write(NEW, "herbs")
    assert body(memory, "herbs") == f"# Herbs\n\n{THEIRS}\n\n{NEW}"
    assert len(model.sent) == 1


# asked again

PLACE = call("place", blocks="n1", page="memory")
BEHIND = call("place", blocks="n1", page="memory", after=4)
REPLACE = call("replace", page="memory", blocks=4, new_blocks="n1", reason="it is out of stock")
REMOVE = call("remove", page="memory", blocks=4, reason="it is out of stock")
MAKE = call("create_page", path="herbs", parent="memory", title="Mint", description="Mint is fresh", blocks="n1")
REWRITE = call("rewrite_page", page="memory", text=PAGE + NEW)
KNOWN = call("nothing_new", blocks="n1", said_in=[{"page": "memory", "blocks": 4}])


@pytest.mark.parametrize(
    "made",
    [[BEHIND], [REPLACE], [PLACE, REMOVE], [REWRITE]],
    ids=["placed behind it", "replaces it", "removes it", "rewrites its page"],
)
@pytest.mark.parametrize("new", ["- Gyokuro is sour.\n", ""], ids=["changed", "gone"])
def test_a_model_is_asked_again_if_others_have_changed_the_block_that_it_named(made: list[ToolCall], new: str) -> None:
    storage = stored(PAGE)
    memory, model = meanwhile(storage, lambda: edit(storage, "- Gyokuro is sweet.\n", new), calls(*made), calls(PLACE))
    result = memory.write(NEW)
    assert (len(model.sent), result.decided_by, result.degraded) == (2, "scripted", "")
    assert "[4]" in model.sent[1].messages[0]
    assert Counter(stored_texts(storage)) == Counter(texts_in(PAGE.replace("- Gyokuro is sweet.\n", new) + NEW))


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


def test_the_trace_tells_that_a_decision_was_carried_over(tmp_path: Path) -> None:
    storage = stored(PAGE, traces_in=tmp_path)
    remove = call("remove", page="memory", blocks=4, reason="it is out of stock")
    memory, _ = meanwhile(storage, lambda: edit(storage, "# Tea\n", f"# Tea\n\n{THEIRS}\n"), calls(PLACE, remove))
    trace = memory.trace(memory.write(NEW).trace)
    kinds = [event["event"] for event in trace.events]
    assert kinds[kinds.index("conflict") - 1 :] == ["decided", "conflict", "decided", "commit", "end"]
    first, second = trace.of("decided")
    assert "block 4 of memory was taken out" in "".join(first["checked"])
    assert "block 5 of memory was taken out" in "".join(second["checked"])
    assert second["carried_over"] is True
    with pytest.raises(NotAllowed):
        memory.replay()


def test_the_trace_tells_why_a_decision_was_not_carried_over(tmp_path: Path) -> None:
    storage = stored(PAGE, traces_in=tmp_path)
    memory, _ = meanwhile(storage, lambda: edit(storage, "Gyokuro", "Matcha"), calls(BEHIND), calls(PLACE))
    trace = memory.trace(memory.write(NEW).trace)
    assert "block 4 of 'memory'" in trace.of("conflict")[-1]["error"]
    assert len(trace.of("ask")) == 2


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
def test_writers_on_one_page_ask_once_each(writers: int) -> None:
    storage = stored(PAGE)
    crowd = Crowd(writers, OfflinePlanner().respond)
    texts = [f"- Fact {number} is known." for number in range(writers)]
    assert list(write_all(Memory(storage, crowd, now=clock), texts)) == []
    assert crowd.decisions == writers
    page = storage.read("memory").data.decode()
    assert [page.count(text) for text in texts] == [1] * writers


def test_writers_who_all_replace_one_block_ask_twice_at_most() -> None:
    storage = stored(PAGE)
    crowd = Crowd(8, lambda _: calls(REPLACE))
    texts = [f"- Fact {number} is known." for number in range(8)]
    assert list(write_all(Memory(storage, crowd, now=clock), texts)) == []
    assert crowd.decisions <= 2 * 8


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
def test_whatever_others_do_only_the_named_blocks_go_and_the_text_stands_once(
    before: list[str], now: list[str], data: st.DataObject
) -> None:
    storage = stored(page_of(before))
    removed = data.draw(st.sets(st.integers(2, len(before) + 1)))
    after = data.draw(st.none() | st.integers(0, len(before) + 1))
    shown, theirs = texts_in(page_of(before)), texts_in(page_of(now))
    made = [call("place", blocks="n1", page="memory", after=after)]
    if removed:
        made.append(call("remove", page="memory", blocks=sorted(removed), reason="they are wrong"))
    others = partial(storage.write, "memory", page_of(now).encode())
    memory, model = meanwhile(storage, others, calls(*made), calls(PLACE))
    result = memory.write(NEW)
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert faults(pages_of(storage), 10_240) == []
    named = Counter(shown[number - 1] for number in removed)
    carried_over = len(model.sent) == 1
    gone = named if carried_over else Counter[str]()
    assert Counter(stored_texts(storage)) == Counter(theirs) - gone + Counter([NEW])
    assert carried_over or any(shown.count(text) > 1 or theirs.count(text) != 1 for text in named_by(shown, made))


def named_by(shown: list[str], made: list[ToolCall]) -> set[str]:
    """The blocks, by content, that must be there for a placement and a removal to be carried over."""
    numbers = [made[0].arguments["after"] or 1, *(made[1].arguments["blocks"] if made[1:] else [])]
    return {shown[number - 1] for number in numbers}


@STEADY
@given(st.permutations(LINES), st.data())
def test_a_text_goes_behind_its_block_and_what_others_put_between(before: list[str], data: st.DataObject) -> None:
    storage = stored(page_of(before))
    after = data.draw(st.integers(2, len(before) + 1))
    added = data.draw(st.lists(st.tuples(st.integers(0, len(before)), st.sampled_from(["a", "b"])), max_size=4))
    now = list(before)
    for number, (place, text) in enumerate(added):
        now.insert(place, f"- {text}{number}")
    memory, model = meanwhile(
        storage,
        lambda: storage.write("memory", page_of(now).encode()),
        calls(call("place", blocks="n1", page="memory", after=after)),
    )
    memory.write(NEW)
    found = stored_texts(storage)
    between = found[found.index(before[after - 2]) + 1 : found.index(NEW)]
    assert all(text not in before for text in between)
    assert found[found.index(NEW) + 1 : found.index(NEW) + 2] == before[after - 1 : after]
    assert len(model.sent) == 1
