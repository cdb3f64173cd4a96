"""The top and the end of each page that a split makes, and how a merge brings the old page back."""

from __future__ import annotations

import pytest

from memory_v2.memory import Memory
from memory_v2.tree.block import parse_blocks
from tests.operations.scenes import SMALL, body, call, calls, offline, scripted
from tests.properties.whole import pages_of

ALICE = "Alice keeps bees and sells honey on the market. " * 20
BOATS = "The boats lie in the harbour, and the mast is new. " * 20
TWO = f"# Club\n\nAn intro.\n\n## Alice\n\n{ALICE}\n\n### Bees\n\nBees are fed.\n\n## Boats\n\n{BOATS}\n"

DESCRIBED = {"alice": "Alice keeps bees", "boats": "The boats lie in the harbour", "end": "The end"}


def split(text: str, *children: dict[str, str]) -> Memory:
    """A page with this text, split as a model says: by name, title and blocks."""
    memory = offline()
    memory.write(text, "club", "replace")
    made = [{"description": DESCRIBED[child["name"]], **child} for child in children]
    memory, _ = scripted(memory, calls(call("split_page", strategy="topic", children=made)), threshold=2_500)
    assert memory.split("club").decided_by == "scripted"
    return memory


def child(name: str, blocks: str, title: str = "") -> dict[str, str]:
    return {"name": name, "title": title or name.title(), "blocks": blocks}


def test_children_that_are_merged_in_turn_give_the_old_page_back() -> None:
    memory = split(TWO, child("alice", "3-6", "Alice and her bees"), child("boats", "7-8"))
    memory.merge("club/alice")
    memory.merge("club/boats")
    assert body(memory, "club") == TWO.strip()
    assert "title_level" not in memory.read("club")


@pytest.mark.parametrize(("heading", "made", "restored"), [
    ("## Alice ##", "# Alice ##", "## Alice ##"),
    ("   ### Alice", "   # Alice", "   ### Alice"),
    ("Alice\n-----", "Alice\n=====", "Alice\n-----"),
    ("Alice\nKeeper\n---", "Alice\nKeeper\n===", "Alice\nKeeper\n---"),
    ("# Alice", "# Alice", "# Alice"),
])  # fmt: skip
def test_a_heading_of_any_form_becomes_a_title_and_a_heading_again(heading: str, made: str, restored: str) -> None:
    memory = split(f"# Club\n\n{heading}\n\n{ALICE}\n\n# Boats\n\n{BOATS}\n", child("alice", "2-3", "Honey"))
    assert body(memory, "club/alice").startswith(f"{made.strip()}\n\nAlice keeps bees")
    memory.merge("club/alice")
    assert f"\n{restored}\n\nAlice keeps bees" in memory.read("club")


def test_a_heading_that_says_nothing_stands_below_a_title_that_does() -> None:
    memory = split(TWO.replace("## Alice", "## Notes"), child("alice", "3-6", "Alice and her bees"))
    assert body(memory, "club/alice").startswith("# Alice and her bees\n\n## Notes\n\nAlice keeps bees")


def test_what_joins_a_section_stands_below_its_title() -> None:
    first = f"# Club\n\n## Alice\n\n{ALICE}\n\nAlice has a boat.\n\n## Boats\n\n{BOATS}\n"
    memory = split(first, child("alice", "3"))
    assert body(memory, "club") == f"# Club\n\n## Alice\n\nAlice has a boat.\n\n## Boats\n\n{BOATS.strip()}"
    children = [child("alice", "2-3"), child("boats", "4-5")]
    made = [{**each, "description": DESCRIBED[each["name"]]} for each in children]
    again = calls(call("split_page", strategy="topic", children=made))
    memory, _ = scripted(memory, again, threshold=2_048)
    assert memory.split("club").decided_by == "scripted"
    text = body(memory, "club/alice")
    assert text.count("Alice\n\n") == 1
    assert text.index("Alice keeps bees") < text.index("Alice has a boat.")


RULED = (
    f"# Club\n\nIntro.\n\n---\n\n## Alice\n\n{ALICE}\n***\n\n\n\n## Boats\n\n{BOATS}\n\n- - -\n\n## End\n\nThe end.\n"
)


def test_no_page_ends_or_begins_with_a_rule_or_blank_lines() -> None:
    memory = split(RULED, child("alice", "4-5"), child("boats", "6-9"))
    for path, page in pages_of(memory.storage).items():
        kinds = [block.kind for block in page.blocks]
        assert "rule" not in (kinds[-1], *kinds[1:2]), path
        assert not page.body.endswith("\n\n\n"), path
    assert body(memory, "club") == "# Club\n\nIntro.\n\n---\n\n## End\n\nThe end."


def test_the_rules_at_the_ends_come_back_in_a_merge() -> None:
    memory = split(RULED, child("alice", "3-6"), child("boats", "7-9"), child("end", "10-11"))
    assert body(memory, "club") == "# Club\n\nIntro."
    for name in ("alice", "boats", "end"):
        memory.merge(f"club/{name}")
    before, after = (parse_blocks(text) for text in (RULED, body(memory, "club")))
    assert [block.content for block in after] == [block.content for block in before]
    assert "rules_below" not in memory.read("club")


def test_the_planner_gives_every_page_of_a_section_a_title_of_its_own() -> None:
    memory = offline(SMALL)
    memory.write(
        "".join(f"## {name}\n\n{name} keeps bees. {ALICE}\n\n---\n\n" for name in ("Alice", "Boats", "Carmen"))
    )
    pages = pages_of(memory.storage)
    assert len(pages) > 2
    assert all(page.blocks[0].level == 1 and page.blocks[-1].kind != "rule" for page in pages.values())


def test_a_section_that_has_become_a_page_is_known_when_it_is_written_again() -> None:
    memory = offline(SMALL)
    section = f"## Alice\n\n{ALICE}\n"
    memory.write(f"{section}\n## Boats\n\n{BOATS}\n\n## Carmen\n\n{BOATS}\n")
    assert body(memory, "alice").startswith("# Alice\n")
    assert memory.write(section).outcome == "nothing new"
    memory.write("## Alice\n\nAlice has a ladder.\n", "alice")
    assert memory.read("alice").count("Alice\n\n") == 1
    assert "\n\nAlice has a ladder." in body(memory, "alice")
