"""Contradictions between texts: few, dated, and without secrets.

In the folder `audited` each line is marked that an audit must tell, and each that only looks like it: `=== name` begins
a note, `!code` marks a line to be told, `!?code` one that a reader would tell and the checks miss, as is known, and
`!-` a near miss: a goal, a rate, a quotation, another subject.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from memory_v2.notes.audit.audit import audit_texts
from tests.notes.folder import notes_of

HERE = Path(__file__).with_name("audited")
CODES = ("contradiction", "metric-drift", "superseded", "dark")
"""The codes whose findings are marked."""
_MARKED = re.compile(r"!(\??)(-|[a-z-]+) (.*)")


@dataclass(frozen=True)
class Marked:
    """The notes by name, and the marked places: code, name and line."""

    files: dict[str, str]
    told: set[tuple[str, str]]
    missed: set[tuple[str, str]]
    near_misses: set[str]


def marked(folder: str) -> Marked:
    """The notes of a folder, without the marks, and what they say."""
    found = Marked({}, set(), set(), set())
    for part in re.split(r"(?m)^=== ", (HERE / f"{folder}.txt").read_text("utf-8"))[1:]:
        name, _, text = part.partition("\n")
        lines = []
        for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
            place = f"{name}:{number}"
            if mark := _MARKED.fullmatch(line):
                is_missed, code, line = mark.groups()
                if code == "-":
                    found.near_misses.add(place)
                else:
                    (found.missed if is_missed else found.told).add((code, place))
            lines.append(line)
        found.files[name] = "\n".join(lines) + "\n"
    return found


def told(*texts: str, **named: str) -> list[str]:
    files = {f"{name}.md": text for name, text in (dict(zip("abcdefghij", texts, strict=False)) | named).items()}
    return [one.message for one in audit_texts(files, date(2026, 4, 1), ["contradiction"]).findings]


@pytest.mark.parametrize(
    ("one", "other", "label"),
    [
        ("# Silica\n\n- Port: 8080\n", "# 2026-03-01\n\n## Silica\n\n- **Port:** `8443`\n", "Port"),
        ("# Silica\n\nOwner: M. Perrin\n", "# Silica\n\nOwner: M. Leroy\n", "Owner"),
        ("# Silica\n\nOwner: Prof. Byron\n", "# Silica\n\nOwner: Prof. Hopper\n", "Owner"),
    ],
)
def test_another_value_of_the_same_label_is_told(one: str, other: str, label: str) -> None:
    (message,) = told(one, other)
    assert message.startswith(f"{label} of Silica is ")


def test_a_text_without_a_title_is_about_what_it_is_called() -> None:
    assert told(silica="Owner: Ada", other="# Silica\n\nOwner: Grace\n") == [
        "Owner of Silica is Ada here, and Grace in other.md:3"
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("# Silica\n\nPort: 8080\n", "# Quartz\n\nPort: 8443\n"),
        ("# Silica\n\n## Web\n\nPort: 8080\n", "# Quartz\n\n## Web\n\nPort: 8443\n"),
        ("# Silica\n\nPort: 8080\n", "# Silica\n\nPort: 8080.\n"),
        ("# Silica\n\nPort: 8080\n", "# Silica\n\nPort: 8080 (internal)\n"),
        ("# Silica\n\n- Member: Ada\n- Member: Grace\n", "# Silica\n\n- Member: Ada\n"),
        ("# 2026-03-01\n\n## Work\n\nTask: one\n", "# 2026-03-02\n\n## Work\n\nTask: two\n"),
        ("# Silica\n\nStatus: open\n", "# Silica\n\nStatus: done\n"),
        ("# Silica\n\n```\nPort: 8080\n```\n", "# Silica\n\n```\nPort: 8443\n```\n"),
        ("# Silica\n\nRemember: the port is open. Close it.\n", "# Silica\n\nRemember: the door. Now.\n"),
        ("# Notes\n\nPort: 8080\n", "# Notes\n\nPort: 8443\n"),
    ],
)
def test_what_only_looks_like_one_is_not_told(one: str, other: str) -> None:
    assert told(one, other) == []


def test_a_form_that_many_texts_fill_in_contradicts_nothing() -> None:
    assert told(*(f"# Contact\n\nPhone: 555-{n}\n" for n in range(9))) == []


def test_a_secret_is_masked() -> None:
    (message,) = told("# Silica\n\nPassword: hunter2!\n", "# Silica\n\nPassword: abc99\n")
    assert "hunter2" not in message


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
