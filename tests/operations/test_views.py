"""What a model is shown of the tree when a text comes: likely pages by their best hit, and of a long page the part that
matters."""

from __future__ import annotations

from pathlib import Path

from memory_v2.memory import Memory
from memory_v2.models.base import Prompt, Reply
from memory_v2.models.briefs import WriteBrief
from memory_v2.operations.context import refresh
from memory_v2.operations.draft import Draft
from memory_v2.operations.write import write_brief
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from tests.operations.scenes import body, call, calls, problems, scripted
from tests.properties.whole import clock

FILLING = "".join(f"- Fact {n} about the weather of day {n}, told at some length by somebody.\n" for n in range(60))
LONG = f"# Shop\n\nAll about the shop.\n\n## Kettles\n\n- The kettle is blue.\n\n## Weather\n\n{FILLING}"
"""Blocks: 1 title, 2 opening, 3 ## Kettles, 4 the kettle, 5 ## Weather, 6–65 the facts."""
NEW = "The kettle of the shop is red since 2026-03-01.\n"


def shop(traces_in: Path | None = None) -> VolatileStorage:
    storage = VolatileStorage(clock, traces_in)
    storage.write("memory", b"# Memory\n\nNotes.\n\n## Links\n\n- [[shop]] - The shop\n")
    storage.write("shop", LONG.encode())
    return storage


def brief_for(storage: VolatileStorage, text: str = NEW, path: str | None = None) -> WriteBrief:
    context = Memory(storage, now=clock)._engine.context
    refresh(context)
    return write_brief(Draft(context), parse_blocks(text), path)


def message(storage: VolatileStorage, text: str = NEW, path: str | None = None) -> str:
    return Prompt("write/task", {"brief": brief_for(storage, text, path)}).text


def test_of_a_long_page_the_part_around_what_was_found_is_shown_with_its_own_numbers() -> None:
    for path in (None, "shop"):
        shown = message(shop(), path=path)
        assert "[1] # Shop\n" in shown
        assert "[3] ## Kettles\n[4] - The kettle is blue.\n[5] ## Weather\n" in shown
        assert "–64 are not shown\n" in shown
        assert "[65] - Fact 59" in shown, "what is placed at the end follows this"
        assert "bytes · below memory · in part\n" in shown
        assert len(shown) < len(LONG) / 2


def test_a_short_page_is_shown_whole() -> None:
    storage = shop()
    storage.write("shop", LONG[:900].encode())
    view = next(view for view in brief_for(storage).pages if view.page.path == "shop")
    assert (view.is_part, view.block_rows[-1].last) == (False, len(view.page.blocks))


def test_a_block_that_was_not_shown_can_be_replaced_only_after_reading(tmp_path: Path) -> None:
    blind = call("replace", page="shop", blocks="30", new_blocks="n1", reason="it is red now")
    read = calls(call("read_pages", paths=["shop"]))
    memory, model = scripted(Memory(shop(tmp_path), now=clock), calls(blind), read, calls(blind))
    result = memory.write(NEW)
    assert problems(memory, result)[0].startswith("block 30 of shop was not shown; read_pages shows the whole page")
    assert "in part" not in model.sent[2].messages[-1]
    assert "Fact 24 " not in body(memory, "shop")
    assert NEW.strip() in body(memory, "shop")


def test_a_page_shown_in_part_is_not_rewritten_and_says_nothing_already(tmp_path: Path) -> None:
    drop = {"blocks": "6-65", "reason": "old"}
    for blind in (
        call("rewrite_page", page="shop", text=NEW, dropped=[drop]),
        call("nothing_new", blocks="n1", said_in=[{"page": "shop", "blocks": "30"}]),
        call("remove", page="shop", blocks="30", reason="it is old"),
    ):
        memory, _ = scripted(Memory(shop(tmp_path), now=clock), calls(blind), Reply("Done."), Reply("Done."))
        assert "was not shown" in problems(memory, memory.write(NEW))[0]


def test_words_that_few_places_have_tell_more_than_a_sentence_that_many_have() -> None:
    storage = VolatileStorage(clock)
    towns = ("bergen", "turin", "porto", "lund", "ghent", "graz")
    for town in towns:
        contract = "## Contract\n\n- It pays 190 euros a month.\n"
        storage.write(town, f"# {town.title()}\n\n## Contact\n\n- Ask {town[:3].title()}.\n\n{contract}".encode())
    storage.write("memory", ("# Memory\n\n## Links\n\n" + "".join(f"- [[{t}]]\n" for t in towns)).encode())
    shown = [view.page.path for view in brief_for(storage, "Bergen pays 200 euros a month, before 190 euros.\n").pages]
    assert shown[:2] == ["memory", "bergen"]
    assert len(shown) < len(towns)


def test_the_page_that_lists_a_likely_one_is_shown_with_its_links() -> None:
    storage = VolatileStorage(clock)
    storage.write("memory", b"# Memory\n\n## Links\n\n- [[shops]] - The shops\n")
    storage.write("shops", b"# Shops\n\n## Links\n\n- [[shops/oslo]] - Oslo\n- [[shops/porto]] - Porto\n")
    storage.write("shops/oslo", b"# Oslo\n\n- The kettle is blue.\n")
    storage.write("shops/porto", b"# Porto\n\n- Plates.\n")
    brief = brief_for(storage)
    assert "shops" in {view.page.path for view in brief.views}
    assert "[L2] - [[shops/porto]] - Porto" in Prompt("write/task", {"brief": brief}).text


def test_of_many_links_those_are_shown_that_have_words_of_the_text() -> None:
    storage = VolatileStorage(clock)
    lines = [f"- [[room-{n}]] - Chairs of room {n}\n" for n in range(60)]
    lines[40] = "- [[room-40]] - The red kettle\n"
    storage.write("memory", ("# Memory\n\n## Links\n\n" + "".join(lines)).encode())
    for n in range(60):
        storage.write(f"room-{n}", b"# Room\n\nChairs.\n")
    shown = message(storage)
    assert "[L41] - [[room-40]] - The red kettle" in shown
    assert "links 42–60 are not shown" in shown
    assert shown.count("\n[L") < 20


def test_what_was_found_beyond_the_part_that_is_shown_is_a_passage() -> None:
    storage = shop()
    told = "and so on " * 30
    filling = "".join(f"- The kettle number {n} of the shop, red, since 2026-03-01; {told}\n" for n in range(20))
    storage.write("shop", f"# Shop\n\n{filling}".encode())
    brief = brief_for(storage)
    view = next(view for view in brief.pages if view.page.path == "shop")
    assert brief.passages
    assert all(hit.block not in (view.blocks or ()) for hit in brief.passages)
