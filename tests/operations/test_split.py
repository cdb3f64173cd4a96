"""How a page is divided: by what it is made of, every block exactly once."""

from __future__ import annotations

import re
from typing import Any

import pytest

from memory_v2.errors import InvalidPath, ModelError, PageNotFound
from memory_v2.memory import Memory
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.briefs import SplitBrief
from memory_v2.models.offline import OfflinePlanner, naming
from memory_v2.models.offline.outline import dated_runs, find_sections
from memory_v2.models.scripted import ScriptedModel
from memory_v2.operations.context import MAX_CHILDREN
from memory_v2.operations.overgrown import MAX_DECISIONS
from memory_v2.operations.results import SplitResult
from memory_v2.settings import DEFAULT_THRESHOLD
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from tests.operations.scenes import SMALL, Crowded, body, call, calls, offline, scripted
from tests.properties.whole import clock, faults, missing, pages_of, stands, texts_of

SUBJECTS = ("Alice", "Boats", "Carmen", "Deploy", "Garden")
THINGS = (
    "anchor basket candle dragon engine falcon garden hammer island jacket kettle ladder magnet needle orange pencil "
    "quiver rocket saddle tunnel urchin violin walnut yogurt zipper barrel copper dagger fabric gravel harbor insect "
    "jungle kitten lizard marble napkin oyster pepper ribbon"
)
SECTIONS = "".join(f"## {name}\n\n{(name + ' has facts. ') * 60}\n\n" for name in SUBJECTS)


def whole(memory: Memory, text: str, threshold: int = SMALL) -> None:
    """The tree is whole and has every block of the text."""
    pages = pages_of(memory.storage)
    assert faults(pages, threshold) == []
    assert missing([block.content for block in parse_blocks(text)], texts_of(pages)) == []


def full_page(text: str) -> Memory:
    """A page that is over the threshold of 2,048 bytes, and not divided yet."""
    memory = offline()
    memory.write(text, None, "replace")
    return memory


# offline: the division the text has of itself


def test_a_page_of_sections_is_divided_by_topic() -> None:
    memory = offline(SMALL)
    memory.write(SECTIONS)
    whole(memory, SECTIONS)
    assert {"alice", "boats"} <= set(memory.storage.list_files())
    assert memory.read("alice").startswith("# Alice\n\nAlice has facts.")
    assert "[[alice]] - Alice" in memory.read()


@pytest.mark.parametrize("first", ["- an item", "A paragraph.", "```\nfenced\n```", "# A title", "---\na: b\n---"])
@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\n", "\ufeff\r\n\r\n", "\n\ufeff", "\ufeff "])
def test_a_page_with_a_byte_order_mark_is_divided_and_keeps_it(mark: str, first: str) -> None:
    memory = offline(SMALL)
    text = f"{mark}{first}\n\n" + "".join(
        f"- thing {n} of {SUBJECTS[n % len(SUBJECTS)]} is kept here\n" for n in range(80)
    )
    memory.storage.write("memory", text.encode())
    assert memory.split().new_files
    assert memory.storage.read("memory").data.startswith(mark[0].encode())
    assert all("\ufeff" not in memory.read(path)[1:] for path in memory.storage.list_files() if mark[0] == "\ufeff")
    assert memory.check() == []


@pytest.mark.parametrize("sign", ["\u200b", "\u200d", "\xad", "\ufeff", "**"])
def test_a_page_of_long_words_with_signs_that_are_not_shown_is_divided(sign: str) -> None:
    memory = offline(SMALL)
    text = "".join(f"- boat{sign}house{n}\n" for n in range(300))
    memory.storage.write("memory", text.encode())
    assert memory.split().new_files
    whole(memory, text)


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("words", [10, 20, 50])
def test_a_log_is_divided_by_month_and_a_month_by_days(words: int, at_once: bool) -> None:
    memory = offline()
    log = [
        f"## 2026-{month:02d}-{day:02d}\n\n{'Worked on the kiln. ' * words}\n\n"
        for month in (1, 2)
        for day in range(1, 29)
    ]
    for text in ["".join(log)] if at_once else log:
        memory.write(text)
    whole(memory, "".join(log), DEFAULT_THRESHOLD)
    paths = set(memory.storage.list_files()) - {"memory"}
    assert "2026-01" in paths
    names = {path.rsplit("/", 1)[-1] for path in paths}
    assert all(re.fullmatch(r"2026-\d\d(-\d\d(-to-\d\d-\d\d)?)?", name) for name in names), sorted(paths)
    for path in paths:
        first, _, last = path.rsplit("/", 1)[-1].partition("-to-")
        assert memory.read(path).startswith(f"# {first} to {last}\n" if last else "#")


