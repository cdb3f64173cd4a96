"""The call with which an older memory is moved, and the names of the first design."""

from __future__ import annotations

from pathlib import Path

import pytest

import memory_v2
from memory_v2 import MemoryFileInfo, MemoryNotFoundError, migrate_memory_v1_to_v2, read_memory
from memory_v2.errors import NotAllowed, PageNotFound
from tests.migrate.v1 import write_v1
from tests.operations.scenes import offline


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
