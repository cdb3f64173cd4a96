"""What stands where after the planner has divided a page, and the lines that lead there."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.errors import StorageError
from memory_v2.index.passages import Passage, passages
from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.tree.page import Page
from tests.operations.scenes import SMALL, body, offline
from tests.properties.whole import pages_of

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
