from __future__ import annotations

import random
from pathlib import Path

import pytest

from memory_v2.errors import StorageError
from memory_v2.memory import Memory
from memory_v2.migrate import run as running
from memory_v2.migrate.ledger import claimed, status_of
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.run import Run, run
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.page import parse_page
from tests.migrate.folder import scanned, write_files
from tests.operations.scenes import body, offline

LONG = "# Long\n\n" + "".join(f"## Topic {n}\n\n{'A sentence about it. ' * 60}\n\n" for n in range(12))
NOTES = {
    "profile.md": "# Who I am\n\nI like dark mode.\n",
    "long.md": LONG,
    "projects/silica/README.md": "Silica is a framework, see [the profile](../../profile.md)\n",
    "projects/silica/architecture.md": "---\ntags: [design]\n---\n\n# Architecture\n\nThree loops.\n",
    "2026-02-03.md": "- met Alice\n",
}


def brought(memory: Memory, folder: Path, strategy: str = "keep") -> Run:
    return run(memory, scanned(folder), make_plan(memory, scanned(folder), folder, strategy))  # type: ignore[arg-type]


def statuses(done: Run) -> dict[str, str]:
    return {one.name: status_of(one) for one in done.plan.steps if status_of(one) != "unchanged"}


def pages(memory: Memory) -> dict[str, str]:
    return {path: body(memory, path) for path in memory.storage.list_files()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path / "notes", NOTES)


def test_each_document_is_whole_on_its_page_with_its_source_and_day(folder: Path) -> None:
    memory = offline()
    done = brought(memory, folder)
    assert done.plan.facts["totals"]["created"] == len(NOTES) and done.error is None
    assert body(memory, "profile") == NOTES["profile.md"].strip()
    assert body(memory, "2026-02-03") == "# 2026-02-03\n\n- met Alice"
    page = parse_page("2026-02-03", memory.read("2026-02-03"))
    assert (page.properties["source"], page.properties["date"]) == ("2026-02-03.md", "2026-02-03")
    assert not memory.check()


