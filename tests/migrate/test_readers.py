"""Which reader is for a folder, what is said if there is none, and how single files are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from memory_v2.errors import UsageError
from memory_v2.files.left_out import LeftOut, left_out_in_a_line
from memory_v2.migrate.formats import choose, scan_paths
from tests.migrate.folders import CLAUDE_CODE, CLAWVAULT, SILICA_V2, VAULT, WORKSPACE, places, write

V1 = {"tea.md": "Green.\n", "tea.metadata.json": '{"summary": "Which tea."}'}


@pytest.mark.parametrize("other", [VAULT, SILICA_V2, WORKSPACE])
def test_two_formats_in_one_folder_are_said_and_one_is_taken_when_told(
    tmp_path: Path, other: Mapping[str, str | bytes]
) -> None:
    folder = write(tmp_path, {**other, **V1})
    with pytest.raises(UsageError, match=r"silica-v1 .*--format"):
        scan_paths([folder])
    [(_, scan)] = scan_paths([folder], "silica-v1")
    assert places(scan)["tea.md"] == "tea"


@pytest.mark.parametrize(
    ("one", "other", "taken"),
    [
        (VAULT, CLAWVAULT, "clawvault"),
        (VAULT, WORKSPACE, "daily-logs"),
        (VAULT, CLAUDE_CODE, "claude-code"),
        (CLAUDE_CODE, WORKSPACE, "daily-logs"),
    ],
)
def test_a_folder_that_several_programs_use_is_read_with_all_its_notes(
    tmp_path: Path, one: Mapping[str, str | bytes], other: Mapping[str, str | bytes], taken: str
) -> None:
    alone = [
        places(scan) for files in (one, other) for _, scan in scan_paths([write(tmp_path / str(id(files)), files)])
    ]
    [(_, scan)] = scan_paths([write(tmp_path / "both", {**one, **other})])
    assert scan.format == taken
    assert {*places(scan)} == {name for each in alone for name in each}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "it is empty"),
        ({"a.json": "{}", "b/c.json": "{}"}, "2 × there is no reader for JSON"),
        ({"a.md": "", "b.txt": " \n"}, "2 × an empty file"),
        ({".git/config": ""}, "kept by a program"),
    ],
)
def test_a_folder_with_nothing_to_import_is_refused_with_what_it_holds(
    tmp_path: Path, files: Mapping[str, str], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        scan_paths([write(tmp_path, files)])


def test_what_is_left_out_is_told_in_a_line_and_what_may_matter_comes_first() -> None:
    left_out = [
        LeftOut(".git/", "kept by a program", is_expected=True),
        *(LeftOut(f"{n}.json", "no reader for JSON") for n in range(3)),
        LeftOut("b.png", "no reader for pictures"),
    ]
    told = "3 × no reader for JSON; b.png: no reader for pictures; .git/: kept by a program"
    assert left_out_in_a_line(left_out) == told
    assert left_out_in_a_line(left_out, 1) == "3 × no reader for JSON; 2 other reasons"
    assert left_out_in_a_line([]) == ""


def test_what_is_not_there_or_not_known_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a\n")
    for path in (tmp_path / "gone", tmp_path / "a.md" / "b.md"):
        with pytest.raises(UsageError, match="there is no file or folder"):
            scan_paths([path])
    with pytest.raises(UsageError, match="not a folder"):
        choose(tmp_path / "a.md")
    with pytest.raises(UsageError, match=r"'paper'.*obsidian"):
        choose(tmp_path, "paper")
    with pytest.raises(UsageError, match="single file"):
        scan_paths([tmp_path / "a.md"], "silica-v1")


def test_single_files_are_read_from_their_folders(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "[b](b.txt)\n", "b.txt": "b\n", "c.md": "c\n", "x/d.md": "d\n", "x/e.json": "{}"})
    scans = dict(scan_paths([tmp_path / name for name in ("a.md", "b.txt", "x/d.md", "x/e.json", "a.md")]))
    assert {folder: places(scan) for folder, scan in scans.items()} == {
        tmp_path: {"a.md": "a", "b.txt": "b"},
        tmp_path / "x": {"d.md": "d"},
    }
    assert scans[tmp_path].documents[0].links == ("b.txt",)
    assert [left.name for left in scans[tmp_path / "x"].left_out] == ["e.json"]


def test_a_file_in_a_folder_that_is_read_too_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "x/d.md": "d\n"})
    [(folder, scan)] = scan_paths([tmp_path / "x" / "d.md", tmp_path])
    assert (folder, len(scan.documents)) == (tmp_path, 2)
