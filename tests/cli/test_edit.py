"""`silica memory edit`: what an editor makes of a page is stored, and never lost."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from .program import Program


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program as the editor: the lines of this file, which gets `file` and `text`."""
    script = tmp_path / "editor.py"
    program = "import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\ntext = file.read_bytes()\n"
    script.write_text(f"{program}exec(pathlib.Path({str(tmp_path / 'do.py')!r}).read_text())\n")
    monkeypatch.setenv("VISUAL", shlex.join([sys.executable, str(script)]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path / "do.py"


def test_an_edit_is_stored_as_the_editor_leaves_it(program: Program, editor: Path) -> None:
    program.quick("write", "One is here.", "--to", "garden")
    editor.write_text("file.write_bytes(text.replace(b'One', b'Caf\\xe9 \\xff'))")
    done = program.quick("edit", "garden")
    assert done.code == 0 and "garden" in done.text
    assert b"Caf\xe9 \xff is here." in (program.folder / "garden.md").read_bytes()
    assert program.quick("history").text.splitlines()[0].split("\t")[2] == "edit"
    editor.write_text("")
    assert "not changed" in program.quick("edit", "garden").text
    assert program.quick("edit", "garden", "--json").json["changed_pages"] == []
    assert program.quick("edit", "nowhere").code == 3


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("file.write_bytes(b'mine')\npathlib.Path(page).write_bytes(b'# Theirs')", 3),
        ("file.write_bytes(b'mine')\nsys.exit(1)", 2),
    ],
)
def test_what_cannot_be_stored_is_kept(script: str, code: int, program: Program, editor: Path) -> None:
    program.quick("write", "One is here.", "--to", "garden")
    editor.write_text(f"page = {str(program.folder / 'garden.md')!r}\n{script}")
    ended = program.quick("edit", "garden")
    assert ended.code == code
    kept = re.search(r"kept in (\S+)", ended.err)
    assert kept and Path(kept[1]).read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("/no/such/editor", "the editor '/no/such/editor' cannot be started: No such file or directory; "),
        ("false", "the editor ended with an error; "),
        ("vi 'page", "the editor cannot be started: its command has no closing quotation; "),
    ],
)
def test_an_editor_that_fails_is_a_clear_error(
    command: str, told: str, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.quick("write", "One is here.", "--to", "garden")
    before = program.done("read", "garden")
    monkeypatch.setenv("VISUAL", command)
    ended = program.quick("edit", "garden")
    assert ended.code == 2
    assert ended.err == f"silica: {told}the page is as it was; VISUAL or EDITOR names another one\n"
    assert program.done("read", "garden") == before


def test_an_editor_that_removes_its_file_changes_nothing(program: Program, editor: Path, tmp_path: Path) -> None:
    program.quick("write", "One is here.", "--to", "garden")
    before = (program.folder / "garden.md").read_bytes()
    editor.write_text("file.unlink()")
    done = program.quick("edit", "garden")
    assert done.code == 2 and "removed" in done.err
    assert (program.folder / "garden.md").read_bytes() == before
    assert not list(tmp_path.glob("silica-edit-*"))


def test_what_an_editor_leaves_beside_its_file_goes_with_it(program: Program, editor: Path, tmp_path: Path) -> None:
    program.quick("write", "One is here.", "--to", "garden")
    editor.write_text("file.write_bytes(text + b'\\nTwo.\\n')\n(file.parent / '.history').mkdir()")
    assert program.quick("edit", "garden").code == 0
    assert not list(tmp_path.glob("silica-edit-*"))
