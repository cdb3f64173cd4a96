"""Links of notes: which lead nowhere, which are ambiguous, and what nothing links to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notes.test_audit import audit_of, told

FILES = {
    "MEMORY.md": "# Memory\n\n- [[garden]], [[people/ada|Ada]], [beds](notes/beds.md) and [[notes/beds#Spring]]\n",
    "garden.md": "# The garden\n\n- See [[MEMORY]] and `pumps.md`\n",
    "people/ada.md": "---\naliases: [Countess]\n---\n# Ada\n\n- She keeps the books\n",
    "notes/beds.md": "# Beds\n\n## Spring\n\n- Dug in March, see [the garden](../garden.md)\n",
    "pumps.md": "# Pumps\n\n- The blue one\n",
}


def told_of(tmp_path: Path, line: str, code: str) -> list[str]:
    found = told(tmp_path, {**FILES, "more.md": f"# More\n\n{line}\n"}, code)
    return [one.message.split(" ")[0] for one in found if one.path == "more.md"]


@pytest.mark.parametrize(
    "line",
    [
        "[[garden]] [[Garden]] [[garden.md]] [[the garden]] [[Countess]] [[ada]] [[/people/ada]]",
        "[a](garden.md) [b](./notes/beds.md#spring) [c](people/) [d](<garden.md>) [e](https://x.org/y.md) [f](#here)",
        "`[[nowhere]]` and `[g](nowhere.md)`; a [[wikilink]] is written [[like/{this}]]; [h](path/to/file.md)",
        "[[garden|Words of it]] ![[garden]] [[notes/beds#^block]]",
        "```\n[[nowhere]]\n[x](nowhere.md)\n```",
    ],
)
def test_links_that_lead_somewhere_and_what_is_no_link_are_fine(line: str, tmp_path: Path) -> None:
    assert not told_of(tmp_path, line, "broken-link")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("See [[nowhere]]", "[[nowhere]]"),
        ("See [[people/bob|Bob]]", "[[people/bob]]"),
        ("See [x](notes/nowhere.md)", "(notes/nowhere.md)"),
        ("See ![picture](pictures/pump.png)", "(pictures/pump.png)"),
        ("See [out](../elsewhere/x.md)", "(../elsewhere/x.md)"),
        ("See [[notes/beds#Autumn]]", "notes/beds.md"),
        (f"See [long](../{'x' * 400}.md)", f"(../{'x' * 400}.md)"),
        ("> quoted: [[nowhere]]", "[[nowhere]]"),
        ("| a | b |\n|---|---|\n| [[nowhere]] | c |", "[[nowhere]]"),
    ],
)
def test_a_link_that_leads_nowhere_is_told_with_its_line(line: str, message: str, tmp_path: Path) -> None:
    assert told_of(tmp_path, line, "broken-link") == [message]


def test_a_link_in_the_middle_of_a_paragraph_has_its_own_line(tmp_path: Path) -> None:
    found = told(tmp_path, {**FILES, "more.md": "# More\n\none\ntwo [[nowhere]]\nthree\n"}, "broken-link")
    assert [one.place for one in found] == ["more.md:4"]


def test_where_nobody_links_with_brackets_they_are_no_links(tmp_path: Path) -> None:
    assert not audit_of(tmp_path, {"log.md": "# Log\n\n- It lints each [[wiki word]], see [[reply]]\n"}).findings


def test_a_name_that_several_notes_have_is_ambiguous(tmp_path: Path) -> None:
    files = {**FILES, "old/beds.md": "# Old beds\n\n- Gone\n", "more.md": "# More\n\n[[beds]] [[old/beds]]\n"}
    (found,) = told(tmp_path, files, "ambiguous-link")
    assert (found.path, found.also) == ("more.md", ("notes/beds.md", "old/beds.md"))


def test_a_note_that_nothing_links_to_or_names_is_an_orphan_where_notes_are_linked(tmp_path: Path) -> None:
    more = {"lost.md": "# Lost\n\n- Alone\n", "memory/2026-02-01.md": "- A day\n"}
    assert [one.place for one in told(tmp_path, {**FILES, **more}, "orphan")] == ["lost.md:1"]
    loose = {f"{name}.md": f"# {name}\n\n- Alone {name}\n" for name in "abcdefgh"}
    assert not told(tmp_path / "loose", {**FILES, **loose}, "orphan")
