"""Silica's first memory: what is read of it, and how it is moved in one call."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

import memory_v2
from memory_v2 import MemoryFileInfo, MemoryNotFoundError, migrate_memory_v1_to_v2, read_memory
from memory_v2.errors import NotAllowed, PageNotFound, UsageError
from memory_v2.files.listing import LeftOut
from memory_v2.migrate.formats import choose, scan_paths
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.tree.block import encode
from tests.migrate.v1 import NOT_UTF8, write_v1
from tests.operations.scenes import offline


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_v1(tmp_path_factory.mktemp("personas") / "default")


@pytest.fixture(scope="module")
def scan(memory: Path) -> Scan:
    [(_, scan)] = scan_paths([memory])
    return scan


def document(scan: Scan, name: str) -> SourceDocument:
    return next(each for each in scan.documents if each.name == name)


def left_out(scan: Scan, name: str) -> LeftOut:
    return next(each for each in scan.left_out if each.name == name)


def test_it_is_known_by_its_sidecars(memory: Path, scan: Scan) -> None:
    assert scan.format == "silica-v1"
    assert ".metadata.json" in choose(memory).detect(memory)


def test_a_sidecar_is_found_under_each_of_its_names(scan: Scan) -> None:
    assert document(scan, "projects/silica/architecture.md").description == "Arch of Silica."
    assert document(scan, "notes.md").description == "Errands."  # notes.md.metadata.json
    assert document(scan, "plans/v1.md").description == "The release plan."  # v1.5.metadata.json
    assert document(scan, "knowledge/日本語.md").description == "日本語のメモ。"


def test_a_note_without_a_sidecar_or_with_a_broken_one_is_read(scan: Scan) -> None:
    assert document(scan, "loose.md").description == ""
    assert "Still here." in document(scan, "torn.md").text
    assert not left_out(scan, "torn.metadata.json").is_expected


def test_a_note_whose_name_lost_its_end_gets_it_back(scan: Scan) -> None:
    python = document(scan, "knowledge/python3.md")
    assert (python.place, python.description) == ("knowledge/python3-12", "What 3.12 brought.")
    assert "python3.11" in python.notes[0]
    release = document(scan, "plans/v1.md")
    assert (release.place, release.title) == ("plans/v1-5", "V1.5")
    assert document(scan, "notes.md").title == "Notes"
    older = left_out(scan, "knowledge/python3.11.metadata.json")
    assert not older.is_expected
    assert "What 3.11 brought." in older.reason


def test_the_summary_of_a_note_that_is_gone_or_empty_is_told(scan: Scan) -> None:
    for name, summary in (("gone", "What the deleted note said."), ("empty", "Nothing.")):
        told = left_out(scan, f"{name}.metadata.json")
        assert not told.is_expected
        assert summary in told.reason
    assert left_out(scan, "empty.md").is_expected


def test_a_note_that_its_folder_hid_is_read(scan: Scan) -> None:
    assert document(scan, "projects/silica.md").place == "projects/silica"
    assert document(scan, "projects/silica/features.md").place == "projects/silica/features"


def test_the_time_of_the_home_folder_is_nobodys_day(scan: Scan) -> None:
    assert document(scan, "knowledge/python/async.md").day == date(2025, 11, 3)
    assert document(scan, "knowledge/typescript.md").day == date(2025, 11, 5)
    assert document(scan, "by_hand.md").day == date(2025, 1, 1)  # a day that somebody wrote into the sidecar
    assert document(scan, "2025-01-09-standup.md").day == date(2025, 1, 9)


def test_references_become_links(scan: Scan) -> None:
    index = document(scan, "index.md")
    assert index.links == ("projects/silica/architecture.md", "projects/silica.md")
    assert index.dead == ("@nowhere/at-all",)
    assert document(scan, "plans/a.md").links == ("plans/b.md",)
    assert document(scan, "plans/b.md").links == ("plans/a.md",)
    assert document(scan, "plans/v1.md").links == ()  # it names itself, by the name that was cut


def test_what_else_a_sidecar_says_is_told(scan: Scan) -> None:
    preferences = document(scan, "profile/preferences.md")
    assert preferences.tags == ("food",)
    assert '"topic": "taste"' in preferences.notes[0]
    assert document(scan, "projects/silica/features.md").notes == ()


def test_bytes_that_are_not_utf_8_are_kept_and_told(scan: Scan) -> None:
    menu = document(scan, "menu.md")
    assert encode(menu.text) == NOT_UTF8
    assert "line 3" in menu.notes[0]


def test_what_is_told_about_a_note_can_be_stored_whatever_its_sidecar_says(tmp_path: Path) -> None:
    said = r'{"summary": "half \ud83d a\nface", "created": 17, "tags": [1, "a \udc00"], "more": {"x": [null]}}'
    for number, text in enumerate([said, "[]", "null", '"text"', "[" * 100_000, "\xff", ""]):
        (tmp_path / f"{number}.md").write_text("Text.\n")
        (tmp_path / f"{number}.metadata.json").write_text(text, "latin-1")
    [(_, scan)] = scan_paths([tmp_path])
    assert len(scan.documents) == 7
    assert scan.documents[0].description == "half ? a face"
    for each in scan.documents:
        f"{each.description} {each.tags} {each.notes}".encode()
    assert [left.is_expected for left in scan.left_out] == [True, *[False] * 6]


def test_what_is_no_note_is_left_out(scan: Scan) -> None:
    names = {each.name for each in scan.documents}
    assert not {name for name in names if name.startswith(".obsidian") or name.endswith(".json")}
    assert left_out(scan, "global.md").is_expected


def test_a_global_note_that_somebody_wrote_is_for_the_root(tmp_path: Path) -> None:
    memory = write_v1(tmp_path)
    (memory / "global.md").write_text("Never deploy on Fridays.\n")
    [(_, scan)] = scan_paths([memory])
    assert document(scan, "global.md").place == "memory"
    assert [each.place for each in scan.documents].count("memory") == 1


@pytest.mark.parametrize("above", [0, 1, 2])
def test_the_folder_of_a_persona_and_those_above_it_give_the_same(tmp_path: Path, above: int) -> None:
    memory = write_v1(tmp_path / "personas" / "default")
    [(_, inside)] = scan_paths([memory])
    [(_, scan)] = scan_paths([memory.parents[above]])
    start = memory.relative_to(memory.parents[above]).as_posix()
    assert [each.name for each in scan.documents] == [f"{start}/{each.name}" for each in inside.documents]
    assert [each.place for each in scan.documents] == [each.place for each in inside.documents]
    assert document(scan, f"{start}/index.md").links[0] == f"{start}/projects/silica/architecture.md"
    beside = [each for each in scan.left_out if not each.name.startswith(start)]
    assert {Path(each.name).name for each in beside if not each.is_expected} == {
        "persona.md",
        "persona.backup.20251020_101010.md",
    }


def test_a_copy_of_a_memory_is_read_wherever_it_lies(tmp_path: Path) -> None:
    write_v1(tmp_path / "old" / "silica")
    [(_, scan)] = scan_paths([tmp_path / "old"])
    assert document(scan, "silica/memory/index.md").place == "index"
    nested = tmp_path / "nested"
    for name in ("a", "deep/global"):
        (nested / name).parent.mkdir(parents=True, exist_ok=True)
        (nested / f"{name}.md").write_text("Text.\n")
        (nested / f"{name}.metadata.json").write_text("{}")
    [(_, scan)] = scan_paths([nested])
    assert {each.name: each.place for each in scan.documents} == {"a.md": "a", "deep/global.md": "deep/global"}


def test_several_personas_are_not_mixed(tmp_path: Path) -> None:
    write_v1(tmp_path / "default")
    write_v1(tmp_path / "tester")
    with pytest.raises(UsageError, match=r"default/memory/, tester/memory/"):
        scan_paths([tmp_path])


def test_a_memory_that_was_never_used_is_known(tmp_path: Path) -> None:
    (tmp_path / "global.md").write_text("Global memory storage for critical information")
    assert choose(tmp_path).name == "silica-v1"
    with pytest.raises(UsageError, match="nothing to import"):
        scan_paths([tmp_path])


def test_a_scan_does_not_depend_on_the_order_in_which_a_disk_lists_files(memory: Path, scan: Scan) -> None:
    names = [each.name for each in scan.documents]
    assert names == sorted(names)
    assert [each.name for each in scan.left_out] == sorted(each.name for each in scan.left_out)
    count = sum(len(files) for _, _, files in os.walk(memory))
    assert len(scan.documents) + len(scan.left_out) == count


def test_an_older_memory_is_moved_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SILICA_MEMORY_PATH", str(tmp_path / "new"))
    older = write_v1(tmp_path / "default")
    planned = migrate_memory_v1_to_v2(older, dry_run=True)
    assert planned.totals["failed"] == planned.totals["documents"] and not (tmp_path / "new" / "memory.md").exists()
    report = migrate_memory_v1_to_v2(older)
    assert report.verification and report.verification.is_complete
    assert report.totals["created"] == planned.totals["documents"]
    assert "TaskGroup" in read_memory("knowledge/python/async")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("Tea.\n")
    with pytest.raises(NotAllowed, match="add --merge"):
        migrate_memory_v1_to_v2(tmp_path / "other")
    assert migrate_memory_v1_to_v2(tmp_path / "other", merge=True).totals["created"] == 1


def test_the_example_of_the_first_design_is_kept_in_its_folders(tmp_path: Path) -> None:
    for name in ("projects/silica/architecture", "projects/personal_website", "knowledge/typescript"):
        (tmp_path / "memory" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "memory" / name).write_text("Text of it.\n" + name)
    report = migrate_memory_v1_to_v2(tmp_path / "memory", tmp_path / "new")
    assert {step.target for step in report.plan.steps} == {
        "projects/silica/architecture",
        "projects/personal-website",
        "knowledge/typescript",
    }


def test_the_names_of_the_first_design_are_those_of_now() -> None:
    assert MemoryNotFoundError is PageNotFound and MemoryFileInfo is memory_v2.PageInfo
    memory = offline()
    assert isinstance(memory.write("Tea."), memory_v2.WriteResult)
    assert isinstance(memory.list_files()[0], MemoryFileInfo)
    assert isinstance(memory.search("tea")[0], memory_v2.SearchResult)
