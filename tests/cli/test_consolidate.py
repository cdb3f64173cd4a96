"""Working entries into pages from the shell: the plan that is shown is the one that is carried out."""

from __future__ import annotations

import pytest

from .program import Program


@pytest.fixture
def filled(program: Program) -> Program:
    program.done("write", "Silica is tested with pytest.", "--to", "projects/silica")
    for home, text in (("insights", "Lesson: test the restore."), ("projects/silica", "Coverage is 90%.")):
        program.done("capture", text, "--agent", "hawk", "--home", home, "--date", "2026-02-15")
    program.done("capture", "Soup for lunch.", "--agent", "hawk", "--date", "2026-02-16")
    return program


def test_a_plan_is_shown_then_carried_out_and_undone(filled: Program) -> None:
    shown = filled.quick("consolidate")
    assert "hawk/obs-2026-02-15-001 → insights: to the letter" in shown.text
    assert "+Lesson: test the restore." in shown.text
    assert "nothing was changed" in shown.err
    assert "1 in the inbox" in shown.err
    plan = filled.quick("consolidate", "--dry-run", "--json").json
    assert plan["revision"] is None
    assert [one["name"] for one in plan["steps"] if "diff" in one] == ["insights", "memory", "projects/silica"]
    done = filled.quick("consolidate", "--apply", "--json").json
    assert [one | {"applied": False} for one in done["steps"]] == plan["steps"]
    assert done["revision"]
    assert "worked into insights" in filled.done("entries", "show", "hawk/obs-2026-02-15-001")
    assert "from entries/hawk/obs-2026-02-15-001" in filled.done("search", "restore")
    assert "no entry is left" in filled.quick("consolidate", "--apply").err
    filled.done("undo", "--yes")
    assert "worked into" not in filled.done("entries", "show", "hawk/obs-2026-02-15-001")


def test_a_plan_that_no_longer_fits_is_refused_with_what_to_do(filled: Program) -> None:
    filled.quick("consolidate")
    filled.done("write", "Silica is fast.", "--to", "projects/silica", "--mode", "append")
    refused = filled.quick("consolidate", "--apply")
    assert refused.code == 3
    assert "make a new plan with 'silica memory consolidate'" in refused.err
    filled.quick("consolidate")
    assert filled.quick("consolidate", "--apply").code == 0


def test_an_empty_memory_has_nothing_to_work_in(program: Program) -> None:
    assert "no entry is left" in program.quick("consolidate", "--apply").err


@pytest.mark.parametrize("verb", [["consolidate"], ["route"]])
def test_a_model_that_fails_is_told_and_the_planner_takes_over(
    filled: Program, verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory_v2.errors import ModelError
    from memory_v2.models.anthropic import AnthropicModel

    def fails(self: AnthropicModel, conversation: object) -> None:
        raise ModelError("the provider is down")

    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.setattr(AnthropicModel, "respond", fails)
    ended = filled.quick("--model", "anthropic:some-model", *verb)
    assert ended.code == 0
    assert "the provider is down (decided by offline)" in ended.err
    assert filled.quick("--model", "anthropic:some-model", *verb, "--json").json["degraded"]
