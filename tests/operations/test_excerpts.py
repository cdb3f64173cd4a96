"""What a hit shows, how answers fit into a prompt, and how a search is narrowed."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import InvalidPath, InvalidPattern, InvalidSetting, PageNotFound
from memory_v2.memory import Memory
from memory_v2.operations import pattern
from memory_v2.operations.results import SearchResult
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.text.words import tokens
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


KILNS = "# Silica\n\n## Testing\n\n" + "".join(
    f"- 2026-02-{day:02}: The kiln was fired with wood {day} times and then it was left to cool.\n"
    for day in range(1, 28)
)


def memory_with_of_quoted(text: str, path: str = "projects/silica") -> Memory:
    memory = offline()
    memory.storage.write(path, text.encode())
    return memory


@pytest.mark.parametrize("budget", [100, 137, 250, 500, 5_000])
def test_as_many_answers_come_as_fit(budget: int) -> None:
    found = memory_with_of_quoted(KILNS).search("kiln fired", max_tokens=budget)
    assert tokens(found.text) <= budget
    assert tokens(found.text) > budget - 50 or len(found) == 27
    assert [one.relevance_score for one in found] == sorted((one.relevance_score for one in found), reverse=True)


def test_an_answer_is_cited_with_its_headings_its_day_and_its_lines() -> None:
    (found,) = memory_with_of_quoted("# Silica\n\n## Testing\n\n- 2026-02-03: The kiln\n  was fired.\n").search(
        "kiln", max_tokens=200
    )
    assert found.citation == "projects › silica › Testing · 2026-02-03 · lines 5–6"
    assert found.quoted == f"{found.citation}\n- 2026-02-03: The kiln\n  was fired."


def test_lines_of_one_section_stand_below_one_citation() -> None:
    notes = (
        "# Kilns\n\n## Old\n\n- The kiln leaks.\n- It is cold.\n- The kiln is red.\n\n## New\n\n- The kiln is blue.\n"
    )
    found = memory_with_of_quoted(notes).search("kiln", max_tokens=300)
    shown = {one.section[-1]: one.excerpt for one in found}
    assert shown == {"Old": "- The kiln leaks.\n- It is cold.\n- The kiln is red.", "New": "- The kiln is blue."}
    assert len(found) == len(shown)


@pytest.mark.parametrize("letters", ["word ", "字"])
@pytest.mark.parametrize("lines", [1, 40])
def test_of_an_answer_that_is_too_large_the_beginning_comes(letters: str, lines: int) -> None:
    text = "".join(f"  {letters * 60}\n" for _ in range(lines))
    memory = memory_with_of_quoted(f"# Long\n\n## {'Heading ' * 30}\n\n- The kiln {letters * 300}\n{text}")
    found = memory.search("kiln", max_tokens=100)
    assert found[0].excerpt.startswith("- The kiln ")
    assert found[0].excerpt.endswith(" …")
    assert 50 < tokens(found.text) <= 100


def test_the_best_comes_narrow_if_it_is_too_large_with_what_is_around_it() -> None:
    rows = "".join(f"| part {n} | {'x' * 90} |\n" for n in range(20))
    memory = memory_with_of_quoted(
        f"# Parts\n\n| part | of which this is the remark {'y' * 200} |\n|---|---|\n{rows}| kiln | old |\n"
    )
    assert "kiln" in memory.search("kiln", max_tokens=150).text


def test_nothing_is_within_any_number_of_tokens() -> None:
    found = memory_with_of_quoted(KILNS).search("quantum", max_tokens=100)
    assert (list(found), found.text) == ([], "")


@pytest.mark.parametrize("budget", [0, 99, -1])
def test_too_few_tokens_are_refused(budget: int) -> None:
    with pytest.raises(InvalidSetting, match="at least 100"):
        memory_with_of_quoted(KILNS).search("kiln", max_tokens=budget)


DAYS = "# Log\n\n" + "".join(f"- 2026-02-{day:02}: The kiln was fired.\n" for day in range(1, 20))


@pytest.fixture
def memory() -> Memory:
    memory = offline()
    memory.storage.write("memory", b"# Memory\n\nThe kiln of the root.\n\n## Links\n\n- [[projects/kiln]]\n")
    memory.storage.write("projects/kiln", b"# Kiln\n\nThe kiln of a project, see [[tools/saw]].\n")
    memory.storage.write("tools/saw", b"# Saw\n\nNo kiln but a saw.\n")
    memory.storage.write("projectskiln", b"# Other\n\nThe kiln of others.\n")
    memory.storage.write("log", DAYS.encode())
    memory.write("The kiln came by post.", "letters", source="letters/anna.md")
    memory.write("The kiln was sold.", "letters", source="letters/Bruno.md")
    return memory


@pytest.mark.parametrize(
    ("part", "pages"),
    [
        ({"under": "projects"}, {"projects/kiln"}),
        ({"under": "projects/kiln"}, {"projects/kiln"}),
        ({"under": "tools/"}, {"tools/saw"}),
        ({"near": "tools/saw"}, {"tools/saw", "projects/kiln"}),
        ({"near": "tools/saw", "steps": 2}, {"tools/saw", "projects/kiln", "memory"}),
        ({"near": "tools/saw", "under": "projects"}, {"projects/kiln"}),
        ({"source": "bruno"}, {"letters"}),
        ({"since": "2026-02-18", "until": "2026-02-19"}, {"log"}),
    ],
)
@pytest.mark.parametrize("regex", [False, True])
def test_only_a_part_is_searched(memory: Memory, part: dict[str, Any], pages: set[str], regex: bool) -> None:
    assert {found.path for found in memory.search("kiln", 50, regex=regex, **part)} == pages


def test_a_narrowed_search_can_be_replayed(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path)) as memory:
        memory.write("- 2026-02-03: The kiln was fired.\n")
        for regex in (False, True):
            found = memory.search("kiln", max_tokens=200, since=date(2026, 2, 1), under="memory", regex=regex)
            assert found
            assert memory.replay(found.trace).differences == ()


def test_a_trace_has_what_was_asked_and_of_the_parts_only_those_that_are_given(tmp_path: Path) -> None:
    with Memory(LocalStorage(tmp_path)) as kept:
        kept.write("The kiln was fired.")
        always = {"query": "kiln", "max_results": 10, "steps": 1}
        kept.search("kiln")
        assert kept.trace().of("begin")[0]["arguments"] == always
        kept.search("kiln", since=date(2026, 2, 1), tags=(), cross=True)
        assert kept.trace().of("begin")[0]["arguments"] == always | {"since": "2026-02-01", "cross": True}


@pytest.mark.parametrize("regex", [False, True])
def test_days_are_those_on_which_it_was_said(memory: Memory, regex: bool) -> None:
    found = memory.search("kiln", 50, since=date(2026, 2, 5), until="2026-02-08", regex=regex)
    assert {f"{one.date}" for one in found} == {f"2026-02-{day:02}" for day in range(5, 9)}


def test_what_a_model_chooses_elsewhere_is_no_result(memory: Memory) -> None:
    answer = call("answer", results=[{"page": "tools/saw", "blocks": "2", "score": 1}, {"place": "p1", "score": 0.5}])
    asked, _ = scripted(memory, calls(call("open_pages", paths=["tools/saw"])), calls(answer))
    assert [found.path for found in asked.search("kiln", under="projects")] == ["projects/kiln"]


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ({"under": "nowhere"}, PageNotFound),
        ({"under": "/a"}, InvalidPath),
        ({"near": "nowhere"}, PageNotFound),
        ({"near": "log", "steps": 0}, InvalidSetting),
        ({"since": "yesterday"}, InvalidSetting),
        ({"until": 3}, InvalidSetting),
        ({"since": "2026-02-03", "until": "2026-02-01"}, InvalidSetting),
        ({"source": " "}, InvalidSetting),
    ],
)
def test_a_part_that_cannot_be_meant_is_refused(memory: Memory, part: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        memory.search("kiln", **part)


def test_what_is_dated_after_today_is_found_from_a_day_to_come(memory: Memory) -> None:
    memory.entries.capture("The kiln is to be fired again.", date="2999-01-02")
    assert [one.path.rpartition("/")[2] for one in memory.search("kiln", since="2999-01-01")] == ["obs-2999-01-02-001"]
    assert memory.search("kiln", since="2999-01-01", only="pages") == []


def test_lines_that_match_come_in_the_order_of_pages(memory: Memory) -> None:
    found = memory.search(r"^- 2026-02-1[0-2]|root\b", 10, regex=True)
    assert [(one.path, one.lines) for one in found] == [
        ("memory", (3, 3)),
        ("log", (12, 12)),
        ("log", (13, 13)),
        ("log", (14, 14)),
    ]
    assert found[1].excerpt == "- 2026-02-10: The kiln was fired."
    assert (found[1].date, found[1].section) == (date(2026, 2, 10), ("Log",))
    assert (found.answered, found.decided_by) == (True, "program")
    assert len(memory.search("kiln", 3, regex=True)) == 3
    assert not memory.search("last_updated", regex=True).answered


def test_the_lines_of_any_text_are_counted_as_everywhere() -> None:
    memory = offline()
    memory.storage.write("odd", "\ufeff# Odd\r\n\r\nA\x0bB \u2028C\rThe kiln\xff\n".encode("latin-1", "ignore"))
    memory.storage.write("odd", b"\xef\xbb\xbf# Odd\r\n\r\nA\x0bB\rThe kiln \xff\n")
    (found,) = memory.search("^The", regex=True)
    assert (found.lines, found.excerpt) == ((4, 4), "The kiln \ufffd")


@pytest.mark.parametrize("wrong", ["(", "[", "a{9999999999999}", "(?P<a"])
def test_what_is_no_pattern_is_refused(memory: Memory, wrong: str) -> None:
    with pytest.raises(InvalidPattern, match="not a regular expression"):
        memory.search(wrong, regex=True)


def test_a_pattern_that_takes_for_ever_is_stopped(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern, "SECONDS", 0.5)
    memory.storage.write("long", f"# Long\n\n{'a' * 60}!\n".encode())
    with pytest.raises(InvalidPattern, match="longer than"):
        memory.search("(a+)+$", regex=True)
