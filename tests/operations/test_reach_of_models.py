"""What a model can do with what it was shown: behind passages, with other words, on pages that may not be there."""

from __future__ import annotations

import pytest

from memory_v2.models.base import Reply
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import new_page
from tests.operations.scenes import body, call, calls, offline, scripted

OF_ITS_KIND = ("# Shop\n\n- The shop sells kettles.\n- The shop opens at nine.\n", "shop")
FAR_OFF = ("# Attic\n\n- Winter tyres are stored here.\n- The ladder is broken.\n", "attic")
CROWD = [
    (f"# Room {n}\n\n- kettles kettles kettles, number {n}\n- kettles again, shelf {n}\n", f"room-{n}") for n in "abc"
]


TEXT = "A new ladder was bought; kettles stand beside it.\n"


def test_new_text_may_go_behind_a_passage_of_a_page_that_was_not_shown_whole() -> None:
    memory = offline()
    for text, path in (FAR_OFF, *CROWD):
        memory.write(text, path)
    asked, model = scripted(memory, calls(call("place", blocks="n1", page="attic", after=3)))
    result = asked.write(TEXT)
    shown = model.sent[0].messages[0]
    assert "page attic" not in shown
    assert "attic [3 of 3]" in shown
    assert (result.decided_by, result.path) == ("scripted", "attic")
    assert body(memory, "attic").endswith(
        "- The ladder is broken.\n\nA new ladder was bought; kettles stand beside it."
    )


@pytest.mark.parametrize("after", [2, 1])
def test_a_page_of_which_other_blocks_were_shown_has_to_be_read_first(after: int) -> None:
    memory = offline()
    for text, path in (FAR_OFF, *CROWD):
        memory.write(text, path)
    first = calls(call("place", blocks="n1", page="attic", after=after))
    asked, model = scripted(memory, first, calls(call("place", blocks="n1", page="memory")))
    asked.write(TEXT)
    assert "'attic' has not been shown; read it first" in model.sent[1].messages[-1]
    assert "ladder was bought" not in body(memory, "attic")


def test_a_heading_at_the_beginning_becomes_the_title_of_a_new_page() -> None:
    made = call(
        "create_page", path="shop", parent="memory", title="Shop", description="the shop: kettles", blocks="n1-n2"
    )
    asked, _ = scripted(offline(), calls(made))
    asked.write("# The shop at the corner\n\n- It sells kettles.\n")
    assert body(asked, "shop") == "# The shop at the corner\n\n- It sells kettles."


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
