"""Answers within a number of tokens: ready for a prompt, never more than that, and always the best."""

from __future__ import annotations

import pytest

from memory_v2.errors import InvalidSetting
from memory_v2.memory import Memory
from memory_v2.text.words import tokens
from tests.operations.scenes import offline

KILNS = "# Silica\n\n## Testing\n\n" + "".join(
    f"- 2026-02-{day:02}: The kiln was fired with wood {day} times and then it was left to cool.\n"
    for day in range(1, 28)
)


def memory_with(text: str, path: str = "projects/silica") -> Memory:
    memory = offline()
    memory.storage.write(path, text.encode())
    return memory


@pytest.mark.parametrize("budget", [100, 137, 250, 500, 5_000])
def test_as_many_answers_come_as_fit(budget: int) -> None:
    found = memory_with(KILNS).search("kiln fired", max_tokens=budget)
    assert tokens(found.text) <= budget
    assert tokens(found.text) > budget - 50 or len(found) == 27
    assert [one.relevance_score for one in found] == sorted((one.relevance_score for one in found), reverse=True)


def test_an_answer_is_cited_with_its_headings_its_day_and_its_lines() -> None:
    (found,) = memory_with("# Silica\n\n## Testing\n\n- 2026-02-03: The kiln\n  was fired.\n").search(
        "kiln", max_tokens=200
    )
    assert found.citation == "projects › silica › Testing · 2026-02-03 · lines 5–6"
    assert found.quoted == f"{found.citation}\n- 2026-02-03: The kiln\n  was fired."


def test_lines_of_one_section_stand_below_one_citation() -> None:
    notes = (
        "# Kilns\n\n## Old\n\n- The kiln leaks.\n- It is cold.\n- The kiln is red.\n\n## New\n\n- The kiln is blue.\n"
    )
    found = memory_with(notes).search("kiln", max_tokens=300)
    shown = {one.section[-1]: one.excerpt for one in found}
    assert shown == {"Old": "- The kiln leaks.\n- It is cold.\n- The kiln is red.", "New": "- The kiln is blue."}
    assert len(found) == len(shown)


@pytest.mark.parametrize("letters", ["word ", "字"])
@pytest.mark.parametrize("lines", [1, 40])
def test_of_an_answer_that_is_too_large_the_beginning_comes(letters: str, lines: int) -> None:
    text = "".join(f"  {letters * 60}\n" for _ in range(lines))
    memory = memory_with(f"# Long\n\n## {'Heading ' * 30}\n\n- The kiln {letters * 300}\n{text}")
    found = memory.search("kiln", max_tokens=100)
    assert found[0].excerpt.startswith("- The kiln ")
    assert found[0].excerpt.endswith(" …")
    assert 50 < tokens(found.text) <= 100


def test_the_best_comes_narrow_if_it_is_too_large_with_what_is_around_it() -> None:
    rows = "".join(f"| part {n} | {'x' * 90} |\n" for n in range(20))
    memory = memory_with(
        f"# Parts\n\n| part | of which this is the remark {'y' * 200} |\n|---|---|\n{rows}| kiln | old |\n"
    )
    assert "kiln" in memory.search("kiln", max_tokens=150).text


def test_nothing_is_within_any_number_of_tokens() -> None:
    found = memory_with(KILNS).search("quantum", max_tokens=100)
    assert (list(found), found.text) == ([], "")


@pytest.mark.parametrize("budget", [0, 99, -1])
def test_too_few_tokens_are_refused(budget: int) -> None:
    with pytest.raises(InvalidSetting, match="at least 100"):
        memory_with(KILNS).search("kiln", max_tokens=budget)