def test_days_below_a_page_of_their_month_make_no_second_page_of_that_month() -> None:
    memory = offline(SMALL)
    for day in range(1, 13):
        memory.write(f"## 2026-02-{day:02d} Kiln\n\n{'Worked on the kiln. ' * 20}\n", "2026-02/kiln", "append")
    assert [
        path for path in memory.storage.list_files() if path.count("2026-02") > 1 and path.endswith("2026-02")
    ] == []
    names = {path.rsplit("/", 1)[-1] for path in memory.storage.list_files()} - {"memory", "2026-02", "kiln"}
    assert all(re.fullmatch(r"2026-02-\d\d(-to-02-\d\d)?", name) for name in names), names


def test_sections_of_one_name_are_told_apart_by_their_days() -> None:
    memory = offline(SMALL)
    memory.write(
        "".join(f"## Daily notes 2026-0{n}-11\n\n{'Worked on the kiln. ' * 45}\n\n" for n in (2, 3, 4)), "kiln"
    )
    names = {path.rsplit("/", 1)[-1] for path in memory.storage.list_files()}
    assert not [name for name in names if re.search(r"-\d\Z", name)], names


@pytest.mark.parametrize("mark", ["- ", "{}. "])
def test_a_list_that_is_too_large_for_a_child_is_not_taken_from_the_line_that_leads_into_it(mark: str) -> None:
    items = [f"{mark.format(n)}{name} {n}: {f'{name} has facts. ' * 9}\n" for n, name in enumerate(SUBJECTS * 4, 1)]
    memory = offline(SMALL)
    memory.write("# Work\n\n" + "The roof is new. " * 20 + "\n\nWhat is to be done:\n\n" + "".join(items))
    assert stands(memory, "What is to be done:\n\n" + "".join(items[:2]))


@pytest.mark.parametrize("mark", ["{}. ", "{}) ", "Tool {}: ", "Phase {} — "])
def test_numbered_sections_are_not_torn(mark: str) -> None:
    memory = offline(2 * SMALL)
    sizes = (90, 22, 80, 22, 70)
    told = zip(SUBJECTS, sizes, strict=True)
    sections = [
        f"## {mark.format(n)}{name}\n\n{f'{name} has facts. ' * size}\n\n" for n, (name, size) in enumerate(told, 1)
    ]
    text = "# The machine\n\n" + "".join(sections)
    memory.write(text)
    whole(memory, text, 2 * SMALL)
    there = [path for path in memory.storage.list_files() for name in SUBJECTS if name.lower() in path]
    assert len(there) == len(SUBJECTS)


def test_a_section_of_any_note_is_named_by_what_follows() -> None:
    memory = offline(SMALL)
    facts = "It has facts about boats. " * 30
    memory.write(
        f"# The harbour\n\n## Update: The new pier\n\n{facts}\n\n## Key findings\n\n{facts}\n\n## Boats\n\n{facts}\n"
    )
    assert {"the-harbour/the-new-pier", "the-harbour/key-findings"} <= set(memory.storage.list_files())


def test_a_section_without_a_date_is_of_no_day() -> None:
    blocks = parse_blocks("## 2026-02-03\n\nIt rained.\n\n### Later\n\nSun.\n\n## How to read this\n\nFrom the top.\n")
    assert [numbers for _, numbers in dated_runs(blocks, range(1, len(blocks) + 1))] == [(1, 2, 3, 4)]


def test_parts_by_size_are_named_by_a_heading_and_never_by_a_number() -> None:
    memory = offline(SMALL)
    text = "".join(f"### {name} report\n\n{(name + ' was measured. ') * 24}\n\n" for name in SUBJECTS)
    memory.write(f"## Only section\n\n{text}", "lab")
    below = [page for path, page in pages_of(memory.storage).items() if path.startswith("lab/")]
    assert below
    assert all(part in text and "," not in part for page in below for part in page.title.split(" to "))


