"""Which paths a page may have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.errors import InvalidPath
from memory_v2.tree.path import (
    MAX_DEPTH,
    MAX_PATH_BYTES,
    MAX_SEGMENT_BYTES,
    ROOT,
    TakenPaths,
    child_path,
    fold,
    is_page_path,
    page_path,
    prefixes,
    title_of_path,
)
from tests.tree.texts import STEADY

VALID = [
    "memory",
    "projects/silica",
    "Projects/Silica",
    "2026-03",
    "v1.2 notes/to do (old)",
    "Größe/日本語/данные",
    "a's & b, c; d!",
    "community",
    "console",
    "nullable",
    "com",
    "aux1",
    "a..b",
    "x" * MAX_SEGMENT_BYTES,
    "/".join("abcdefghijkl"),
    "it`s",
    "{{ x }}",
    "~home",
    "🧠",
]
INVALID = {
    "empty": "",
    "absolute": "/abs",
    "only a slash": "/",
    "slash at the end": "a/",
    "empty part": "a//b",
    "up": "../x",
    "up inside": "a/../b",
    "here": "./a",
    "hidden": ".metadata/x",
    "hidden inside": "a/.git/b",
    "backslash": "a\\b",
    "drive": "C:/a",
    "stream": "a:b",
    "device": "CON",
    "device in a folder": "a/nul/b",
    "device with an ending": "aux.txt",
    "device with a number": "com1",
    "device with a raised number": "LPT²",
    "device and blanks": "con .x",
    "question mark": "a?",
    "star": "*",
    "pipe": "a|b",
    "quote": 'a"b',
    "angle": "<a>",
    "bracket": "[[a]]",
    "hash": "a#b",
    "caret": "a^b",
    "blank at the start": " a",
    "blank at the end": "a ",
    "no-break space at the end": "a\u00a0",
    "dot at the end": "a.",
    "dots": "...",
    "ending": "a.md",
    "ending in capitals": "a.MD",
    "line end": "a\nb",
    "NUL": "a\0b",
    "escape": "a\x1b[31m",
    "zero width": "a\u200bb",
    "right to left": "a\u202eb",
    "BOM": "\ufeffa",
    "line separator": "a\u2028b",
    "private use": "a\ue000",
    "half of a pair": "a\ud800",
    "byte that is not UTF-8": "a\udcff",
    "long part": "x" * (MAX_SEGMENT_BYTES + 1),
    "long part in bytes": "é" * (MAX_SEGMENT_BYTES // 2 + 1),
    "long": "/".join(["x" * 60] * 5),
    "ten kilobytes": "x" * 10_240,
    "deep": "/".join("abcdefghijklm"),
}


@pytest.mark.parametrize("path", VALID)
def test_a_valid_path_is_taken_as_it_is(path: str) -> None:
    assert page_path(path) == path
    assert is_page_path(path)


@pytest.mark.parametrize("path", INVALID.values(), ids=INVALID.keys())
def test_an_invalid_path_is_refused_with_the_rule_it_breaks(path: str) -> None:
    with pytest.raises(InvalidPath) as raised:
        page_path(path)
    assert len(str(raised.value)) < 700
    str(raised.value).encode()
    assert not is_page_path(path)


@pytest.mark.parametrize("path", [None, 3, b"a", ["a"]])
def test_what_is_no_text_is_no_path(path: object) -> None:
    with pytest.raises(InvalidPath):
        page_path(path)  # type: ignore[arg-type]


def test_a_decomposed_path_is_brought_to_its_one_form() -> None:
    assert page_path("e\u0301te\u0301") == "\u00e9t\u00e9"
    assert not is_page_path("e\u0301te\u0301")


@STEADY
@given(st.text(max_size=30))
def test_any_text_is_a_path_for_good_or_refused(text: str) -> None:
    try:
        path = page_path(text)
    except InvalidPath:
        return
    assert page_path(path) == path
    assert len(path.encode()) <= MAX_PATH_BYTES
    assert path.count("/") < MAX_DEPTH
    assert not path.startswith(("/", "."))
    assert fold(fold(path)) == fold(path)


@pytest.mark.parametrize(
    ("path", "others", "clash"),
    [
        ("Alice", {"alice"}, "alice"),
        ("alice/x", {"Alice/y"}, "Alice"),
        ("alice/X", {"alice/x"}, "alice/x"),
        ("alice", {"Alice/y"}, "Alice"),
        ("alice/x", {"alice"}, None),
        ("alice", {"alice"}, None),
        ("STRASSE", {"straße"}, "straße"),
        ("bob", {"alice"}, None),
    ],
)
def test_paths_that_one_disk_holds_to_be_the_same_clash(path: str, others: set[str], clash: str | None) -> None:
    taken = TakenPaths(others)
    assert taken.clash(path) == clash
    assert (path in taken) == (clash is not None or path in others)


def test_a_page_is_found_by_its_path_in_any_case() -> None:
    taken = TakenPaths(["Projects/Silica"])
    assert taken.page("projects/SILICA") == "Projects/Silica"
    assert taken.page("projects") is None
    assert "projects" in taken
    taken.add("projects")
    assert taken.page("Projects") == "projects"


@STEADY
@given(st.lists(st.sampled_from("abcdefghij"), min_size=1, max_size=MAX_DEPTH), st.sampled_from(["x", "n" * 90]))
def test_a_childs_path_is_always_a_path(above: list[str], name: str) -> None:
    for parent in ("/".join(above), "/".join(part * 19 for part in above)[:MAX_PATH_BYTES].rstrip("/"), ROOT):
        assert is_page_path(child_path(parent, name))


def test_the_roots_children_stand_at_the_top() -> None:
    assert child_path(ROOT, "silica") == "silica"
    assert child_path("projects", "silica") == "projects/silica"


def test_prefixes_are_the_folders_above_and_the_page() -> None:
    assert prefixes("a/b/c") == ["a", "a/b", "a/b/c"]


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("people/dagny-holt", "Met Dagny Holt at the harbour; dagny-holt@example.com.", "Dagny Holt"),
        ("apis/billing_api", "the billing API, not billing  API2", "Billing API"),
        ("home/set-up", "How the set-up works", "Set up"),
        ("ops", "the ops team and the shops, OPSEC", "Ops"),
        ("people/o-brien", "", "O brien"),
        ("a.b*", "A.b* and", "A.b*"),
        ("-", "", "-"),
    ],
)
def test_a_title_has_the_capitals_of_the_text(path: str, text: str, title: str) -> None:
    assert title_of_path(path, text) == title
