"""A hit that one can read: a statement with what it belongs to, never a bare label, and hits that touch are one."""

from __future__ import annotations

import pytest

from memory_v2.memory import Memory
from memory_v2.operations.results import SearchResult
from memory_v2.tree.block import split_lines
from tests.operations.scenes import call, calls, offline, scripted

PAGE = """\
# Workshop

## Scores

- Overall: 62.8%
- Kiln: 82.9%

## Rules

**Never do this:**

- Options for the glaze:
  - cobalt with a long description of what it does when it is too hot in the oven
  - celadon
    1. thin
    2. thick

- Fire slowly
- Cool down

**Drawback :**

It melts at 1280 degrees.
It cracks at night.

Something else.

| Tool | Owner |
|------|-------|
| saw | Ines |
| drill | Tomasz |
| lathe | Mara |
| plane | Otto |
| file | Jana |
| chisel | Pavel |
| mallet | Signe |
| square | Bruno |
| clamp | Aiko and a long note about who may lend it to whom, and when it is to be given back |
| vise | Lars |

```
the command:
run it
```
"""


def memory_with(text: str) -> Memory:
    memory = offline()
    memory.storage.write("workshop", text.encode())
    return memory


def hit(query: str, text: str = PAGE) -> SearchResult:
    return memory_with(text).search(query, 1)[0]


def chosen(blocks: str, text: str = PAGE) -> list[SearchResult]:
    """The results for blocks that a model has chosen."""
    answer = call("answer", results=[{"page": "workshop", "blocks": blocks, "score": 1}])
    asked, _ = scripted(memory_with(text), calls(call("open_pages", paths=["workshop"])), calls(answer))
    return list(asked.search("anything"))


@pytest.mark.parametrize(
    ("query", "excerpt"),
    [
        ("Tomasz", "| Tool | Owner |\n|------|-------|\n| saw | Ines |\n| drill | Tomasz |"),
        ("degrees", "**Drawback :**\n\nIt melts at 1280 degrees.\nIt cracks at night."),
        ("Drawback", "**Drawback :**\n\nIt melts at 1280 degrees.\nIt cracks at night."),
    ],
)
def test_a_hit_comes_with_what_it_belongs_to(query: str, excerpt: str) -> None:
    assert hit(query).excerpt.startswith(excerpt)


def test_a_row_far_down_has_the_head_of_its_table() -> None:
    found = hit("vise Lars", PAGE.replace("| mallet |", f"| mallet {'x' * 400} |"))
    assert found.excerpt.startswith("| Tool | Owner |\n|------|-------|\n…\n")
    assert "| vise | Lars |" in found.excerpt
    lines = split_lines(PAGE)[found.lines[0] - 1 : found.lines[1]]
    assert (lines[0], "Lars" in lines[-1]) == ("| Tool | Owner |\n", True)


def test_an_item_of_an_item_has_those_above_it_and_their_label() -> None:
    text = PAGE.replace("celadon", f"celadon {'x' * 400}")
    found = hit("thick", text)
    assert found.excerpt.splitlines()[:2] == ["**Never do this:**", ""]
    assert "- Options for the glaze:" in found.excerpt
    assert found.section == ("Workshop", "Rules")


@pytest.mark.parametrize("blocks", ["2", "5", "6", "5-6", "10"])
def test_a_heading_or_a_label_is_never_alone(blocks: str) -> None:
    (found,) = chosen(blocks)
    said = [line for line in found.excerpt.splitlines() if line and not line.startswith(("#", "**"))]
    assert said, found.excerpt


def test_the_end_of_a_section_is_no_heading() -> None:
    (found,) = chosen("2")
    assert found.excerpt == "## Scores\n\n- Overall: 62.8%\n- Kiln: 82.9%"


def test_an_empty_item_has_its_heading() -> None:
    (found,) = chosen("3", "# Day\n\n## To do\n\n-\u0020\n\n## Done\n\nNothing.\n")
    assert found.excerpt.startswith("## To do\n\n-")


def test_code_is_no_label() -> None:
    assert hit("command run").excerpt.startswith("```")


def test_hits_that_share_lines_are_one() -> None:
    found = memory_with(PAGE).search("Tomasz Lars Ines", 10)
    assert len([one for one in found if one.lines[0] == split_lines(PAGE).index("| Tool | Owner |\n") + 1]) == 1


def test_the_next_best_hit_goes_on_where_the_best_ends() -> None:
    text = "# Garden\n\nThe red kiln smokes in May.\n\nThe red kiln is old.\n\nLeeks.\n"
    (found,) = memory_with(text).search("red kiln smokes", 10)
    assert (found.excerpt, found.lines) == ("The red kiln smokes in May.\n\nThe red kiln is old.", (3, 5))


def test_what_was_said_on_another_day_is_a_hit_of_its_own() -> None:
    text = "# Log\n\n- 2026-01-05: The red kiln smokes.\n- 2026-01-06: The red kiln is old.\n"
    found = memory_with(text).search("red kiln", 10)
    assert sorted(f"{one.date}" for one in found) == ["2026-01-05", "2026-01-06"]


def test_many_hits_in_one_place_do_not_become_the_whole_page() -> None:
    text = "# Kiln\n\n" + "\n\n".join(f"The kiln of week {n} was fired with wood and with patience." for n in range(99))
    assert max(len(one.excerpt) for one in memory_with(text).search("kiln", 99)) < 1500


def test_what_stands_below_a_section_of_the_program_is_not_shown() -> None:
    memory = offline()
    memory.write("# Silica\n\nIt has a kiln.\n", "silica")
    asked, _ = scripted(
        memory,
        calls(call("open_pages", paths=["silica"])),
        calls(call("answer", results=[{"page": "silica", "blocks": "1", "score": 1}])),
    )
    assert asked.search("anything")[0].excerpt == "# Silica\n\nIt has a kiln."


def test_a_page_that_has_changed_meanwhile_is_quoted_as_it_was_found() -> None:
    text = "# Garden\r\n\r\n**Note:**\r\n\r\nTomatoes are planted in May.\r\n"
    assert hit("tomatoes", text).excerpt == "**Note:**\r\n\r\nTomatoes are planted in May."
