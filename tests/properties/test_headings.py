"""Nothing tears what hangs together: headings, lists, and the day of a line."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline import OfflinePlanner
from memory_v2.models.scripted import ScriptedModel
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.page import Page
from memory_v2.tree.source import read_source_line
from memory_v2.tree.titles import section_blocks
from tests.effort import effort
from tests.operations.scenes import SMALL, call, calls
from tests.properties.whole import clock, faults, pages_of, stands

TRIED = settings(max_examples=effort(10, 300))
NAMES = ["Alice", "Boats", "Carmen", "Deploy", "Garden"]
WIDE = 1_000_000
"""A threshold that no page here exceeds."""


def line(number: int, name: str, words: int) -> str:
    return f"{name} noted fact {number}" + " about the kiln" * words + "."


@st.composite
def texts(draw: st.DrawFn, deepest: int = 4) -> str:
    """Headings and paragraphs, some of which name somebody, are dated, or have nothing below them."""
    parts = []
    for number in range(draw(st.integers(4, 60))):
        level, name = draw(st.integers(0, 6)), draw(st.sampled_from(NAMES))
        if 2 <= level <= deepest:
            day = f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
            title = draw(st.sampled_from([f"Note {number}", day, name, "Notes"]))
            parts.append(f"{'#' * level} {title}")
        elif level == 5:
            parts += ["---"]
        else:
            parts += [line(number * 9 + i, name, draw(st.integers(0, 50))) for i in range(draw(st.integers(1, 4)))]
    return "\n\n".join(parts) + "\n"


chances = st.lists(st.integers(0, 3), min_size=20, max_size=20)
orders = st.permutations(["carmen", "boats", "deploy"])


def under(blocks: tuple[Block, ...]) -> dict[str, str]:
    """The heading above each paragraph but the lines that say when it was said; none for one below the title."""
    heading, found = "", dict[str, str]()
    for number, block in enumerate(blocks):
        if block.kind == "heading":
            heading = block.content if number or block.level > 1 else ""
        elif block.kind == "paragraph" and read_source_line(block) is None:
            found[block.content] = heading
    return found


def empty(page: Page) -> set[str]:
    """The headings with nothing below them; a title may stand alone."""
    following = [*(block for block in page.blocks[1:] if block.kind != "rule"), Block("", "heading", 1)]
    return {
        block.content
        for block, after in pairwise(following)
        if block.level > 1 and after.kind == "heading" and after.level <= block.level
    }


def titles_above(page: Page, pages: dict[str, Page]) -> list[str]:
    """The titles of the pages that a page was split from: its text stands below them."""
    above = pages.get(page.properties.get("split_from", ""))
    return [section_blocks(above)[0].content, *titles_above(above, pages)] if above else []


def check(text: str, memory: Memory, threshold: int) -> None:
    """The text stands in the tree as it has to."""
    pages = pages_of(memory.storage)
    assert faults(pages, threshold) == []
    blocks = parse_blocks(text)
    stands = Counter(block.content for page in pages.values() for block in section_blocks(page))
    assert Counter(block.content for block in blocks) - stands == Counter()
    wanted = under(blocks)
    for page in pages.values():
        for content, heading in under(section_blocks(page)).items():
            assert stands[content] == 1
            assert wanted.get(content, "") in ("", heading, *(() if heading else titles_above(page, pages)))
    left_empty = set.union(*(empty(page) for page in pages.values()))
    assert left_empty <= empty(Page("memory", f"# Memory\n\n{text}"))
    assert [finding for finding in memory.check() if finding.kind == "orphaned-section"] == []


@TRIED
@given(texts())
def test_the_planner_tears_no_heading_from_its_text(text: str) -> None:
    memory = Memory(VolatileStorage(clock), threshold=SMALL, now=clock)
    memory.write("Start.", "other")
    before = {path: memory.storage.read(path).data for path in memory.storage.list_files()}
    memory.write(text, "memory", "append")
    check(text, memory, SMALL)
    memory.undo()
    assert {path: memory.storage.read(path).data for path in memory.storage.list_files()} == before


def divided(text: str, homes: list[int]) -> Memory:
    """A page whose blocks a model has sent to three children by chance."""

    def answer(conversation: Conversation) -> Reply:
        if not isinstance(conversation.brief, SplitBrief):
            return OfflinePlanner().respond(conversation)
        count = len(conversation.brief.view.page.blocks)
        numbers = [[n for n in range(count, 1, -1) if homes[n % len(homes)] == child] for child in range(3)]
        children = [
            {"name": name, "title": name.title(), "description": f"{name.title()} noted fact", "blocks": blocks}
            for name, blocks in zip(("carmen", "boats", "deploy"), numbers, strict=True)
            if blocks
        ]
        return calls(call("split_page", strategy="topic", children=children))

    storage = VolatileStorage(clock)
    memory = Memory(storage, ScriptedModel(answer), threshold=WIDE, now=clock)
    memory.write(f"# Carmen, Boats, Deploy noted fact\n\n{text}", "memory", "append")
    memory.split()
    return memory


@TRIED
@given(texts(), chances)
def test_no_decision_tears_a_heading_from_its_text(text: str, homes: list[int]) -> None:
    memory = divided(text, homes)
    check(text, memory, WIDE)


@TRIED
@given(texts(), chances, orders)
def test_a_merge_tears_no_heading_from_its_text(text: str, homes: list[int], children: list[str]) -> None:
    memory = divided(text, homes)
    merge(memory, children)
    check(text, memory, WIDE)


@TRIED
@given(texts(deepest=2), chances, orders)
def test_a_heading_that_was_repeated_goes_away_again(text: str, homes: list[int], children: list[str]) -> None:
    memory = divided(text, homes)
    merge(memory, children)
    (page,) = pages_of(memory.storage).values()
    before = Counter(block.content for block in parse_blocks(text))
    more = Counter(block.content for block in page.blocks) - before
    titles = {"# Carmen, Boats, Deploy noted fact", "# Carmen", "# Boats", "# Deploy"}
    assert [content for content in more if before[content] < 2 and content not in titles] == []


def merge(memory: Memory, children: list[str]) -> None:
    for child in children:
        if memory.storage.exists(child):
            memory.merge(child)


SUBJECTS = ("harbour", "kiln", "garden", "ledger", "choir")
SHAPES = {
    "numbered": "Steps {n}, {subject}\n\n1. open the {subject}\n2. look at number {n}\n3. close it\n4. note it",
    "led": "What the {subject} needs, visit {n}:\n\n- a new lid\n- a coat of paint {n}\n- two hours of work",
    "code": "To restart the {subject} after fault {n}:\n\n```\nrestart {subject} --fault {n}\n```",
    "mail": "Mail about the {subject}, number {n}:\n\n> Dear all,\n>\n> the {subject} is shut.\n>\n> Mara",
    "design": "## Plan {n} for the {subject}\n\nIt is of stone.\n\n### Rejected\n\nWood for the {subject}, plan {n}.",
    "note": "The {subject} was looked at for the {n}th time and somebody wrote down what there was to see of it.",
    "dated": "2026-0{month}-1{day}: the {subject} was painted for the {n}th time.",
}
notes = st.lists(st.tuples(st.sampled_from(sorted(SHAPES)), st.sampled_from(SUBJECTS)), min_size=25, max_size=60)


def below_heading(text: str) -> str:
    """The text without the heading that it begins with, which may be the title of a page now."""
    return text.partition("\n\n")[2] if text.startswith("## ") else text


@settings(max_examples=effort(3, 100))
@given(notes)
def test_a_split_tears_nothing_that_hangs_together_and_each_line_keeps_its_day(
    shapes: list[tuple[str, str]],
) -> None:
    day = datetime(2026, 5, 1, 9, tzinfo=UTC)
    now = [day]
    memory = Memory(VolatileStorage(lambda: now[0]), threshold=SMALL, now=lambda: now[0])
    written: dict[str, datetime] = {}
    for n, (shape, subject) in enumerate(shapes):
        now[0] = day + timedelta(days=n)
        text = SHAPES[shape].format(subject=subject, n=n, month=1 + n % 4, day=n % 10)
        memory.write(text, "memory", "append")
        written[text] = now[0]
    for text in written:
        assert stands(memory, below_heading(text)), text
    brought = {
        line.text.strip(): line.revision.when
        for page in memory.list_files()
        for line in memory.blame(page.path)
        if line.revision
    }
    for text, when in written.items():
        told = [line for line in text.splitlines() if any(char.isdigit() for char in line) and line in brought]
        assert [(line, brought[line]) for line in told if line[:1] not in "123456789#"] == [
            (line, when) for line in told if line[:1] not in "123456789#"
        ]