def test_every_block_of_a_document_that_was_divided_is_in_the_tree(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    there = "".join(map(memory.read, pages(memory)))
    assert all(block.content.lstrip("# ") in there for block in parse_blocks(LONG))
    assert len([path for path in pages(memory) if path.startswith("long/")]) > 2


def test_folders_are_pages_that_list_what_is_in_them(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    assert parse_page("x", memory.read("projects")).children[0].target == "projects/silica"
    assert memory.graph().breadcrumb("projects/silica/architecture") == (
        "memory",
        "projects",
        "projects/silica",
        "projects/silica/architecture",
    )
    assert memory.graph().descriptions["projects"].startswith("Projects: Silica")


def test_a_file_and_a_folder_without_a_title_are_called_as_they_are_spelled(tmp_path: Path) -> None:
    memory, folder = offline(), tmp_path / "notes"
    write_files(folder, {"NASA_Projekte/Über den Mars.md": "Am Montag.\n", "NASA_Projekte/v1.2.md": "Am Dienstag.\n"})
    brought(memory, folder)
    titles = {path: parse_page(path, memory.read(path)).title for path in pages(memory)}
    assert titles["nasa-projekte"] == "NASA Projekte"
    assert titles["nasa-projekte/über-den-mars"] == "Über den Mars"
    assert titles["nasa-projekte/v1-2"] == "V1.2"
    assert "NASA Projekte: " in memory.read("memory")


def test_what_a_document_refers_to_is_linked_and_stays_below_its_folder(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    assert memory.read("projects/silica").count("Related: [[profile|Who I am]]") == 1
    assert memory.graph().parents["profile"] == "memory"


def test_tags_that_the_text_does_not_have_are_kept(tmp_path: Path) -> None:
    scan = Scan("made up", [SourceDocument("a.md", "About design.\n", "a", tags=("design", "later"))])
    memory = offline()
    run(memory, scan, make_plan(memory, scan, tmp_path))
    assert parse_page("a", memory.read("a")).properties["tags"] == "later"


def test_a_text_with_sections_like_those_of_a_page_keeps_them(tmp_path: Path) -> None:
    text = "# Old page\n\nText.\n\n## Links\n\n- [[gone/child]] - a child\n\n## Metadata\n\nlast_updated: 2025-01-01\n"
    memory, folder = offline(), write_files(tmp_path, {"old.md": text, "old/below.md": "Below.\n"})
    brought(memory, folder)
    page = parse_page("old", memory.read("old"))
    assert page.body.startswith(text.rstrip()) and [child.target for child in page.children] == ["old/below"]
    assert not [finding for finding in memory.check() if finding.severity == "error"]


def test_a_second_run_changes_nothing(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    before, history = pages(memory), len(memory.history())
    done = brought(memory, folder)
    assert not statuses(done) and done.plan.facts["totals"]["unchanged"] == len(NOTES)
    assert (pages(memory), len(memory.history())) == (before, history)


def test_what_was_added_is_brought_in(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    write_files(folder, {"projects/new/idea.md": "An idea.\n"})
    assert statuses(brought(memory, folder)) == {"projects/new/idea.md": "created"}
    assert memory.graph().parents["projects/new"] == "projects"


def test_a_page_follows_its_document_and_is_divided_again(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    links = "- [[long/topic-3]] is good\n"
    there = [path for path in pages(memory) if path.startswith("long/")]
    memory.write(links.replace("long/topic-3", there[3]), "notes")
    write_files(folder, {"long.md": "# Long\n\nShort now.\n", "profile.md": "# Who I am\n\nI like light mode.\n"})
    assert statuses(brought(memory, folder)) == {"long.md": "followed", "profile.md": "followed"}
    assert body(memory, "long") == "# Long\n\nShort now." and "light mode" in memory.read("profile")
    assert not [path for path in pages(memory) if path.startswith("long/")]
    assert "[[long]] is good" in memory.read("notes") and not memory.check()
    write_files(folder, {"long.md": LONG})
    assert statuses(brought(memory, folder)) == {"long.md": "followed"}
    assert any(path.startswith("long/") for path in pages(memory)) and not memory.check()
    assert not statuses(brought(memory, folder))


def test_a_large_block_follows_too(tmp_path: Path) -> None:
    code = "# Code\n\n```\n" + "".join(f"line {n} of the code\n" for n in range(2_000)) + "```\n"
    memory, folder = offline(), write_files(tmp_path, {"code.md": code})
    brought(memory, folder)
    assert len(pages(memory)) > 4
    write_files(folder, {"code.md": "# Code\n\nNone any more.\n"})
    assert statuses(brought(memory, folder)) == {"code.md": "followed"}
    assert sorted(pages(memory)) == ["code", "memory"] and not memory.check()


def test_pages_below_a_folder_stay_when_its_page_follows(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    memory.write("# Mine\n\nMy own.\n", "projects/silica/mine")
    write_files(folder, {"projects/silica/README.md": "Silica is more.\n"})
    assert statuses(brought(memory, folder)) == {"projects/silica/README.md": "followed"}
    assert memory.graph().children["projects/silica"] == ["projects/silica/architecture", "projects/silica/mine"]


def test_a_page_that_was_changed_here_is_kept(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    memory.write("- and tea", "profile", "append")
    before = pages(memory)
    assert not statuses(brought(memory, folder)) and pages(memory) == before


def test_what_changed_on_both_sides_is_told_and_left_alone(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    memory.write("- and tea", "profile", "append")
    below = next(path for path in pages(memory) if path.startswith("long/"))
    memory.write("- more", below, "append")
    before = pages(memory)
    write_files(folder, {"profile.md": "Another.\n", "long.md": LONG + "\nMore.\n"})
    assert statuses(brought(memory, folder)) == {"long.md": "skipped", "profile.md": "skipped"}
    assert pages(memory) == before


def test_what_is_gone_from_the_source_is_told_and_its_page_stays(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    (folder / "profile.md").unlink()
    done = brought(memory, folder)
    assert [(one.kind, one.path) for one in done.plan.warnings] == [("gone", "profile.md")]
    assert "its page profile stays" in done.plan.warnings[0].message
    assert "dark mode" in memory.read("profile") and "profile.md" not in {one.name for one in done.plan.steps}


def test_a_file_that_was_renamed_is_not_brought_in_twice(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    before = pages(memory)
    (folder / "profile.md").rename(folder / "me.md")
    done = brought(memory, folder)
    assert [(one.name, one.target, one.reason) for one in done.plan.steps if status_of(one) == "skipped"] == [
        ("me.md", "profile", "it was brought in as profile.md")
    ]
    assert pages(memory) == before and not done.plan.warnings


def test_what_was_forgotten_does_not_come_back(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    memory.forget(path="profile", apply=True)
    memory.forget("2026-02-03", apply=True)  # the name of a document, its page and its day
    before = pages(memory)
    brought(memory, folder)
    assert pages(memory) == before


def test_a_page_that_was_deleted_here_is_not_brought_again(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    memory.delete("profile")
    assert statuses(brought(memory, folder)) == {"profile.md": "skipped"}
    assert not memory.storage.exists("profile")


def test_an_import_that_was_undone_is_brought_again(folder: Path) -> None:
    memory = offline()
    brought(memory, folder)
    before = pages(memory)
    memory.undo()
    assert pages(memory) == {}
    assert brought(memory, folder).plan.facts["totals"]["created"] == len(NOTES)
    assert pages(memory) == before
    memory.undo()
    memory.undo(memory.history()[0].id)
    assert pages(memory) == before and not statuses(brought(memory, folder))


def test_batches_are_operations_of_their_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MAX_DOCUMENTS", 2)
    memory = offline()
    done = brought(memory, folder)
    assert len(done.plan.facts["operations"]) == 3
    assert [one.first.kind for one in memory.history()] == ["import"] * 3
    memory.undo()
    assert statuses(brought(memory, folder)) == {"projects/silica/architecture.md": "created"}


def test_a_split_that_takes_a_name_meanwhile_does_not_lose_a_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MAX_DOCUMENTS", 1)
    text = LONG.replace("Topic 5", "Silica")
    folder = write_files(tmp_path, {"long.md": text, "long/silica.md": "# Another Silica\n\nThis one.\n"})
    memory = offline()
    done = brought(memory, folder)
    assert done.plan.facts["totals"]["created"] == 2 and len(done.plan.steps) == 2
    assert all("This one." in memory.read(one.target) for one in done.plan.steps if one.name == "long/silica.md")
    assert not statuses(brought(memory, folder))


def test_flattened_documents_grow_a_tree(folder: Path) -> None:
    memory = offline()
    done = brought(memory, folder, "flatten")
    assert done.plan.facts["totals"]["appended"] == len(NOTES)
    there = "".join(map(memory.read, pages(memory)))
    assert "*Source: 2026-02-03.md · 2026-02-03*" in there or "source: 2026-02-03.md" in there
    assert all(block.content.lstrip("# ") in there for text in NOTES.values() for block in parse_blocks(text))
    assert not statuses(brought(memory, folder, "flatten"))
    assert not [finding for finding in memory.check() if finding.severity == "error"]


def test_bytes_that_are_not_utf_8_are_kept(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_bytes(b"# Old\n\ncaf\xe9 \xff\n")
    memory = offline()
    brought(memory, tmp_path)
    assert b"caf\xe9 \xff\n" in memory.storage.read("old").data
    assert not statuses(brought(memory, tmp_path))


def test_an_empty_text_fails_alone(tmp_path: Path) -> None:
    scan = Scan("made up", [SourceDocument("a.md", " \n", "a"), SourceDocument("b.md", "B.\n", "b")])
    memory = offline()
    done = run(memory, scan, make_plan(memory, scan, tmp_path))
    assert {one.name: status_of(one) for one in done.plan.steps} == {"a.md": "failed", "b.md": "created"}


def test_two_imports_from_one_source_at_once_are_refused(folder: Path) -> None:
    memory = offline()
    with claimed(memory.storage, folder), pytest.raises(StorageError, match="another import from"):
        brought(memory, folder)


def test_a_large_folder_that_comes_in_batches_leaves_no_page_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "MAX_DOCUMENTS", 170)
    chance = random.Random(4)
    words = ["".join(chance.choices("abcdefghiklmnoprstuvw", k=chance.randint(3, 9))) for _ in range(3_000)]
    titles = [" ".join(chance.choices(words, k=3)).capitalize() for _ in range(360)]
    texts = [f"# {title}\n\n{' '.join(chance.choices(words, k=18))}.\n" for title in titles]
    scan = Scan("made up", [SourceDocument(f"all/{n}.md", text, f"all/{n}") for n, text in enumerate(texts)])
    memory = offline(threshold=4_096)
    done = run(memory, scan, make_plan(memory, scan, tmp_path))
    assert not done.plan.degraded and not memory.check()


@pytest.mark.parametrize("dropped", ["garden", "garden/beans"])
def test_a_page_that_is_dropped_by_hand_after_the_plan_was_made_is_kept(tmp_path: Path, dropped: str) -> None:
    notes = write_files(tmp_path / "notes", {"garden/README.md": "Leeks.\n", "garden/beans.md": "Beans.\n"})
    with Memory.open(tmp_path / "memory") as memory:
        memory.write("Start.", "memory", "append")
        plan = make_plan(memory, scanned(notes), notes)
        write_files(tmp_path / "memory", {f"{dropped}.md": "# By hand\n\nPrecious.\n"})
        done = run(memory, scanned(notes), plan)
        assert done.error is None and done.plan.facts["totals"]["created"] == 2
        assert "Precious." in memory.read(dropped)
        assert all(
            "Leeks." in memory.read(one.target) or "Beans." in memory.read(one.target) for one in done.plan.steps
        )
        assert {one.kind for one in memory.check() if one.severity == "error"} <= {"unreachable"}  # the page by hand


def test_the_page_of_a_folder_that_is_dropped_by_hand_after_the_plan_was_made_is_kept(tmp_path: Path) -> None:
    notes = write_files(tmp_path / "notes", {"garden/beans.md": "Beans.\n"})
    with Memory.open(tmp_path / "memory") as memory:
        plan = make_plan(memory, scanned(notes), notes)
        write_files(tmp_path / "memory", {"garden.md": "# By hand\n\nPrecious.\n"})
        run(memory, scanned(notes), plan)
        assert "Precious." in memory.read("garden") and "[[garden/beans]]" in memory.read("garden")
        assert {one.kind for one in memory.check() if one.severity == "error"} <= {"unreachable"}  # the page by hand
