"""A section that becomes a page has a title; pages are divided and named by what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.errors import InvalidText, StorageError
from memory_v2.index.passages import Passage, passages
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import Page
from memory_v2.validate import MAX_TEXT, check_text
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


PROSE = "It was told at length and written down by all who were there. " * 12
SECTIONS = "".join(f"## {name}\n\n{PROSE}\n\n" for name in ("Alice", "Boats", "Carmen", "Deploy"))


def written(text: str, source: str = "notes/harbour.md") -> Memory:
    memory = offline(SMALL)
    memory.write(text, source=source)
    assert memory.check() == []
    return memory


def line_of(memory: Memory, path: str, above: str = "memory") -> str:
    """The description by which a page is listed."""
    return next(link.description for link in pages_of(memory.storage)[above].children if link.target == path)


def test_a_divided_page_is_listed_by_what_stayed_on_it_and_then_by_what_is_below() -> None:
    memory = written(f"# Harbour\n\n## Tide table\n\nHigh at noon.\n\n{SECTIONS}")
    assert "Tide table" in body(memory, "notes/harbour")
    assert line_of(memory, "notes/harbour").startswith("Harbour: Tide table; High at noon; Alice")


def test_the_line_that_somebody_else_gave_a_page_stays_when_it_is_divided() -> None:
    memory = written("# Harbour\n\n## Tide table\n\nHigh at noon.\n")
    page = pages_of(memory.storage)["memory"].with_description("notes/harbour", "Where the boats lie")
    memory.storage.write("memory", page.text.encode())
    memory.write(SECTIONS, "notes/harbour", "append")
    assert "notes/harbour/boats" in memory.storage.list_files()
    assert line_of(memory, "notes/harbour") == "Where the boats lie"


@pytest.mark.parametrize(
    ("heading", "below", "name"),
    [
        ("MAJOR LATE-SESSION DEVELOPMENT: Chamber loaded (23:50 UTC)", "", "chamber-loaded"),
        ("Key findings", "### Tides\n\nHigh.\n\n", "key-findings"),
    ],
)
def test_a_page_is_named_by_the_half_of_its_heading_that_says_something(heading: str, below: str, name: str) -> None:
    memory = written(f"# Harbour\n\n{SECTIONS}## {heading}\n\n{below}{PROSE}\n")
    assert f"notes/harbour/{name}" in memory.storage.list_files()


def test_sections_that_go_together_are_named_by_the_first_and_the_last() -> None:
    chapters = "".join(f"### Chapter {number}\n\n{'A short tale. ' * 16}\n\n" for number in range(1, 21))
    memory = written(f"# Tales\n\n## Book\n\n{chapters}", "tales.md")
    titles = [page.title for path, page in pages_of(memory.storage).items() if "chapter" in path]
    assert titles
    assert all(" to " in title for title in titles)


def test_sections_of_a_day_that_go_together_are_named_by_their_times() -> None:
    hours = "".join(f"### [{hour:02}:22] Learnings\n\n{'The pump ran well. ' * 12}\n\n" for hour in range(5, 20))
    memory = written(f"# Log 2026-02-11\n\n{hours}", "days/2026-02-11.md")
    made = [path for path in memory.storage.list_files() if path.startswith("days/2026-02-11/")]
    assert made
    assert all(path.endswith("-log") and "-to-" in path for path in made)
    assert made[0].startswith("days/2026-02-11/05-22-to-")


def test_the_parts_of_a_large_block_say_where_they_are_from() -> None:
    lines = [f"2026-02-11T{n // 60:02}:{n % 60:02}Z The pump ran and was oiled." for n in range(200)]
    memory = written("# 2026-02-11\n\nQuiet.\n\n" + "\n".join(lines) + "\n", "days/2026-02-11.md")
    below = {path: page for path, page in pages_of(memory.storage).items() if "/" in path.removeprefix("days/")}
    assert any(page.piece for page in below.values())
    for path, page in below.items():
        assert page.properties["split_from"] == path.rpartition("/")[0]
        assert page.properties["source"] == "days/2026-02-11.md"


def test_text_that_somebody_has_put_around_a_part_of_a_large_block_is_divided() -> None:
    memory = written("# Log\n\n```\n" + "".join(f"line {n} of the log of the pump\n" for n in range(200)) + "```\n")
    part = next(path for path in memory.storage.list_files() if path.endswith("part-2"))
    beds = (f"The {name} grows in bed {n} beside the wall.\n\n" for n in range(16) for name in ("leek", "kale", "bean"))
    above, metadata, below = memory.storage.read(part).data.partition(b"## Metadata")
    memory.storage.write(part, b"Before it.\n\n" + above + "".join(beds).encode() + metadata + below)
    result = memory.split(part)
    assert (result.decided_by, result.degraded) == ("offline", "")
    assert result.new_files


FACTS = "".join(f"- Fact {number} of the harbour is paid by Ines in Porto.\n" for number in range(400))


def test_a_page_that_is_divided_next_is_not_indexed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    indexed: list[Page] = []

    def noted(page: Page) -> list[Passage]:
        indexed.append(page)
        return passages(page)

    monkeypatch.setattr("memory_v2.index.rows.passages", noted)
    memory = offline(SMALL)
    memory.write(FACTS)
    assert max(page.size for page in indexed) <= SMALL
    assert {page.path for page in indexed} == set(memory.storage.list_files())
    assert "Fact 377 of" in memory.search("fact 377")[0].excerpt


def test_the_text_of_a_page_that_could_not_be_divided_is_found_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise StorageError("no space is left on the disk")

    monkeypatch.setattr("memory_v2.operations.overgrown._split", full)
    with Memory(LocalStorage(tmp_path / "memory"), threshold=SMALL) as memory:
        written = memory.write(FACTS)
        assert not written.new_files
        assert "Fact 377 of" in memory.search("fact 377")[0].excerpt
    with Memory(LocalStorage(tmp_path / "memory"), threshold=SMALL) as again:
        assert "Fact 377 of" in again.search("fact 377")[0].excerpt


@pytest.mark.parametrize(
    ("text", "told"),
    [("a\udcff", "character 1 is the byte 0xFF; convert it to UTF-8"), ("a\ud83d", "character 1 is half of a pair")],
)
def test_a_byte_that_is_not_utf_8_is_told_apart_from_half_of_a_pair(text: str, told: str) -> None:
    with pytest.raises(InvalidText, match=told):
        check_text(text, "a text")


def test_a_text_too_large_to_be_divided_at_once_is_refused_by_its_bytes() -> None:
    check_text("é" * (MAX_TEXT // 2), "a text")
    with pytest.raises(InvalidText, match="at most 1,000,000 bytes, not 1,000,002; bring it in by parts"):
        check_text("é" * (MAX_TEXT // 2 + 1), "a text")
