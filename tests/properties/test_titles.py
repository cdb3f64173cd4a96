"""Whatever sections a page has: each that becomes a page has a title, no page ends in a rule, and a merge brings the
old page back."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline import OfflinePlanner
from memory_v2.models.scripted import ScriptedModel
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from tests.effort import effort
from tests.operations.scenes import call, calls
from tests.properties.whole import clock, faults, pages_of

TRIED = settings(max_examples=effort(40, 300))
WIDE = 1_000_000
NAMES = ["alice", "boats", "carmen", "deploy", "garden"]
HEADINGS = ["## {}", "### {}", "## {} ##", "{}\n---", "  ## {}"]
ENDS = ["\n\n", "\n\n\n\n", "\n\n---\n\n", "\n\n***\n\n- - -\n\n", "\n\n---\n\n\n\n"]


@st.composite
def sections(draw: st.DrawFn) -> list[str]:
    """Sections of one level, each with a heading, text, perhaps a subsection, and perhaps rules at the end."""
    form = draw(st.sampled_from(HEADINGS))
    made = []
    for name in NAMES[: draw(st.integers(2, 5))]:
        below = draw(
            st.sampled_from(["", f"\n\n#### More of {name}\n\n{name} has more.", f"\n\n---\n\n{name} went on."])
        )
        made.append(f"{form.format(name.title())}\n\n{f'{name} noted this. ' * 30}{below}{draw(st.sampled_from(ENDS))}")
    return made


def split(text: str, homes: list[bool]) -> Memory:
    """A page on which a model has sent each section to a child of its own, if it is to move."""

    def answer(conversation: Conversation) -> Reply:
        if not isinstance(conversation.brief, SplitBrief):
            return OfflinePlanner().respond(conversation)
        blocks = conversation.brief.view.page.blocks
        starts = [n for n, block in enumerate(blocks, 1) if block.kind == "heading" and block.level in (2, 3)]
        ends = [*(start - 1 for start in starts[1:]), len(blocks)]
        children = [
            {"name": name, "title": "Noted", "description": f"{name} noted this", "blocks": f"{start}-{end}"}
            for name, start, end, moves in zip(NAMES, starts, ends, homes, strict=False)
            if moves
        ]
        return calls(call("split_page", strategy="topic", children=children))

    memory = Memory(VolatileStorage(clock), ScriptedModel(answer), threshold=WIDE, now=clock)
    memory.write(text, "page", "replace")
    return memory


@TRIED
@given(sections(), st.lists(st.booleans(), min_size=5, max_size=5).filter(lambda homes: any(homes[:2])))
def test_a_section_is_a_page_with_a_title_until_it_is_merged(made: list[str], homes: list[bool]) -> None:
    text = f"# Page\n\nAn intro.\n\n{''.join(made)}"
    memory = split(text, homes)
    before = {path: page.data for path, page in pages_of(memory.storage).items()}
    assert memory.split("page").decided_by == "scripted"
    pages = pages_of(memory.storage)
    assert faults(pages, WIDE) == []
    children = [name for name in NAMES if f"page/{name}" in pages]
    for path in ("page", *(f"page/{name}" for name in children)):
        kinds = [block.kind for block in pages[path].blocks]
        assert pages[path].blocks[0].level == 1
        assert pages[path].blocks[0].words == path.rsplit("/", 1)[-1].title()
        assert "rule" not in (kinds[-1], *kinds[1:2])
        assert not pages[path].body.endswith("\n\n\n")
    for name in children:
        memory.merge(f"page/{name}")
    old, new = (
        tuple(block.content for block in blocks)
        for blocks in (parse_blocks(text), pages_of(memory.storage)["page"].blocks)
    )
    assert Counter(new) == Counter(old)
    if all(homes[: len(made)]):
        assert new == old
    for _ in (*children, "split"):
        memory.undo()
    assert {path: page.data for path, page in pages_of(memory.storage).items()} == before
