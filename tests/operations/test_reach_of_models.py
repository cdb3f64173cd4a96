"""What a model can do with what it was shown: behind passages, with other words, on pages that may not be there."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from memory_v2.memory import Memory
from memory_v2.models.base import Reply, ToolCall
from memory_v2.operations.guard import dates_meant, words_told
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import new_page
from tests.operations.scenes import body, call, calls, offline, scripted
from tests.properties.whole import clock

OF_ITS_KIND = ("# Shop\n\n- The shop sells kettles.\n- The shop opens at nine.\n", "shop")
UNLIKELY = ("# Attic\n\n- Winter tyres are stored here.\n- The ladder leans on the kettles.\n", "attic")
FAR_OFF = ("# Attic\n\n- Winter tyres are stored here.\n- The ladder is broken.\n", "attic")
CROWD = [
    (f"# Room {n}\n\n- kettles kettles kettles, number {n}\n- kettles again, shelf {n}\n", f"room-{n}") for n in "abcde"
]


TEXT = "More kettles, number by number, shelf by shelf: kettles, kettles.\n"


def test_new_text_may_go_behind_a_passage_of_a_page_that_was_not_shown_whole() -> None:
    memory = offline()
    for text, path in (UNLIKELY, *CROWD):
        memory.write(text, path)
    asked, model = scripted(memory, calls(call("place", blocks="n1", page="attic", after=3)))
    result = asked.write(TEXT)
    shown = model.sent[0].messages[0]
    assert "page attic" not in shown
    assert "attic [3 of 3]" in shown
    assert (result.decided_by, result.path) == ("scripted", "attic")
    assert body(memory, "attic").endswith(f"- The ladder leans on the kettles.\n\n{TEXT.strip()}")


@pytest.mark.parametrize("after", [2, 1])
def test_a_page_of_which_other_blocks_were_shown_has_to_be_read_first(after: int) -> None:
    memory = offline()
    for text, path in (UNLIKELY, *CROWD):
        memory.write(text, path)
    first = calls(call("place", blocks="n1", page="attic", after=after))
    asked, model = scripted(memory, first, calls(call("place", blocks="n1", page="memory")))
    asked.write(TEXT)
    assert "'attic' has not been shown; read it first" in model.sent[1].messages[-1]
    assert "More kettles" not in body(memory, "attic")


def test_a_description_may_use_the_words_of_the_links_around_it() -> None:
    memory = offline()
    memory.storage.write("memory", new_page("memory", "Memory", [parse_blocks("Dana leads Silica.\n")]).data)
    memory.write("# Dana\n\n- Dana leads the Silica service.\n", "dana")
    made = call(
        "create_page",
        path="silica",
        parent="memory",
        title="Silica",
        blocks="n1-n2",
        description="Silica, which Dana leads",
    )
    asked, model = scripted(memory, calls(made))
    assert asked.write("# Silica\n\n- Tests run at night.\n").decided_by == "scripted"
    assert len(model.sent) == 1


def test_all_children_that_are_wrong_are_told_at_once() -> None:
    memory = offline()
    memory.write("# Notes\n\n- Alice bakes bread.\n- Boats need paint.\n- Alice sings.\n", "notes")
    wrong = [
        {"name": "misc", "title": "Alice", "description": "Alice bakes bread", "blocks": "2"},
        {"name": "boats", "title": "Boats", "description": "x" * 300, "blocks": "3"},
    ]
    asked, model = scripted(memory, calls(call("split_page", strategy="topic", children=wrong)))
    asked.split("notes")
    told = model.sent[1].messages[-1]
    assert "child 'misc'" in told
    assert "child 'boats'" in told
    assert "Nothing of this call was taken" in told


def looked_up(*replies: Reply) -> tuple[list[str], list[str]]:
    memory = offline()
    for text, path in (OF_ITS_KIND, FAR_OFF):
        memory.write(text, path)
    asked, model = scripted(memory, *replies)
    results = asked.search("kettles", 5)
    return [result.excerpt for result in results], [sent.messages[-1] for sent in model.sent]


def test_other_words_are_looked_up_and_what_is_found_can_be_cited() -> None:
    found, told = looked_up(
        calls(call("look_up", words="tyres ladder")),
        calls(call("answer", results=[{"place": "p2", "score": 1}])),
    )
    assert "===== PLACES THAT WERE NOT SHOWN YET" in told[1]
    assert found[0] in ("- Winter tyres are stored here.", "- The ladder is broken.")


def test_looking_up_what_is_nowhere_says_so_and_is_no_error() -> None:
    found, told = looked_up(
        calls(call("look_up", words="zeppelin")), calls(call("no_answer", reason="nothing tells of kettles"))
    )
    assert found == []
    assert told[1].splitlines()[1] == "none"


def test_of_several_pages_those_that_are_there_are_opened_and_the_others_named() -> None:
    found, told = looked_up(
        calls(call("open_pages", paths=["attic", "cellar"])),
        calls(call("answer", results=[{"page": "attic", "blocks": "2", "score": 1}])),
    )
    assert "page attic" in told[1]
    assert "There is no page cellar." in told[1]
    assert found == ["- Winter tyres are stored here."]


def test_a_page_that_is_only_made_for_a_text_does_not_say_it_already() -> None:
    known = call("nothing_new", blocks="n1", said_in=[{"page": "kiln", "blocks": 1}])
    asked, _ = scripted(offline(), calls(known), calls(call("place", blocks="n1", page="kiln")))
    assert asked.write("Kiln", "kiln").outcome == "written"
    assert body(asked, "kiln") == "# Kiln\n\nKiln"


# pages that were not shown


def far_off(tmp_path: Path) -> Memory:
    memory = offline(traces_in=tmp_path)
    for text, path in (UNLIKELY, *CROWD):
        memory.write(text, path)
    return memory


def test_a_passage_that_was_shown_whole_is_replaced(tmp_path: Path) -> None:
    text = f"- {TEXT}"
    change = call("replace", page="attic", blocks="3", new_blocks="n1", reason="it is repaired")
    blind = call("replace", page="attic", blocks="2", new_blocks="n1", reason="it is gone")
    asked, model = scripted(far_off(tmp_path), calls(blind), calls(change))
    asked.write(text)
    assert "page attic" not in model.sent[0].messages[0]
    assert "'attic' has not been shown; read it first" in model.sent[1].messages[-1] or (
        "block 2 of attic was not shown" in model.sent[1].messages[-1]
    )
    assert body(asked, "attic") == f"# Attic\n\n- Winter tyres are stored here.\n{text.strip()}"


def test_own_words_may_hold_the_date_of_today_and_what_stands_on_the_page(tmp_path: Path) -> None:
    memory = offline(traces_in=tmp_path)
    memory.write("# Shop\n\n- Dana keeps the keys.\n- The shop opens at nine.\n", "shop")
    words = f"- The shop opens at ten since {clock():%Y-%m-%d} (before: nine); Dana keeps the keys."
    change = call("replace", page="shop", blocks="3", text=words, reason="it changed")
    asked, model = scripted(memory, calls(change))
    asked.write("The shop opens at ten since today.\n")
    assert (len(model.sent), words in asked.read("shop")) == (1, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We no longer use Redis.", "- Redis is no longer used since {today} (before: since 2025-01-10, by Dana)."),
        ("Please forget that we use Redis.", "- Redis is not used since {today} (before: since 2025-01-10, by Dana)."),
        ("Tomasz now looks after Redis instead of Dana.", "- Tomasz looks after Redis since {today} (before: Dana)."),
        ("Tomasz looks after Redis, no longer young Dana.", "- Tomasz looks after Redis since {today} (before: Dana)."),
        ("Tomasz looks after Redis.", "- Tomasz looks after Redis (noted on {today}; before: Dana)."),
        ("Redis moves from Dana to Tomasz.", "- Tomasz looks after Redis since {today} (before: Dana)."),
        ("Yesterday Tomasz took Redis over.", "- Tomasz took Redis over on {yesterday} (before: Dana, 2025-01-10)."),
    ],
)
def test_what_is_taken_back_is_told_in_words_that_last(text: str, words: str) -> None:
    memory = offline()
    memory.write("# Shop\n\n- Dana looks after Redis since 2025-01-10.\n", "shop")
    own = words.format(today=f"{clock():%Y-%m-%d}", yesterday=f"{clock() - timedelta(1):%Y-%m-%d}")
    change = call("replace", page="shop", blocks="2", text=own, reason="it was taken back")
    line = call("describe", page="shop", description="The shop: who looks after Redis")
    asked, model = scripted(memory, calls(change, line))
    assert (asked.write(text).decided_by, len(model.sent)) == ("scripted", 1)
    assert body(asked, "shop") == f"# Shop\n\n{own}"


def test_own_words_that_lack_something_are_mended_by_the_same_call(tmp_path: Path) -> None:
    memory = offline(traces_in=tmp_path)
    memory.write("# Shop\n\n- Dana looks after Redis.\n- It is open.\n", "shop")
    short = call("replace", page="shop", blocks="2", text="- Tomasz looks after Redis (before: Dana).", reason="new")
    whole = "- Tomasz looks after Redis on port 6380 (before: Dana)."
    mended = call("replace", page="shop", blocks="2", text=whole, reason="new")
    asked, model = scripted(memory, calls(short), calls(mended))
    result = asked.write("Tomasz looks after Redis, on port 6380.\n")
    assert "6380" in model.sent[1].messages[-1]
    assert (result.decided_by, len(model.sent)) == ("scripted", 2)
    assert body(asked, "shop") == f"# Shop\n\n{whole}\n- It is open."


def test_a_page_that_is_asked_for_beside_the_last_decision_is_shown_before_the_write_ends(tmp_path: Path) -> None:
    memory = far_off(tmp_path)
    placed = call("place", blocks="n1", page="memory")
    asked, model = scripted(
        memory,
        calls(placed, call("read_pages", paths=["attic"])),
        calls(call("remove", page="attic", blocks="3", reason="it is no longer so")),
    )
    result = asked.write("Kettles have numbers.\n")
    assert "[2] - Winter tyres" in model.sent[1].messages[-1]
    assert (result.decided_by, len(model.sent)) == ("scripted", 2)


def test_a_model_that_has_read_and_has_no_more_to_do_says_so_in_words(tmp_path: Path) -> None:
    placed = call("place", blocks="n1", page="memory")
    asked, model = scripted(far_off(tmp_path), calls(placed, call("read_pages", paths=["attic"])), Reply("Done."))
    result = asked.write("Kettles have numbers.\n")
    assert (result.decided_by, result.degraded, len(model.sent)) == ("scripted", "", 2)


# headings over parts that go to different pages

WEEK = "## Weekly notes\n\n- Kettles sell well.\n\n- Winter tyres are sold.\n"
APART = (call("place", blocks="n2", page="shop"), call("place", blocks="n3", page="attic"))


def two_pages(tmp_path: Path) -> Memory:
    memory = offline(traces_in=tmp_path)
    for text, path in (FAR_OFF, OF_ITS_KIND):
        memory.write(text, path)
    return memory


def test_a_heading_whose_parts_go_to_different_pages_is_left_out_by_name(tmp_path: Path) -> None:
    asked, model = scripted(two_pages(tmp_path), calls(*APART, call("nothing_new", blocks="n1")))
    result = asked.write(WEEK)
    assert (len(model.sent), result.decided_by, result.outcome) == (1, "scripted", "written")
    assert "Weekly" not in "".join(asked.read(path) for path in ("memory", "shop", "attic"))
    decided = next(event for event in asked.trace(result.trace).events if event["event"] == "decided")
    assert any(told.startswith('left out: n1 (line 1), "## Weekly notes"') for told in decided["checked"])


def test_or_it_stands_over_them_on_each(tmp_path: Path) -> None:
    apart = (call("place", blocks="n1, n2", page="shop"), call("place", blocks="n1, n3", page="attic"))
    asked, model = scripted(two_pages(tmp_path), calls(*apart))
    assert (asked.write(WEEK).decided_by, len(model.sent)) == ("scripted", 1)
    for path, part in (("shop", "- Kettles sell well."), ("attic", "- Winter tyres are sold.")):
        assert f"## Weekly notes\n\n{part}" in asked.read(path)


@pytest.mark.parametrize(
    ("text", "made", "told"),
    [
        (WEEK, [call("place", blocks="n2-n3", page="shop")], "heads parts that go to one page"),
        (WEEK.replace("Weekly notes", "Notes of 2026-02-27"), list(APART), "says 2026-02-27"),
        (WEEK, [APART[0]], "n3 is nowhere yet"),
    ],
)
def test_a_heading_that_tells_more_is_not_left_out(text: str, made: list[ToolCall], told: str, tmp_path: Path) -> None:
    asked, model = scripted(two_pages(tmp_path), calls(*made, call("nothing_new", blocks="n1")), Reply("Done."))
    asked.write(text)
    assert told in model.sent[1].messages[-1]


def test_what_is_no_heading_is_not_left_out(tmp_path: Path) -> None:
    asked, model = scripted(two_pages(tmp_path), calls(call("nothing_new", blocks="n2")), Reply("Done."))
    asked.write(WEEK)
    assert "n2 is no heading" in model.sent[1].messages[-1]
    assert "Kettles sell well." in "".join(asked.read(path) for path in ("memory", "shop", "attic"))


@pytest.mark.parametrize(
    ("text", "own", "told"),
    [
        ("Today Silica moved.", "Silica moved on 2026-02-27.", True),
        ("Yesterday Silica moved.", "Silica moved on 2026-02-26.", True),
        ("Silica moved on Monday.", "Silica moved on 2026-02-23.", True),
        ("Silica moved on Monday.", "Silica moved on 2026-02-24.", False),
        ("Today Silica moved.", "Silica moved on 2026-03-01.", True),
        ("Today Silica moved.", "Silica moved on 2026-02-28.", False),
        ("Silica moved in May.", "Silica moved on 2026-02-26.", False),
    ],
)
def test_today_is_the_day_on_which_a_text_was_said_or_the_present_one(text: str, own: str, told: bool) -> None:
    said_on = {date(2026, 2, 27), date(2026, 3, 1)}
    assert (own.rstrip(".").split()[-1] in dates_meant(text, said_on).split()) == told
    if told and "Monday" not in text:
        assert {"today", "yesterday"} & set(text.casefold().split()) <= set(words_told(own, said_on, text).split())
