"""Front matter and source lines stay with their text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from itertools import product
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply, ToolCall
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.operations.results import Result
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.page import sources_of
from memory_v2.tree.source import Source, is_source_line
from tests.effort import effort
from tests.operations.scenes import SMALL, call, calls, offline, scripted
from tests.properties.whole import clock, faults, pages_of
from tests.tree.test_front_matter import FRONT_MATTERS

TITLED = "# The plan\n\nThe kiln is fired on Monday.\n\n## Glaze\n\nThe glaze is blue.\n"
UNTITLED = "The kiln is fired on Monday.\n\n## Glaze\n\nThe glaze is blue.\n"
LONG = "".join(f"## Part {n}\n\n{'The kiln of the workshop is warm. ' * 12}\n\n" for n in range(9))
PATH = "plan"


def by_model(*made: ToolCall) -> Callable[[Memory], Result]:
    def write(memory: Memory) -> Result:
        return scripted(memory, calls(*made))[0].write("The kiln was cold on Tuesday.", PATH)

    return write


def merge(memory: Memory) -> Result:
    memory.write("# Notes\n\nSome notes.\n", f"{PATH}/notes")
    return memory.merge(f"{PATH}/notes")


def undo(memory: Memory) -> Result:
    memory.write("More.", PATH, "append")
    memory.write("Other text.", PATH, "replace")
    memory.undo()
    return memory.undo()


def restore(memory: Memory) -> Result:
    before = memory.history()[0].id
    memory.write("Other text.", PATH, "replace")
    return memory.restore(before, PATH)


def by_hand(memory: Memory) -> Result:
    data = memory.storage.read(PATH).data
    memory.storage.write(PATH, data.replace(b"blue", b"green"))
    return memory.write("The glaze is thin.")


def split(memory: Memory) -> Result:
    memory.write(LONG, PATH, "append")
    return memory.split(PATH)


OPERATIONS: dict[str, Callable[[Memory], Result]] = {
    "update": lambda memory: memory.write("The kiln was cold on Tuesday.", PATH),
    "update a section": lambda memory: memory.write("## Glaze\n\nThe glaze is thin.\n", PATH),
    "append": lambda memory: memory.write("The kiln was cold on Tuesday.", PATH, "append"),
    "append another with front matter": lambda memory: memory.write("---\ntitle: B\n---\n\nText.\n", PATH, "append"),
    "the same again": lambda memory: memory.write(TITLED, PATH),
    "place at the top": by_model(call("place", page=PATH, blocks="n1", after=0)),
    "place behind it": by_model(call("place", page=PATH, blocks="n1", after=1)),
    "insert at the top": by_model(call("insert", page=PATH, after=0, text="The kiln was cold on Tuesday.")),
    "remove it": by_model(
        call("remove", page=PATH, blocks="1", reason="not needed"), call("place", page=PATH, blocks="n1")
    ),
    "replace it": by_model(call("replace", page=PATH, blocks="1", new_blocks="n1", reason="newer")),
    "rewrite without it": by_model(
        call(
            "rewrite_page",
            page=PATH,
            text="The kiln was cold on Tuesday.",
            dropped=[{"blocks": "1-9", "reason": "not needed"}],
        )
    ),
    "split": split,
    "merge a child": merge,
    "a child": lambda memory: memory.write("Some notes.", f"{PATH}/notes"),
    "delete a child": lambda memory: memory.delete(memory.write("Some notes.", f"{PATH}/notes").path),
    "rename a page that it links to": lambda memory: memory.rename("other", "another"),
    "undo": undo,
    "restore": restore,
    "edit by hand": by_hand,
}


MOVES = ("rename", "replace", "merge", "append elsewhere", "delete and undo", "split")


def met(operations: Iterable[str]) -> list[tuple[str, str, str]]:
    """Each operation and some of the shapes, or all of them, with and without a title below it in turn."""
    pairs = product(enumerate(operations), enumerate(FRONT_MATTERS))
    return [
        (operation, shape, (TITLED, UNTITLED)[(n + m) % 2])
        for (n, operation), (m, shape) in pairs
        if (n + m) % effort(5, 1) == 0
    ]


@pytest.mark.parametrize(("operation", "shape", "text"), met(OPERATIONS))
def test_the_same_bytes_stay_at_the_same_place(shape: str, operation: str, text: str) -> None:
    memory = offline(SMALL)
    memory.write("# Other\n\nSomething else.\n", "other")
    memory.write(FRONT_MATTERS[shape] + text + "\nSee [[other]].\n", PATH)
    before = pages_of(memory.storage)[PATH]
    assert before.blocks[0].text == FRONT_MATTERS[shape]
    OPERATIONS[operation](memory)
    pages = pages_of(memory.storage)
    assert faults(pages, SMALL) == []
    after = pages[PATH]
    assert after.data.startswith(FRONT_MATTERS[shape].encode())
    assert after.title == before.title
    assert [block.content for block in after.blocks[: after.top]] == [b.content for b in before.blocks[: before.top]]


@pytest.mark.parametrize(("operation", "shape", "text"), met(MOVES))
def test_it_stays_with_its_text(shape: str, text: str, operation: str) -> None:
    memory = offline(SMALL)
    whole = FRONT_MATTERS[shape] + text
    memory.write("# Other\n\nSomething else.\n", "other")
    if operation == "replace":
        memory.write("Old text.", "other/plan")
        memory.write(whole, "other/plan", "replace")
    else:
        memory.write(whole, "other/plan")
    match operation:
        case "rename":
            memory.rename("other/plan", "elsewhere")
        case "merge":
            memory.merge("other/plan")
        case "append elsewhere":
            memory.delete("other/plan")
            memory.write(whole, "other", "append")
        case "delete and undo":
            memory.delete("other/plan")
            memory.undo()
        case "split":
            memory.delete("other/plan")
            memory.write(LONG, "other", "append")
            memory.write(whole, "other", "append")
    pages = pages_of(memory.storage)
    assert faults(pages, SMALL) == []
    first = "The kiln is fired on Monday." if text == UNTITLED else "# The plan"
    where = [page for page in pages.values() if FRONT_MATTERS[shape] in page.text]
    assert len(where) == 1
    behind = where[0].text.partition(FRONT_MATTERS[shape])[2]
    assert behind.lstrip().startswith(first)


MODES: list[Literal["append", "update"]] = ["append", "update"]
SOURCES = [Source(), Source(), Source("mail"), Source("a · [[b]]", date(2025, 2, 3)), Source(day=date(2025, 2, 4))]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = Source(day=NOW.date())
WORDS = "about the kiln of the workshop and the glaze of the bowls "


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """The blocks of a text but for its number, which makes each paragraph the only one of its kind."""
    kinds = draw(st.lists(st.sampled_from(["text", "text", "item", "## Heading", "### Part"]), min_size=1, max_size=7))
    return [*kinds, "text"]


def written(number: int, kinds: list[str]) -> str:
    parts = []
    for position, kind in enumerate(kinds):
        fact = f"fact {number}x{position} " + WORDS * (1 + (number * 7 + position) % 5)
        parts.append(f"{kind} {number}x{position}" if kind[0] == "#" else f"- {fact}" if kind == "item" else fact)
    return "\n\n".join(parts) + "\n"


def at_random(places: list[int]) -> ScriptedModel:
    """A model that places each text somewhere on its page."""

    def answer(conversation: Conversation) -> Reply:
        brief = conversation.brief
        assert isinstance(brief, WriteBrief)
        page = brief.pages[0].page
        after = places[len(page.blocks) % len(places)] % (len(page.blocks) + 1)
        return calls(call("place", page=page.path, blocks=f"n1-n{len(brief.blocks)}", after=after))

    return ScriptedModel(answer)


def sources(memory: Memory) -> dict[str, Source]:
    """The source of each paragraph and item, by its number."""
    return {
        block.content.partition("fact ")[2].split()[0]: source
        for page in pages_of(memory.storage).values()
        for block, source in zip(page.blocks, sources_of(page), strict=True)
        if "fact " in block.content and not is_source_line(block)
    }


@settings(max_examples=effort(8, 300))
@given(
    st.lists(
        st.tuples(texts(), st.sampled_from(SOURCES), st.sampled_from(MODES), st.booleans()),
        min_size=2,
        max_size=8,
    ),
    st.lists(st.integers(0, 40), min_size=9, max_size=9),
)
def test_each_block_keeps_its_source(
    given: list[tuple[list[str], Source, Literal["append", "update"], bool]], places: list[int]
) -> None:
    storage = VolatileStorage(clock)
    memory, small = (Memory(storage, threshold=threshold, now=lambda: NOW) for threshold in (1_000_000, SMALL))
    placing = Memory(storage, at_random(places), threshold=1_000_000, now=lambda: NOW)
    expected: dict[str, Source] = {}
    for number, (kinds, source, mode, is_apart) in enumerate(given):
        path = "log/part" if is_apart else "log"
        has_source = (
            memory.storage.exists(path) and {"source", "date"} & pages_of(memory.storage)[path].properties.keys()
        )
        (placing if mode == "update" else memory).write(
            written(number, kinds),
            path,
            mode,
            source=source.name or None,
            date=source.day,
        )
        told = source or (TODAY if has_source else source)
        expected |= {f"{number}x{n}": told for n, kind in enumerate(kinds) if kind[0] != "#"}
    assert sources(memory) == expected
    if memory.storage.exists("log/part") and memory.storage.exists("log"):
        memory.merge("log/part")
    assert sources(memory) == expected
    for path in list(pages_of(memory.storage)):
        small.split(path)
    small.write("more", "other")
    assert sources(memory) == expected
    assert faults(pages_of(memory.storage), 1_000_000) == []
    for path in sorted(pages_of(memory.storage), reverse=True):
        if path not in ("memory", "other"):
            try:
                memory.merge(path)
            except NotAllowed:
                continue
    assert sources(memory) == expected
