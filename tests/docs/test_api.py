"""The page about the Python API says what the docstrings say."""

from __future__ import annotations

import memory_v2
from memory_v2.memory import Memory
from memory_v2.notes.notes import Notes
from tests.docs import api


def test_the_page_is_what_the_docstrings_give() -> None:
    assert api.PAGE.read_text("utf-8") == api.page(), "write it again: make api"


def test_the_page_has_all_of_the_memory_and_all_that_it_returns() -> None:
    page = api.PAGE.read_text("utf-8")
    methods = [name for name in dir(Memory) if not name.startswith("_")]
    assert all(f"emory.{name}\n" in page for name in methods)
    assert all(f"otes.{name}\n" in page for name in dir(Notes) if not name.startswith("_"))
    for name in ("WriteResult", "SearchResult", "PageInfo", "Graph", "Finding", "PastOperation", "Change", "Plan"):
        assert f"### {name}\n" in page
    assert all(name in page for name in memory_v2.__all__ if name != "__version__")


def test_no_two_results_have_the_same_name() -> None:
    names = [one.__name__ for one in api.result_types()]
    assert [name for name in names if names.count(name) > 1] == []
