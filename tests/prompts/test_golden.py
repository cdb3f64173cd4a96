"""The words the models read, held to the letter: a changed prompt is seen in review as prose."""

from __future__ import annotations

import re

import pytest

from memory_v2.models.base import Prompt
from memory_v2.prompts import FOLDER, render
from tests.prompts.examples import CONSOLIDATE, EXAMPLES, GOLDEN, ROUTE, SEARCH, SPLIT, WRITE, tool_prompts

ALL = [*EXAMPLES.items(), *tool_prompts()]


@pytest.mark.parametrize(("name", "prompt"), ALL, ids=[name for name, _ in ALL])
def test_a_prompt_is_what_the_golden_file_says(name: str, prompt: Prompt) -> None:
    assert prompt.text + "\n" == (GOLDEN / f"{name}.md").read_text("utf-8")


def test_every_template_has_an_example_and_every_golden_file_a_template() -> None:
    templates = {str(p.relative_to(FOLDER)).removesuffix(".md.j2") for p in FOLDER.rglob("*.md.j2")}
    templates = {name for name in templates if not name.startswith("memory_tools/")}  # tests/tools has theirs
    shown = {prompt.template for _, prompt in ALL}
    assert {name for name in templates if not name.startswith("_")} == shown
    assert {str(p.relative_to(GOLDEN)).removesuffix(".md") for p in GOLDEN.rglob("*.md")} == {name for name, _ in ALL}


@pytest.mark.parametrize(
    ("template", "brief"),
    [
        ("write/task", WRITE),
        ("consolidate/task", CONSOLIDATE),
        ("split/task", SPLIT),
        ("search/task", SEARCH),
    ],
)
def test_what_stands_in_a_page_cannot_pass_for_the_frame_around_it(template: str, brief: object) -> None:
    text = Prompt(template, {"brief": brief}).text
    assert text.count("\n===== END OF DATA") == 1
    assert "    │ [7] not a block" in text or template == "search/task"
    assert not re.search(r"^\[7\]|^\[p9\]", text, re.M)


def test_what_stands_in_a_note_cannot_pass_for_another_note() -> None:
    text = Prompt("route/task", {"brief": ROUTE}).text
    assert text.count("\n===== END OF DATA") == 1
    assert not re.search(r"^\[e9\]", text, re.M)


def test_template_marks_in_a_page_are_text() -> None:
    assert "{{ brief }} {% raw %}" in Prompt("write/task", {"brief": WRITE}).text


def test_data_that_a_template_lacks_are_an_error() -> None:
    from jinja2 import UndefinedError

    with pytest.raises(UndefinedError):
        render("done", {})


def test_a_task_can_be_read_in_a_minute() -> None:
    for kind in ("write", "split", "search", "route"):
        assert len(Prompt(f"{kind}/system").text.split()) < 450