def test_a_page_many_times_too_large_is_divided_by_size_in_one_step() -> None:
    memory = offline()
    text = "- tea and cake\n" * 9_000
    parts = memory.write(text, "teas").new_files[1:]
    assert len(parts) == 17
    assert {path.count("/") for path in parts} == {1}
    whole(memory, text, DEFAULT_THRESHOLD)


def test_the_newest_days_stay_in_front() -> None:
    memory = offline(SMALL)
    for day in range(1, 20):
        memory.write(f"## 2026-01-{day:02d}\n\n{'Worked on the kiln. ' * 12}\n")
    assert "## 2026-01-19" in memory.read()


def test_a_flat_list_is_divided_by_who_recurs() -> None:
    memory = offline(SMALL)
    items = "".join(
        f"- {name} bought item {n} in the shop on the corner for a few coins\n"
        for n in range(16)
        for name in ("Alice", "Robert", "Carmen")
    )
    result = memory.write(items)
    whole(memory, items)
    assert set(result.new_files) == {"alice", "robert", "carmen"}
    assert memory.read("alice").count("- Alice bought") == 16
    assert "Robert" not in memory.read("alice")


def test_a_page_is_not_named_after_somebody_whom_some_of_its_notes_mention() -> None:
    memory = offline(SMALL)
    things = THINGS.split()
    pairs = [(things[3 * n % 40], things[(9 * n + 5) % 40]) for n in range(60)]
    said = [f"- The {one} was put beside the {other}" for one, other in pairs]
    text = "".join(f"{note}{', Jonas says' if n % 4 == 0 else ''}.\n" for n, note in enumerate(said))
    made = memory.write(f"# Work\n\n{text}", "work").new_files
    assert made and "work/jonas" not in made


def test_notes_of_a_paragraph_each_keep_their_headings() -> None:
    memory = offline(SMALL)
    names = ("Alice", "Robert", "Carmen")
    notes = [f"## Note {n}\n\nToday {names[n % 3]} has paid {n} euros for the boat in the harbour." for n in range(150)]
    memory.write("\n\n".join(notes))
    assert all(stands(memory, note) for note in notes)
    assert memory.check() == []


def test_notes_that_are_all_alike_are_not_moved_together_to_one_page() -> None:
    memory = offline(SMALL)
    memory.write("\n\n".join(f"## h{n}\n\nThe text {n} of it." for n in range(300)))
    assert all(not link.target.count("/") for link in pages_of(memory.storage)["memory"].children)
    assert len(pages_of(memory.storage)["memory"].children) > 3
    assert memory.check() == []


