from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memory_v2.errors import InvalidSetting, UsageError
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import status_of
from memory_v2.migrate.planning import make_plan, read_plan
from memory_v2.migrate.run import run
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.serialize import document
from tests.migrate.folder import scanned, write_files
from tests.operations.scenes import offline

NOTES = {
    "profile.md": "# Who I am\n\nI like dark mode.\n",
    "Projects/Silica/README.md": "Silica is a framework.\n",
    "Projects/Silica/architecture.md": "# Architecture\n\nThree loops.\n",
    "Projects/Web/site.md": "# Site\n\nStatic.\n",
}


def planned(memory: Memory, folder: Path, files: dict[str, str]) -> dict[str, tuple[str, str, str]]:
    write_files(folder, files)
    plan = make_plan(memory, scanned(folder), folder)
    return {step.name: (step.action, step.target, step.reason) for step in plan.steps}


def test_folders_are_kept_and_the_index_of_a_folder_is_its_page(tmp_path: Path) -> None:
    assert planned(offline(), tmp_path, NOTES) == {
        "profile.md": ("create", "profile", ""),
        "Projects/Silica/README.md": ("create", "projects/silica", ""),
        "Projects/Silica/architecture.md": ("create", "projects/silica/architecture", ""),
        "Projects/Web/site.md": ("create", "projects/web/site", ""),
    }


def test_what_stands_near_the_top_comes_first(tmp_path: Path) -> None:
    depths = [page.count("/") for _, page, _ in planned(offline(), tmp_path, NOTES).values()]
    assert depths == sorted(depths)


def test_a_file_beside_its_folder_is_the_page_of_the_folder(tmp_path: Path) -> None:
    plan = planned(offline(), tmp_path, {"work.md": "Work.\n", "work/README.md": "Read me.\n", "work/a.md": "A.\n"})
    assert [plan[name][1] for name in ("work.md", "work/README.md", "work/a.md")] == ["work", "work/readme", "work/a"]


def test_names_that_are_the_same_as_pages_are_told_apart_and_the_plan_says_so(tmp_path: Path) -> None:
    memory = offline()
    memory.write("# Ideas\n\nMine.\n", "ideas")
    plan = planned(memory, tmp_path, {"ideas.md": "Others.\n", "My note.md": "One.\n", "my-note.md": "Two.\n"})
    assert plan["ideas.md"] == ("create", "ideas-2", "ideas is taken")
    assert {plan["My note.md"][1], plan["my-note.md"][1]} == {"my-note", "my-note-2"}


def test_a_folder_is_spelled_as_the_one_that_is_there(tmp_path: Path) -> None:
    memory = offline()
    memory.create("Projects/old", "# Old\n")
    assert planned(memory, tmp_path, {"projects/new.md": "New.\n"})["projects/new.md"][1] == "Projects/new"


def test_a_name_without_a_letter_and_a_deep_folder_get_valid_paths(tmp_path: Path) -> None:
    deep = "/".join(f"folder {n}" for n in range(20))
    plan = planned(offline(), tmp_path, {"🎉.md": "Party.\n", f"{deep}/note.md": "Deep.\n", "con.md": "Device.\n"})
    memory = offline()
    assert run(memory, scanned(tmp_path), make_plan(memory, scanned(tmp_path), tmp_path)).error is None
    assert {page for _, page, _ in plan.values()} <= set(memory.storage.list_files())


def test_what_stands_there_already_is_skipped_with_where(tmp_path: Path) -> None:
    memory = offline()
    memory.write("# Site\n\nStatic.\n", "web")
    plan = planned(memory, tmp_path, {"a.md": "# Site\n\nStatic.\n", "b.md": "Same.\n", "c.md": "Same.\n"})
    assert plan["a.md"] == ("skip", "web", "it stands on web already")
    assert plan["c.md"] == ("skip", "b", "it is the same as b.md")


def test_the_same_text_of_two_days_is_kept_for_both(tmp_path: Path) -> None:
    plan = planned(offline(), tmp_path, {"2026-02-03.md": "- nothing\n", "2026-02-04.md": "- nothing\n"})
    assert [action for action, *_ in plan.values()] == ["create", "create"]


def test_the_same_source_and_memory_give_the_same_plan(tmp_path: Path) -> None:
    write_files(tmp_path, NOTES)
    plans = [make_plan(offline(), scanned(tmp_path), tmp_path) for _ in range(2)]
    assert plans[0] == plans[1]


def test_flattened_documents_are_in_the_order_of_their_days(tmp_path: Path) -> None:
    write_files(tmp_path, {"b/2026-02-03.md": "Third.\n", "a/2026-02-04.md": "Fourth.\n", "z.md": "First.\n"})
    plan = make_plan(offline(), scanned(tmp_path), tmp_path, "flatten")
    assert [step.name for step in plan.steps] == ["z.md", "b/2026-02-03.md", "a/2026-02-04.md"]
    assert {(step.action, step.target) for step in plan.steps} == {("append", "memory")}


def test_a_document_of_the_root_is_appended_there(tmp_path: Path) -> None:
    scan = Scan("older", [SourceDocument("global", "I am Ada.\n", "memory", day=date(2026, 2, 3))])
    memory = offline()
    run(memory, scan, make_plan(memory, scan, tmp_path))
    assert "I am Ada.\n\n*Source: global · 2026-02-03*" in memory.read()


