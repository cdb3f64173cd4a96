"""What a reader has marked in folders of notes in six languages is told, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.notes.audited_folder import CODES, HERE, Marked, marked
from tests.notes.folder import notes_of

FOLDERS = sorted(file.stem for file in HERE.glob("*.txt"))


def found_in(tmp_path: Path, folder: Marked) -> list[tuple[str, tuple[str, ...]]]:
    """The findings of the marked codes: each with its code and its places."""
    with notes_of(tmp_path, folder.files) as notes:
        return [(one.code, (one.place, *one.also)) for one in notes.audit().findings if one.code in CODES]


@pytest.mark.parametrize("name", FOLDERS)
def test_every_marked_line_is_told_and_no_other(name: str, tmp_path: Path) -> None:
    folder = marked(name)
    found = found_in(tmp_path, folder)
    assert {(code, place) for code, places in found for place in places} >= folder.told
    assert [(code, places) for code, places in found if not folder.told & {(code, place) for place in places}] == []
    assert not {place for _, (place, *_) in found} & folder.near_misses


@pytest.mark.parametrize("name", FOLDERS)
def test_what_is_known_to_be_missed_is_missed_still(name: str, tmp_path: Path) -> None:
    """If one is told now, its mark `?` goes."""
    folder = marked(name)
    assert not folder.missed & {(code, place) for code, places in found_in(tmp_path, folder) for place in places}


def test_the_folders_have_many_marks_of_each_kind() -> None:
    folders = list(map(marked, FOLDERS))
    assert sum(len(one.told) for one in folders) >= 90
    assert sum(len(one.near_misses) for one in folders) >= 90
