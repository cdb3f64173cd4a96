"""A text is kept with where it came from and the day it was said, and no other text is."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from memory_v2.errors import InvalidSetting
from memory_v2.memory import Memory
from memory_v2.tree.page import Page, sources_of
from memory_v2.tree.source import NO_SOURCE, Source, is_source_line
from tests.operations.scenes import SMALL, body, call, calls, offline, scripted
from tests.properties.whole import pages_of

DAY = date(2025, 2, 3)
STANDUP: Any = {"source": "standup.md", "date": "2025-02-03"}
SAID = Source("standup.md", DAY)
LINE = "*Source: standup.md · 2025-02-03*"


def page(memory: Memory, path: str = "memory") -> Page:
    return pages_of(memory.storage)[path]


def said(memory: Memory, path: str = "memory") -> list[tuple[str, Source]]:
    """The texts of a page, each with its source."""
    one = page(memory, path)
    return [
        (block.content, source)
        for block, source in zip(one.blocks, sources_of(one), strict=True)
        if block.kind not in ("heading", "rule") and not is_source_line(block)
    ]


def two_texts() -> Memory:
    memory = offline()
    memory.write("Old.\n\nOlder.\n", "log")
    return memory


def test_the_root_that_is_replaced_has_a_line() -> None:
    memory = two_texts()
    memory.write("# Mine\n\nThe kiln is warm.\n", "memory", "replace", **STANDUP)
    assert body(memory) == f"# Mine\n\nThe kiln is warm.\n\n{LINE}"


def test_a_second_text_of_the_same_source_shares_the_line() -> None:
    memory = two_texts()
    memory.write("One.", "log", "append", **STANDUP)
    memory.write("Two.", "log", "append", **STANDUP)
    memory.write("Three.", "log", "append", source="mail")
    assert body(memory, "log").endswith(f"Older.\n\nOne.\n\nTwo.\n\n{LINE} (2 blocks)\n\nThree.\n\n*Source: mail*")
    assert [source for _, source in said(memory, "log")] == [NO_SOURCE, NO_SOURCE, SAID, SAID, Source("mail")]


def test_a_text_without_a_source_is_not_from_the_source_of_its_page() -> None:
    memory = offline()
    memory.write("# Standup\n\nThe kiln is warm.\n", "standup", **STANDUP)
    memory.write("The kiln broke.", "standup", "append")
    (_, first), (_, second) = said(memory, "standup")
    assert (first, second.name) == (SAID, "")
    assert second.day == page(memory, "standup").last_updated.date()  # type: ignore[union-attr]
    memory.write("The kiln is mended.", "standup", "append", **STANDUP)
    assert said(memory, "standup")[2:] == [("The kiln is mended.", SAID)]


def test_a_page_that_is_replaced_has_the_source_of_its_new_text() -> None:
    memory = offline()
    memory.write("# Standup\n\nThe kiln is warm.\n", "standup", **STANDUP)
    memory.write("# Standup\n\nThe kiln is cold.\n", "standup", "replace")
    assert said(memory, "standup") == [("The kiln is cold.", NO_SOURCE)]


def test_a_text_that_a_model_scatters_is_named_on_each_page() -> None:
    memory = two_texts()
    memory.write("# Garden\n\nRoses.\n", "garden")
    model, _ = scripted(
        memory,
        calls(call("read_pages", paths=["log", "garden"])),
        calls(
            call("place", blocks="n1", page="log", after=2),
            call("place", blocks="n2", page="garden"),
            call("create_page", path="kiln", parent="memory", title="Kiln", description="The kiln", blocks="n3"),
        ),
    )
    result = model.write("Fact one.\n\nRoses are red.\n\nThe kiln is warm.\n", **STANDUP)
    assert (result.decided_by, result.degraded) == ("scripted", "")
    assert said(memory, "log") == [("Old.", NO_SOURCE), ("Fact one.", SAID), ("Older.", NO_SOURCE)]
    assert said(memory, "garden") == [("Roses.", NO_SOURCE), ("Roses are red.", SAID)]
    assert page(memory, "kiln").properties["source"] == "standup.md"
    assert not any(map(is_source_line, page(memory, "kiln").blocks))


def test_a_line_is_still_for_the_same_text_when_text_is_put_into_it() -> None:
    memory = two_texts()
    memory.write("One.\n\nTwo.\n", "log", "append", source="mail")
    put = call("place", blocks="n1", page="log", after=4)
    scripted(memory, calls(put))[0].write("Between.", "log", **STANDUP)
    scripted(memory, calls(put))[0].write("No source.", "log")
    mail = Source("mail")
    assert said(memory, "log")[2:] == [("One.", mail), ("No source.", NO_SOURCE), ("Between.", SAID), ("Two.", mail)]


@pytest.mark.parametrize(
    ("name", "day"),
    [("memory/2025-02-03.md", DAY), ("2025_02_03-standup.md", DAY), ("20250203.md", DAY), ("2999-01-01.md", None)],
)
def test_a_day_in_the_name_counts_unless_it_is_still_to_come(name: str, day: date | None) -> None:
    memory = offline()
    memory.write("The kiln is warm.", "memory", source=name)
    assert said(memory) == [("The kiln is warm.", Source(name, day))]
    memory.write("Other.", "other", source=name, date="2025-05-05")
    assert page(memory, "other").properties["date"] == "2025-05-05"


@pytest.mark.parametrize(
    "given",
    [
        *({"source": name} for name in ("", " ", "a\nb", "a\u2028b", "x" * 201)),
        *({"date": day} for day in ("2999-01-01", "3 February", "2025-02-30")),
    ],
    ids=str,
)
def test_what_cannot_be_kept_in_one_line_is_refused(given: Any) -> None:
    memory = offline()
    with pytest.raises(InvalidSetting, match=next(iter(given))):
        memory.write("The kiln is warm.", **given)
    assert not pages_of(memory.storage)


@pytest.mark.parametrize("name", ["[[log]]", "*a* · b", "a · 2025-02-03", r"C:\notes\a.md", "`x`", "<b>", "x" * 200])
@pytest.mark.parametrize("path", ["memory", "page"])
def test_any_name_is_read_back(name: str, path: str) -> None:
    memory = offline()
    memory.write("The kiln is warm.", path, source=name)
    [(_, source)] = said(memory, path)
    assert source.name == name
    assert memory.check() == []
    assert page(memory, path).found_links == () or path == "page"


def test_no_model_takes_a_source_from_its_text() -> None:
    memory = two_texts()
    memory.write("The kiln is warm.", "log", "append", **STANDUP)
    taken = call("remove", page="log", blocks="5", reason="it is not needed")
    scripted(memory, calls(taken, call("place", page="log", blocks="n1")))[0].write("More.", "log")
    assert said(memory, "log")[2:] == [("The kiln is warm.", SAID), ("More.", NO_SOURCE)]


def test_a_page_that_a_split_makes_of_one_text_has_its_source_in_the_metadata() -> None:
    memory = offline(SMALL)
    memory.write("# Log\n\nOld.\n", "log", source="old.md")
    for name in ("Kiln", "Glaze", "Clay"):
        parts = "".join(f"### {name} {n}\n\n{f'The {name} of part {n} is good. ' * 8}\n\n" for n in range(3))
        memory.write(f"## {name}\n\n{parts}", "log", "append", source=name)
    memory.split("log")
    children = [page for path, page in pages_of(memory.storage).items() if path.startswith("log/")]
    assert len(children) >= 2
    for child in children:
        sources = {source for words, source in said(memory, child.path)}
        assert len(sources) > 1 or not any(map(is_source_line, child.blocks))
        assert all(source.name in words for words, source in said(memory, child.path))


def test_a_line_does_not_come_between_front_matter_and_its_heading() -> None:
    memory = two_texts()
    memory.write("---\ntitle: Plan\n---\n\n## Plan\n", "log", "append", **STANDUP)
    assert body(memory, "log").endswith(f"---\ntitle: Plan\n---\n\n## Plan\n\n{LINE} (2 blocks)")


@pytest.mark.parametrize("line", ["*Source: https://example.org/kilns*", "*Said on 2025-02-03*"])
@pytest.mark.parametrize("mode", ["append", "update"])
def test_a_line_of_the_users_own_that_is_for_no_text_stays(line: str, mode: str) -> None:
    memory = two_texts()
    text = f"## Kilns\n\n{line}\n\nThe kiln is warm."
    memory.write(text, "log", mode)  # type: ignore[arg-type]
    assert text in body(memory, "log")
    memory.write("It has two doors.", "log", "append", **STANDUP)
    assert text in body(memory, "log")
    offline(SMALL, memory.storage).split("log")
    assert sum(line in one.body for one in pages_of(memory.storage).values()) == 1


@pytest.mark.parametrize("line", ["*Source: x · 2025-02-30*", "*Said on 2025-02-30*", "*Source: x* (0 blocks)"])
def test_a_line_that_is_not_quite_a_source_line_stays_to_the_letter(line: str) -> None:
    memory = two_texts()
    memory.write(f"The kiln is warm.\n\n{line}", "log", "append", **STANDUP)
    memory.write("It has two doors.", "log", "append", source="visit.md")
    assert f"The kiln is warm.\n\n{line}\n\n" in body(memory, "log")


def test_the_day_in_the_front_matter_is_the_day_of_the_text() -> None:
    memory = two_texts()
    memory.write("---\ndate: 2025-02-03\n---\n\nThe kiln is warm.\n", "log", "append", source="standup.md")
    assert ("The kiln is warm.", SAID) in said(memory, "log")


def test_children_have_the_day_of_their_page() -> None:
    memory = offline(SMALL)
    parts = "".join(f"## Part {n}\n\n{f'The kiln of part {n} is good. ' * 12}\n\n" for n in range(9))
    memory.write(f"---\ndate: 2025-02-03\n---\n\n{parts}", "plan")
    children = [page for path, page in pages_of(memory.storage).items() if path.startswith("plan/")]
    assert children
    assert {child.said_on for child in children} == {DAY}
    assert not any(is_source_line(block) for child in children for block in child.blocks)


def test_a_text_is_found_by_its_source_and_what_tells_the_source_is_no_answer() -> None:
    memory = offline()
    memory.write("The kiln is warm.", "memory", **STANDUP)
    memory.write("# Deploys\n\nWe deploy on Tuesdays.\n", source="runbook.md", date="2025-02-03")
    assert [hit.excerpt for hit in memory.search("standup")] == ["The kiln is warm."]
    assert [hit.excerpt for hit in memory.search("runbook")] == ["We deploy on Tuesdays."]


def test_a_line_that_is_added_to_a_page_with_a_day_does_not_speak_of_that_day() -> None:
    memory = offline()
    memory.write("# Deploys\n\nWe deploy on Tuesdays.\n", source="runbook.md", date="2025-02-03")
    memory.write(
        "The deploys move to Wednesdays.", "runbook" if "runbook" in memory.storage.list_files() else "deploys"
    )
    [hit] = memory.search("Wednesdays")
    assert hit.speaks_of == ""