Edit = Callable[[dict[str, Any]], object]


def edited(memory: Memory, folder: Path, edit: Edit) -> Path:
    """The file of a plan for a folder, edited."""
    plan = document(make_plan(memory, scanned(folder), folder))
    edit({row["name"]: row for row in plan["steps"]} | {"all": plan["steps"]})
    file = folder / "plan.json"
    file.write_text(json.dumps({"plans": [plan]}), "utf-8")
    return file


def test_a_plan_that_is_written_and_read_is_the_same(tmp_path: Path) -> None:
    memory, folder = offline(), write_files(tmp_path, NOTES)
    file = edited(memory, folder, lambda rows: None)
    assert read_plan(file, memory, scanned(folder), folder) == make_plan(memory, scanned(folder), folder)


def test_an_edited_plan_is_carried_out(tmp_path: Path) -> None:
    memory, folder = offline(), write_files(tmp_path, NOTES)

    def edit(rows: dict[str, Any]) -> None:
        rows["profile.md"]["target"] = "people/me"
        rows["Projects/Web/site.md"]["action"] = "skip"
        rows["all"].remove(rows["Projects/Silica/architecture.md"])

    plan = read_plan(edited(memory, folder, edit), memory, scanned(folder), folder)
    done = run(memory, scanned(folder), plan)
    assert {one.name: status_of(one) for one in done.plan.steps} == {
        "profile.md": "created",
        "Projects/Silica/README.md": "created",
        "Projects/Silica/architecture.md": "skipped",
        "Projects/Web/site.md": "skipped",
    }
    assert "dark mode" in memory.read("people/me")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda rows: rows["profile.md"].update(name="nobody.md"), "there is no document nobody.md"),
        (lambda rows: rows["profile.md"].update(target="a//b"), "the page of profile.md is not valid"),
        (lambda rows: rows["profile.md"].update(target="projects/silica"), "have the same page projects/silica"),
        (lambda rows: rows["profile.md"].update(target="ideas"), "the page ideas of profile.md is taken"),
        (lambda rows: rows["profile.md"].update(action="eat"), "the action of profile.md is one of"),
        (lambda rows: rows["profile.md"].update(action="merge"), "cannot be merged without a model"),
        (lambda rows: rows["profile.md"].update(action="follow"), "cannot be followed"),
        (lambda rows: rows["profile.md"].update(digest="0"), "profile.md has changed since the plan was made"),
        (lambda rows: rows["all"].append(rows["profile.md"]), "it has profile.md twice"),
        (lambda rows: rows["all"].append(3), "each step is an object"),
    ],
)
def test_an_edit_that_cannot_be_carried_out_is_named(tmp_path: Path, edit: Edit, words: str) -> None:
    memory, folder = offline(), write_files(tmp_path, NOTES)
    memory.write("# Ideas\n\nMine.\n", "ideas")
    file = edited(memory, folder, edit)
    with pytest.raises(InvalidSetting, match=words):
        read_plan(file, memory, scanned(folder), folder)


def test_a_plan_of_another_folder_and_one_that_is_no_json_are_refused(tmp_path: Path) -> None:
    memory, folder = offline(), write_files(tmp_path / "a", NOTES)
    file = edited(memory, folder, lambda rows: None)
    with pytest.raises(InvalidSetting, match="has no steps for"):
        read_plan(file, memory, scanned(folder), tmp_path)
    file.write_text("{", "utf-8")
    with pytest.raises(InvalidSetting, match="is not JSON"):
        read_plan(file, memory, scanned(folder), folder)


def test_a_document_that_was_brought_in_since_the_plan_is_left_alone(tmp_path: Path) -> None:
    memory, folder = offline(), write_files(tmp_path, NOTES)
    file = edited(memory, folder, lambda rows: None)
    first = read_plan(file, memory, scanned(folder), folder)
    run(memory, scanned(folder), replace(first, steps=first.steps[:2]))
    done = run(memory, scanned(folder), read_plan(file, memory, scanned(folder), folder))
    assert done.plan.facts["totals"]["unchanged"] == 2 and done.plan.facts["totals"]["created"] == 2


def test_what_is_brought_in_below_a_page_stays_below_it(tmp_path: Path) -> None:
    folder, memory = write_files(tmp_path / "notes", NOTES), offline()
    plan = make_plan(memory, scanned(folder), folder, under="work/old")
    assert {step.target for step in plan.steps} >= {"work/old/profile", "work/old/projects/silica"}
    done = run(memory, scanned(folder), plan)
    assert {step.name: step.target for step in done.plan.steps} == {step.name: step.target for step in plan.steps}
    assert memory.graph().children["memory"] == ["work"] and not memory.check()
    with pytest.raises(UsageError, match="leave one of them out"):
        make_plan(memory, scanned(folder), folder, "flatten", "work")


def test_many_loose_files_go_below_a_page_of_their_folder(tmp_path: Path) -> None:
    few, many = (write_files(tmp_path / f"My {n}", {f"{k}.md": f"{k}.\n" for k in range(n)}) for n in (12, 13))
    assert {step.target for step in make_plan(offline(), scanned(few), few).steps} == {f"{k}" for k in range(12)}
    assert {step.target for step in make_plan(offline(), scanned(many), many).steps} == {
        f"my-13/{k}" for k in range(13)
    }
