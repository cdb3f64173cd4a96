"""However texts are put together, divided and merged, each block keeps the source that it was written with."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.errors import NotAllowed
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.scripted import ScriptedModel
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.page import source_of
from memory_v2.tree.source import Source, is_source_line
from tests.effort import effort
from tests.operations.scenes import SMALL, call, calls
from tests.properties.whole import clock, faults, pages_of

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
        block.content.partition("fact ")[2].split()[0]: source_of(page, number)
        for page in pages_of(memory.storage).values()
        for number, block in enumerate(page.blocks, 1)
        if "fact " in block.content and not is_source_line(block)
    }


@settings(max_examples=effort(15, 300))
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