def listing(links: int) -> Memory:
    """A memory whose root lists so many pages."""
    memory = offline()
    for number in range(links):
        memory.storage.write(f"p{number}", b"# P\n\ntext\n")
    listed = "".join(f"- [[p{number}]] - {SUBJECTS[number % 5]} {number // 9}\n" for number in range(links))
    memory.storage.write("memory", f"# Memory\n\n## Links\n\n{listed}".encode())
    return memory


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts whose terms the planner counts."""
    looked: list[str] = []
    terms = naming.terms_of

    def counting(text: str) -> list[tuple[str, ...]]:
        looked.append(text)
        return terms(text)

    monkeypatch.setattr(naming, "terms_of", counting)
    return looked


def test_links_are_grouped_where_their_descriptions_are_not_utf_8() -> None:
    memory = listing(600)
    root = memory.storage.read("memory").data
    memory.storage.write("memory", root.replace(b"]] -", b"]] - caf\xe9"))
    assert memory.split().new_files
    assert faults(pages_of(memory.storage), DEFAULT_THRESHOLD) == []


def test_a_small_page_is_left_whole_with_the_reason() -> None:
    memory = offline()
    memory.write("A short page.")
    before = memory.read()
    result = memory.split()
    assert (result.new_files, result.revisions) == ((), ())
    assert result.reason
    assert memory.read() == before


def test_the_title_stays_and_no_child_is_called_by_nothing() -> None:
    memory = offline(SMALL)
    text = "# My notes\n\n" + "\n\n".join(f"Plain words number {n} " * 9 for n in range(30))
    memory.write(text, "notes/mine")
    whole(memory, text)
    assert memory.read("notes/mine").startswith("# My notes\n")
    names = {path.rsplit("/", 1)[-1] for path in memory.storage.list_files()}
    assert not names & {"misc", "other", "part-1", "part-2", "untitled"}


def test_every_child_is_described_in_the_words_of_its_text() -> None:
    memory = offline(SMALL)
    memory.write(SECTIONS)
    for page in pages_of(memory.storage).values():
        for entry in page.children:
            child = memory.read(entry.target).casefold()
            assert entry.description
            assert any(word.strip(":,.").casefold() in child for word in entry.description.split())


def test_a_page_lists_as_many_children_as_fit_and_then_groups_them() -> None:
    threshold = 3_000
    memory = offline(threshold)
    for n in range(60):
        memory.write(f"Facts about subject{n}.", f"subject{n}")
    assert len(pages_of(memory.storage)["memory"].children) == 60
    for n in range(60, 110):
        memory.write(f"Facts about subject{n}.", f"subject{n}")
    whole(memory, "", threshold)
    assert len(pages_of(memory.storage)["memory"].children) <= MAX_CHILDREN


def test_a_page_whose_folder_is_spelled_in_another_case_gets_another_name() -> None:
    memory = offline(SMALL)
    memory.storage.write("ALICE/x", b"# x\n")
    memory.write("[[ALICE/x]]")
    memory.write(SECTIONS)
    whole(memory, SECTIONS)


def test_a_child_that_a_person_deleted_is_made_again() -> None:
    memory = offline(SMALL)
    log = "".join(f"## 2026-01-{day:02d}\n\n{'Worked on the kiln. ' * 12}\n\n" for day in range(1, 20))
    memory.write(log)
    memory.storage.delete("2026-01")
    result = memory.write(log.replace("kiln", "boat"))
    assert result.degraded == ""
    memory.checkup(apply=True)
    whole(memory, log.replace("kiln", "boat"))


@pytest.mark.parametrize("rivals", [1, 3])
def test_what_others_write_during_a_split_is_kept(rivals: int) -> None:
    storage = Crowded(0)
    memory = offline(SMALL, storage)
    memory.write("Start.")
    storage.rivals = rivals
    memory.write(SECTIONS)
    whole(memory, SECTIONS)
    assert missing(storage.said, texts_of(pages_of(storage))) == []
    assert len(storage.said) == rivals


def test_a_page_that_others_keep_changing_is_divided_by_the_planner() -> None:
    storage = VolatileStorage(clock)
    said: list[str] = []

    def answer(conversation: Conversation) -> Reply:
        if isinstance(conversation.brief, SplitBrief):
            said.append(f"Rival fact {len(said)}.")
            storage.write("memory", storage.read("memory").data.replace(b"# ", f"# {said[-1]} ".encode(), 1))
        return OfflinePlanner().respond(conversation)

    memory = Memory(storage, ScriptedModel(answer), threshold=SMALL, now=clock)
    result = memory.write(SECTIONS, "memory")
    assert len(said) == MAX_DECISIONS
    assert (result.decided_by, result.degraded) == ("scripted", "others kept changing the page")
    whole(memory, SECTIONS)
    assert missing(said, texts_of(pages_of(storage))) == []


def test_a_split_that_was_asked_for_does_not_fail_because_others_change_the_page() -> None:
    storage = VolatileStorage(clock)
    said: list[str] = []

    def answer(conversation: Conversation) -> Reply:
        said.append(f"Rival fact {len(said)}.")
        storage.write("memory", storage.read("memory").data.replace(b"# ", f"# {said[-1]} ".encode(), 1))
        return OfflinePlanner().respond(conversation)

    Memory(storage, now=clock).write(SECTIONS, "memory", "replace")
    result = Memory(storage, ScriptedModel(answer), now=clock).split()
    assert len(said) == MAX_DECISIONS
    assert result.new_files
    assert (result.decided_by, result.degraded) == ("offline", "others kept changing the page")
    whole(Memory(storage, now=clock), SECTIONS, DEFAULT_THRESHOLD)
    assert missing(said, texts_of(pages_of(storage))) == []


def test_a_page_that_somebody_else_has_divided_is_not_asked_about_again() -> None:
    storage = VolatileStorage(clock)
    rival = Memory(storage, threshold=SMALL, now=clock)

    def answer(conversation: Conversation) -> Reply:
        if isinstance(conversation.brief, SplitBrief):
            rival.split("memory")
        return OfflinePlanner().respond(conversation)

    model = ScriptedModel(answer)
    result = Memory(storage, model, threshold=SMALL, now=clock).write(SECTIONS, "memory")
    assert (len(model.sent), result.split_triggered, result.degraded) == (2, False, "")
    whole(rival, SECTIONS)


# what a model decides


def split_call(*children: dict[str, Any], summary: str = "") -> Reply:
    return calls(call("split_page", strategy="topic", children=list(children), summary=summary))


def child(name: str, blocks: object, words: str = "") -> dict[str, Any]:
    about = words or f"{name.title()} has facts"
    return {"name": name, "title": words or name.title(), "description": about, "blocks": blocks}


GOOD = [child("alice", "2-3"), child("boats", "4-5"), child("people", "6-11", "Carmen, Deploy, Garden facts")]


def split_with(*replies: Reply | Exception) -> tuple[Memory, SplitResult]:
    memory, _ = scripted(full_page(SECTIONS), *replies, threshold=4_096)
    return memory, memory.split()


def test_a_model_divides_a_page_by_numbers() -> None:
    memory, result = split_with(split_call(*GOOD, summary="Facts about Alice and Boats."))
    assert (result.decided_by, result.degraded, result.strategy) == ("scripted", "", "topic")
    assert result.new_files == ("alice", "boats", "people")
    assert body(memory) == "# Memory\n\nFacts about Alice and Boats."
    assert body(memory, "alice").startswith("# Alice\n\nAlice has facts.")
    whole(memory, SECTIONS, 4_096)


MISDEEDS = {
    "a block in two children": ([child("alice", "2-5"), child("boats", "5-11")], "goes to two children"),
    "a block that there is not": ([child("alice", "2-99")], "out of range"),
    "the title": ([child("alice", "1-5"), child("boats", "6-11")], "block 1 of memory stays there"),
    "two of one name": ([child("alice", "2-5"), child("ALICE", "6-11")], "two children"),
    "a name that says nothing": ([child("misc", "2-11", "Alice facts")], "name it by its subject"),
    "a path": ([child("../alice", "2-11", "Alice facts")], "is a path"),
    "a device": ([child("con", "2-11", "Alice facts")], "device"),
    "a name that is taken": ([child("taken", "2-11", "Alice facts")], "choose another name"),
    "a child of nothing": ([child("alice", "2-11"), child("boats", None)], "has no blocks"),
    "a title of its own": ([{**child("alice", "2-11"), "title": "Sure, I will help"}], "title"),
    "a description of its own": ([{**child("alice", "2-11"), "description": "I am sorry"}], "description"),
    "a description with an escape": ([{**child("alice", "2-11"), "description": "Alice \x1b[2J facts"}], "control"),
    "too little": ([child("alice", "2-3")], "would stay on memory"),
}


@pytest.mark.parametrize(("children", "told"), MISDEEDS.values(), ids=MISDEEDS.keys())
def test_a_split_that_cannot_be_is_sent_back_and_then_the_planner_divides(
    children: list[dict[str, Any]], told: str
) -> None:
    before = full_page(SECTIONS)
    before.storage.write("other", b"# Other\n\n[[taken]]\n")
    before.storage.write("taken", b"# Taken\n")
    before.write(f"{SECTIONS}See [[other]].", None, "replace")
    wrong = split_call(*children)
    memory, model = scripted(before, *[wrong] * 6, threshold=4_096)
    result = memory.split()
    assert told in "".join(model.sent[1].messages[-3:])
    assert (result.decided_by, result.degraded != "") == ("offline", True)
    whole(memory, SECTIONS, 4_096)


@pytest.mark.parametrize("answer", [Reply(""), Reply("no", stop_reason="refusal"), ModelError("down"), KeyError("bug")])
def test_a_page_is_divided_whatever_the_model_answers(answer: Reply | Exception) -> None:
    memory, result = split_with(answer, answer)
    assert result.decided_by == "offline"
    assert result.degraded.startswith("scripted: ")
    whole(memory, SECTIONS, 4_096)


def test_a_part_of_a_section_gets_the_heading_again_until_it_is_merged() -> None:
    text = f"## Alice\n\n{'Alice has facts. ' * 60}\n\nAlice has a boat.\n\n## Boats\n\n{'Boats have facts. ' * 60}\n"
    memory, _ = scripted(full_page(text), split_call(child("alice", "3"), child("boats", "6")), threshold=4_096)
    memory.split()
    assert body(memory, "alice").startswith("# Alice\n\nAlice has facts.")
    assert body(memory) == "# Memory\n\n## Alice\n\nAlice has a boat."
    assert body(memory, "boats").startswith("# Boats\n\nBoats have facts.")
    memory.merge("alice")
    assert body(memory).startswith("# Memory\n\n## Alice\n\nAlice has a boat.\n\nAlice has facts.")
    memory.merge("boats")
    assert memory.read().count("## Boats") == memory.read().count("## Alice") == 1
    whole(memory, text, 4_096)


def test_a_child_of_headings_without_their_text_is_sent_back() -> None:
    wrong = split_call(child("alice", "2"), child("boats", "3-11"))
    memory, model = scripted(full_page(SECTIONS), wrong, split_call(*GOOD), threshold=4_096)
    assert memory.split().decided_by == "scripted"
    assert "block 2" in "".join(str(message) for message in model.sent[1].messages[-3:])


def test_a_child_that_is_too_large_is_divided_again() -> None:
    everything = split_call(child("facts", "2-11", "Alice, Boats, Carmen, Deploy facts"))
    memory, result = split_with(everything, ModelError("gone"))
    assert result.new_files[0] == "facts"
    assert len(result.new_files) > 1
    whole(memory, SECTIONS, 4_096)


def test_summary_words_that_nobody_said_are_left_out_and_the_division_stands() -> None:
    memory, result = split_with(split_call(*GOOD, summary="As a language model I cannot."))
    assert (result.decided_by, result.cost.calls) == ("scripted", 1)
    assert result.new_files
    assert "language model" not in memory.read()


def test_a_large_block_of_lines_with_times_is_called_by_them() -> None:
    memory = offline(SMALL)
    lines = [f"2026-02-11T{hour:02}:15Z The mail server was restarted and answers again." for hour in range(3, 22)]
    memory.write("# 2026-02-11\n\nQuiet.\n\n" + "\n".join([*lines, *lines]) + "\n", source="days/2026-02-11.md")
    made = {path: page.title for path, page in pages_of(memory.storage).items()}
    assert made["days/2026-02-11/03-15-to-21-15-log"] == "03:15 to 21:15 log"


def test_the_parts_of_a_large_block_are_listed_by_their_times() -> None:
    memory = offline(SMALL)
    memory.write("# Log\n\n" + "".join(f"2026-02-11T{n // 60:02}:{n % 60:02}Z The pump ran.\n" for n in range(200)))
    listed = [page for page in memory.storage.list_files() if memory.read(page).count("/part-") > 1]
    (first, *_) = [line for line in memory.read(listed[0]).splitlines() if "/part-" in line]
    assert re.search(r"2026-02-11 00:00 to 2026-02-11 \d\d:\d\d, part 1 of \d+: The pump ran$", first)


def test_a_part_of_a_large_block_is_never_divided() -> None:
    memory = offline(SMALL)
    text = "first word " + "word " * 1_200
    memory.write(text)
    part = next(path for path, page in pages_of(memory.storage).items() if page.piece is not None)
    asked, _ = scripted(memory, split_call(child("words", "2", "word word")), threshold=SMALL)
    asked.split(part)
    whole(memory, text)


def test_a_part_that_a_person_wrote_below_keeps_its_bytes_when_it_has_to_be_divided() -> None:
    memory = offline(SMALL)
    text = "first word " + "word " * 1_200
    memory.write(text)
    part = next(path for path, page in pages_of(memory.storage).items() if page.piece is not None)
    page = pages_of(memory.storage)[part]
    added = "\n\n".join(f"Hand written fact {n} about the kiln and the boat." for n in range(60))
    memory.storage.write(part, (page.body + added + "\n\n" + page.links + page.metadata).encode())
    memory.checkup(apply=True)
    whole(memory, text)
    whole(memory, added)


@pytest.mark.parametrize("operation", ["merge", "delete", "rename"])
def test_a_freed_name_is_not_given_to_a_block_whose_parts_would_cover_others(operation: str) -> None:
    memory = offline(SMALL)
    texts = ["```\n" + "".join(f"code line {n} of {which}\n" for n in range(400)) + "```\n" for which in ("one", "two")]
    memory.write("# Code\n\n" + texts[0], "code")
    index = next(path for path, page in pages_of(memory.storage).items() if page.children and path.startswith("code/"))
    if operation == "rename":
        memory.rename(index, f"{index}/inner")
    else:
        getattr(memory, operation)(index)
    memory.write(texts[1], "code")
    whole(memory, texts[0])
    whole(memory, texts[1])


@pytest.mark.parametrize(("path", "error"), [("ghost", PageNotFound), ("../x", InvalidPath)])
def test_what_is_no_page_is_not_divided(path: str, error: type[Exception]) -> None:
    memory = full_page(SECTIONS)
    with pytest.raises(error):
        memory.split(path)


@pytest.mark.parametrize("levels", [25, 60])
def test_a_deep_list_does_not_swallow_what_stands_behind_it(levels: int) -> None:
    text = "".join(f"{'  ' * n}- level {n}\n" for n in range(levels)) + "\n# After\n\nThe text behind.\n"
    assert [block.kind for block in parse_blocks(text)][-2:] == ["heading", "paragraph"]


def test_a_page_that_lists_itself_is_no_child_of_its_own() -> None:
    memory = offline(SMALL)
    facts = [f"Roses of sort {n} grow in bed {n}, and need water twice a day in the summer.\n\n" for n in range(1, 31)]
    page = f"# Memory\n\n{''.join(facts)}## Links\n\n- [[memory]] - itself\n"
    memory.storage.write("memory", page.encode())
    asked, _ = scripted(memory, split_call(child("memory", "2-25", "Roses of a sort grow in a bed")))
    asked.split()
    held = "".join(found.text for found in pages_of(memory.storage).values())
    assert [fact for fact in facts if fact.strip() not in held] == []


@pytest.mark.parametrize("word", ["ılık", "ırmak", "ısı"])
def test_a_subject_whose_capital_is_another_letter_is_no_obstacle(word: str) -> None:
    memory = Memory(VolatileStorage(clock), threshold=SMALL, now=clock)
    written = memory.write("\n\n".join(f"{word} {number}" for number in range(400)), "memory")
    assert (written.degraded, written.new_files[0]) == ("", word)
    assert f"# {word}" in memory.read(word)


def test_a_text_nested_too_deep_does_not_keep_its_page_from_being_split() -> None:
    memory = Memory(VolatileStorage(clock), threshold=SMALL, now=clock)
    fence, deep = "```py\n# one\n\n- two\n```\n\n", "> - " * 40 + "deep\n\n"
    moved = [f"- 202{n % 2 + 5}-0{1 + n % 5}-1{n % 9}: the lantern {n} was moved to the harbour\n" for n in range(40)]
    memory.write(fence + "".join(moved[::2]))
    assert memory.write(deep + "".join(moved[1::2])).degraded == ""
    assert stands(memory, fence.strip())
    assert stands(memory, deep.strip())


def test_all_that_somebody_says_is_of_the_day_on_which_it_begins() -> None:
    said = "[9 May 2023, 7:06 pm] Maria: I am glad.\n\n(image: a quote)\n\n[10 June 2023, 8:00 am] John: Thanks.\n"
    blocks = parse_blocks(said)
    assert [numbers for _, numbers in dated_runs(blocks, range(1, len(blocks) + 1))] == [(1, 2), (3,)]


def test_what_was_said_on_another_day_is_of_no_section_of_a_day() -> None:
    log = "# 2026-02-14\n\n- a\n\n*Said on 2026-02-14*\n\n- b\n\n*Said on 2026-02-15*\n\n# 2026-02-16\n\n- c\n"
    blocks = parse_blocks(log)
    body = range(1, len(blocks) + 1)
    assert [section.numbers for section in find_sections(blocks, body)] == [(1, 2, 3), (6, 7)]
    assert [numbers for _, numbers in dated_runs(blocks, body)] == [(1, 2, 3), (4, 5), (6, 7)]
