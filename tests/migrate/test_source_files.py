"""Every file of a source is read to the byte, or left out with the reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import StorageError, UsageError
from memory_v2.files.listing import left_out_as_hidden, list_files
from memory_v2.migrate.folder import Text, find_places, scan_files
from memory_v2.migrate.formats import FORMATS, MARKDOWN, scan_paths
from memory_v2.tree.block import encode
from memory_v2.tree.front_matter import FrontMatter
from memory_v2.tree.path import page_path
from tests.migrate.folders import documents, left_out, read, write

SEGMENTS = [
    "a",
    "B",
    "memory",
    "memories",
    ".hidden",
    ".claude",
    "projects",
    "templates",
    "README",
    "2026-02-03",
    "ü",
    "🔥",
]
SUFFIXES = [".md", ".MD", ".markdown", ".txt", ".json", ".metadata.json", ".content", "", ".png", ".jsonl"]
CONTENTS = [
    b"",
    b" \r\n",
    b"# Title\r\n\r\nText\r\n",
    b"\xef\xbb\xbf# With a mark\n",
    b"caf\xe9\n",
    b"a\0b",
    "déjà vu\n".encode("utf-16"),
    b"\xff\xfe\xd8",
    b"---\ntitle: x\n---\n[[a]] [b](../b.md)\n@a/b\n",
    b'{"summary": "s"}',
    b"{",
    b"No response generated",
    b"Global memory storage for critical information",
]
SEGMENT = st.sampled_from(SEGMENTS)
NAMES = st.builds(
    lambda folders, last, suffix: "/".join([*folders, last]) + suffix,
    st.lists(SEGMENT, max_size=3),
    SEGMENT,
    st.sampled_from(SUFFIXES),
)


@given(files=st.dictionaries(NAMES, st.sampled_from(CONTENTS), max_size=12))
def test_every_file_is_a_document_or_left_out_in_every_format(files: dict[str, bytes]) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place).resolve()
        for name, content in files.items():
            try:
                write(folder, {name: content})
            except OSError:  # a file stands where a folder would be
                continue
        for reader in FORMATS:
            try:
                scan = reader.scan(folder)
            except UsageError:  # several personas
                continue
            told = [*documents(scan), *left_out(scan)]
            assert len(told) == len(set(told))
            for path in folder.rglob("*"):
                name = path.relative_to(folder).as_posix()
                is_told = name in told or any(each.endswith("/") and name.startswith(each) for each in told)
                assert path.is_dir() or is_told, (reader.name, name)
            for document in scan.documents:
                assert page_path(document.place) == document.place
                data = (folder / document.name).read_bytes()
                assert encode(document.text) in (data, data.removeprefix(b"\xef\xbb\xbf")) or data[:2] == b"\xff\xfe"
                assert {*document.links} <= {*documents(scan)}


PART = st.text(st.characters(exclude_characters="/"), min_size=1, max_size=80) | SEGMENT


@given(names=st.lists(st.lists(PART, min_size=1, max_size=15).map("/".join), max_size=6), title=st.text(max_size=30))
def test_a_place_can_be_the_path_of_a_page_whatever_the_files_are_called(names: list[str], title: str) -> None:
    texts = [Text(name, f"{name}.md", f"# {title}\n", FrontMatter(title=title)) for name in names]
    for place, _ in find_places({text.address: text for text in texts}).values():
        assert page_path(place) == place
        assert place != "memory"


def test_a_text_is_read_to_the_byte(tmp_path: Path) -> None:
    files = {"crlf.md": b"a\r\n\r\nb\rc\n", "bytes.md": b"one\n\xff\xfe\ntwo \xe9\n", "mark.md": b"\xef\xbb\xbf# A\n"}
    found = documents(read(tmp_path, files))
    assert encode(found["crlf.md"].text) == files["crlf.md"]
    assert encode(found["bytes.md"].text) == files["bytes.md"]
    assert "2 lines, the first is line 2" in found["bytes.md"].notes[0]
    assert found["mark.md"].text == "# A\n"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_a_wide_encoding_is_decoded_by_its_mark(tmp_path: Path, encoding: str) -> None:
    found = documents(read(tmp_path, {"a.txt": "\ufeffSnow: 雪\r\n".encode(encoding)}))
    assert found["a.txt"].text == "Snow: 雪\r\n"
    assert "UTF-" in found["a.txt"].notes[0]


def test_what_is_no_text_is_left_out_with_the_reason(tmp_path: Path) -> None:
    files = {"ok.md": b"ok\n", "nul.md": b"a\0", "torn.md": b"\xff\xfea", "blank.md": b"\n \t\n", "old.doc": b"x"}
    left = left_out(read(tmp_path, files))
    assert {name: each.is_expected for name, each in left.items()} == {
        "nul.md": False,
        "torn.md": False,
        "blank.md": True,
        "old.doc": False,
    }
    assert ".doc" in left["old.doc"].reason


def test_hidden_notes_are_told_by_the_folder_that_hides_them(tmp_path: Path) -> None:
    left = left_out(read(tmp_path, {"a.md": "a\n", ".notes/x/b.md": "b\n", ".config/c.json": "{}", ".d.md": "d\n"}))
    assert {name: each.is_expected for name, each in left.items()} == {
        ".notes/": False,
        ".config/": True,
        ".d.md": False,
    }
    assert "b.md" in left[".notes/"].reason


@pytest.mark.skipif(sys.platform == "win32", reason="making symbolic links needs a right there")
def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": "secret\n", "in/a.md": "a\n", "in/.h/b.md": "b\n"})
    folder = tmp_path / "in"
    for name, target in {
        "loop": ".",
        "twin.md": "a.md",
        "hidden.md": ".h/b.md",
        "out": "../outside",
        "gone.md": "nowhere.md",
        "self.md": "self.md",
    }.items():
        (folder / name).symlink_to(target)
    scan = read(folder, {})
    assert [*documents(scan)] == ["a.md"]
    assert {name: each.is_expected for name, each in left_out(scan).items()} == {
        ".h/": False,
        "loop": True,
        "twin.md": True,
        "hidden.md": False,
        "out": False,
        "gone.md": False,
        "self.md": False,
    }
    (tmp_path / "way").symlink_to(folder)
    assert [source for source, _ in scan_paths([tmp_path / "way"])] == [folder]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names there")
def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert "neither a file nor a folder" in left_out(read(tmp_path, {"a.md": "a\n"}))["pipe.md"].reason


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has names that are no text")
def test_a_name_that_cannot_stand_on_a_line_is_escaped(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("a\n")
    (tmp_path / "two\nlines.md").write_text("b\n")
    assert [*documents(read(tmp_path, {}))] == [r"caf\xe9.md", r"two\nlines.md"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_is_forbidden_is_left_out_with_the_reason(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "b.md": "b\n", "c/d.md": "d\n"})
    (tmp_path / "b.md").chmod(0)
    (tmp_path / "c").chmod(0)
    try:
        left = left_out(read(tmp_path, {}))
    finally:
        (tmp_path / "c").chmod(0o700)
    assert "denied" in left["b.md"].reason
    assert "denied" in left["c/"].reason


def test_a_file_that_is_gone_before_it_is_read_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a\n", "b.md": "b\n"})
    listing = list_files(tmp_path, left_out_as_hidden)
    (tmp_path / "b.md").unlink()
    scan = scan_files(listing)
    assert [*documents(scan)] == ["a.md"]
    assert "cannot be read" in left_out(scan)["b.md"].reason


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be listed"):
        MARKDOWN.scan(tmp_path / "gone")
