"""A model says what the lines are in which only a word hints at something; the rules' result stays if it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_v2.errors import InvalidSetting, ModelError, UsageError
from memory_v2.models.base import Conversation, Reply, ToolCall, ToolResult
from memory_v2.models.scripted import ScriptedModel
from memory_v2.notes.extract import Wanted
from memory_v2.notes.grade import MAX_LINES, Graded
from memory_v2.notes.notes import Notes
from memory_v2.settings import Limits
from tests.notes.folder import hashes, notes_of, reopened

NOTE = "memory/2026-02-09.md"
TEXT = "- The error bars are grey\n- The timer needs to be set\n- Decision: no peat\n- The bench is old\n"
NOTHING = Wanted(min_grade="model")


def calls(*calls: tuple[str, dict[str, object]]) -> Reply:
    return Reply(tool_calls=tuple(ToolCall(name, arguments) for name, arguments in calls), stop_reason="tool_use")


def grades(**of: str) -> list[tuple[str, dict[str, object]]]:
    return [("grade", {"lines": lines, "category": category}) for category, lines in of.items()]


def nothing(lines: str) -> tuple[str, dict[str, object]]:
    return "grade_nothing", {"lines": lines}


def told(graded: Graded) -> list[tuple[str, str, str]]:
    return [(one.category, one.grade, one.text) for one in graded.items]


DECIDED = ("decisions", "marker", "Decision: no peat")
TIMER = ("pending", "model", "The timer needs to be set")


def test_what_only_a_word_hints_at_is_what_the_model_says(tmp_path: Path) -> None:
    model = ScriptedModel([calls(*grades(pending="i2"), nothing("i1"))])
    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        before = hashes(notes.folder)
        graded = notes.grade(model)
        assert hashes(notes.folder) == before
        assert notes.extract(Wanted(min_grade="heading")) == [one for one in graded.items if one.grade == "marker"]
    assert told(graded) == [DECIDED, TIMER]
    assert (graded.asked, graded.decided_by, graded.degraded, graded.cost.calls) == (2, "scripted", "", 1)
    task = model.sent[0].messages[0]
    assert "The error bars are grey" in task and "peat" not in task and "bench" not in task


def test_a_line_is_asked_about_once_and_again_if_it_changes(tmp_path: Path) -> None:
    model = ScriptedModel([calls(*grades(pending="i2"), nothing("i1")), calls(nothing("i1"))])
    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        first = notes.grade(model)
    with reopened(notes.folder) as notes:
        again = notes.grade(model)
    assert told(again) == told(first)
    assert (again.asked, again.known, again.cost.calls, again.trace) == (0, 2, 0, "")
    (notes.folder / NOTE).write_text(TEXT.replace("bars", "lines"), "utf-8")
    with reopened(notes.folder) as notes:
        assert notes.grade(model).asked == 1
        assert notes.grade(ScriptedModel([], name="another")).asked == 2  # another model's word is not this one's


def test_if_the_model_fails_the_rules_result_stays_and_it_is_asked_again(tmp_path: Path) -> None:
    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        failed = notes.grade(ScriptedModel([ModelError("no credit left")]), Wanted(min_grade="keyword"))
        assert "no credit left" in failed.degraded
        assert failed.items == notes.extract(Wanted(min_grade="keyword"))
        assert told(notes.grade(ScriptedModel([calls(*grades(pending="i2"), nothing("i1"))]))) == [DECIDED, TIMER]


def test_after_a_limit_nothing_more_is_asked_and_the_next_run_goes_on(tmp_path: Path) -> None:
    text = "".join(f"- The error of {number} is told\n" for number in range(MAX_LINES + 5))

    def all_nothing(conversation: Conversation) -> Reply:
        return calls(nothing(f"i1-i{len(conversation.brief.lines)}"))  # type: ignore[union-attr]

    with notes_of(tmp_path, {NOTE: text}) as notes:
        notes._limits = Limits(turns=1)
        first, second = notes.grade(ScriptedModel(all_nothing)), notes.grade(ScriptedModel(all_nothing))
    assert (first.asked, second.asked, second.known) == (MAX_LINES, 5, MAX_LINES)
    assert "limit of 1 turns was reached; 5 lines are left" in first.degraded and second.degraded == ""


def test_a_decision_that_leaves_lines_out_is_sent_back(tmp_path: Path) -> None:
    model = ScriptedModel([calls(*grades(pending="i2")), calls(nothing("i1"))])
    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        assert told(notes.grade(model)) == [DECIDED, TIMER]
    assert "i1: nothing is said yet" in model.sent[1].messages[-1]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (grades(metrics="i2"), "there is no number in it"),
        (grades(plans="i2"), "grade cannot take these arguments"),
        (grades(pending="i9"), "out of range"),
        ([nothing("i2"), *grades(pending="i2")], "you have said that they are nothing"),
        ([*grades(pending="i2"), nothing("i2")], "you have said what they are"),
    ],
)
def test_what_cannot_be_is_told_to_the_model(
    tmp_path: Path, wrong: list[tuple[str, dict[str, object]]], problem: str
) -> None:
    seen: list[str] = []

    def reader(conversation: Conversation) -> Reply:
        answers = [one for one in conversation.messages if isinstance(one, ToolResult)]
        seen.extend(one.prompt.text for one in answers if one.is_error)
        return calls(*wrong) if not answers else calls(nothing("i1"))

    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        notes.grade(ScriptedModel(reader))
    assert problem in " ".join(seen)


def test_a_line_that_is_several_things_is_told_as_each(tmp_path: Path) -> None:
    with notes_of(tmp_path, {NOTE: "- [x] The error of 3 beds needs to be found\n"}) as notes:
        graded = notes.grade(
            ScriptedModel([calls(*grades(issues="i1", metrics="i1"))]), Wanted(min_grade="model", closed=True)
        )
    assert {(one.category, one.grade, one.is_closed) for one in graded.items} >= {
        ("issues", "model", True),
        ("metrics", "model", False),
    }


def test_only_what_could_be_shown_is_asked_about(tmp_path: Path) -> None:
    with notes_of(tmp_path, {NOTE: TEXT, "memory/2026-02-01.md": "- an error\n"}) as notes:
        model = ScriptedModel([calls(nothing("i1"))])
        graded = notes.grade(model, Wanted(categories=["issues"], since=notes.calendar.today.replace(month=2, day=9)))
    assert graded.asked == 1 and "grey" in model.sent[0].messages[0]


def test_what_was_asked_is_recorded_in_the_cache(tmp_path: Path) -> None:
    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        graded = notes.grade(ScriptedModel([calls(*grades(pending="i2"), nothing("i1"))]))
        assert notes.cache is not None
        kept = (notes.cache / "traces" / f"{graded.trace}.jsonl").read_text("utf-8")
    assert "grade_nothing" in kept and '"end"' in kept


def test_the_planner_is_no_model_that_grades(tmp_path: Path) -> None:
    with notes_of(tmp_path, {NOTE: TEXT}) as notes:
        with pytest.raises(UsageError, match="knows no more than the rules"):
            notes.grade("offline")
        with pytest.raises(InvalidSetting, match="unknown model"):
            notes.grade("clever")
    assert isinstance(notes, Notes)
