"""Every example of the two documents that entries come from, DARYL's shards and Ocean's vaults, run by ours, with what
a user gets. The page about entries has them as a table."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from .program import Program
from .seeds import DARYL, GAP, OCEAN, PAGE, SEARCHES, Example, page_with_table

OBSERVED = {
    "hawk/obs-2026-02-15-001": "tags: [campaign, ctr, insurance]\nconfidence: 0.82\ndecay: none\nsource: hawk\n---\n"
    "Insurance vertical CTR dropped 12% week-over-week, and so did the CPL trend.\n",
    "hawk/obs-2026-02-15-002": "tags: []\nconfidence: 0.9\ndecay: linear-14d\nsource: hawk\n---\nStatus is green.\n",
    "raven/obs-2026-02-15-001": "tags: [buyers]\nconfidence: 0.75\nverified: true\nsource: raven\n"
    "backlinks: [hawk/obs-2026-02-15-001]\n---\nBuyer acceptance is at 71%.\n",
    "raven/obs-2026-02-15-002": "tags: [buyers]\nconfidence: 0.65\nverified: true\nsource: raven\n---\nPrices hold.\n",
    "shield/obs-2026-02-15-001": "tags: [tcpa, regulation]\nconfidence: 0.4\nsource: shield\n---\n"
    "Compliance: consent must be told apart for each seller.\n",
}
"""Observations as Ocean's agents write them, `agent/name` by their front matter."""


def ran(program: Program, example: Example) -> str:
    return "".join(program.done(*shlex.split(command)) for command in example.ours)


def vaulted(program: Program) -> Program:
    """The program on a memory with Ocean's observations, as files that agents wrote there."""
    for name, text in OBSERVED.items():
        agent, _, file = name.partition("/")
        program.page(f"entries/agents/{agent}/memory/vault/{file}", f"---\ncreated: 2026-02-15\n{text}")
    return program


def test_daryl_s_examples(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(program.home)
    lines = [{"content": "Two of them: one.", "importance": 0.2}, {"content": "Two of them: the other."}]
    (program.home / "observations.jsonl").write_text("\n".join(map(json.dumps, lines)))
    for example in DARYL:
        assert re.search(example.told, ran(program, example)), example.theirs


def test_ocean_s_examples(program: Program) -> None:
    vaulted(program)
    for example in OCEAN:
        assert re.search(example.told, ran(program, example)), example.theirs
    assert not program.quick("promote", "--threshold", "0", "--apply", "--json").json["steps"]
    assert "referred to by raven/obs-2026-02-15-001" in program.done("entries", "show", "hawk/obs-2026-02-15-001")


def test_both_lead_to_the_same_memory_that_undo_takes_apart_again(program: Program) -> None:
    vaulted(program)
    program.done("checkpoint", "create", "before")
    for example in OCEAN:
        ran(program, example)
    for _ in range(5):
        program.done("undo", "--yes")
    assert program.quick("checkpoint", "show", "before", "--json").json["changed"] == []


def test_the_examples_of_searches(program: Program) -> None:
    vaulted(program)
    program.done("capture", f"Lesson: {GAP}", "--home", "insights")
    for example in SEARCHES:
        assert re.search(example.told, ran(program, example)), example.theirs


def test_the_page_about_entries_has_every_example() -> None:
    assert PAGE.read_text("utf-8") == page_with_table(), "run: python -m tests.cli.seeds"
