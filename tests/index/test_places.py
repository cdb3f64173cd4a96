"""The places of a page have ids in slots, as many as it needs; pages that would begin at the same slot make way."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from memory_v2.index import tables
from memory_v2.index.base import Hit
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import FILE
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.page import parse_page

STEPS: Sequence[dict[str, int]] = (
    {"memory": 0, "harbor": 40, "lantern": 3},
    {"harbor": 100},
    {"memory": 17, "lantern": 16},
    {"harbor": 1},
    {"lantern": 33, "harbor": 32},
    {"memory": 0, "harbor": 0},
)
"""How many items pages have, one change after the other."""


def answers(index: FullTextIndex) -> list[list[Hit]]:
    return [index.search(query, 300) for query in ("item", "harbor", "lantern 2", "memory item 16")]


@pytest.mark.parametrize("slot", [0, 7, (1 << tables.PAGE_BITS) - 1])
def test_pages_that_begin_at_the_same_slot_are_found_as_others_are(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, slot: int
) -> None:
    caplog.set_level(logging.DEBUG, "memory_v2.index")
    storage = VolatileStorage()
    crowded = FullTextIndex(storage, None)
    for step in STEPS:
        pages = [
            parse_page(path, f"# {path}\n\n" + "".join(f"- item {number}\n" for number in range(count)))
            for path, count in step.items()
        ]
        for page in pages:
            storage.write(page.path, page.data)
        with monkeypatch.context() as patch:
            patch.setattr(tables, "page_number", lambda _: slot)
            crowded.update(pages, [])
            found = answers(crowded)
        assert found == answers(FullTextIndex(storage, None))
        assert sum(map(len, found)) > 0
    assert not caplog.records  # else the tables have failed and were made anew


def test_texts_that_were_swapped_in_the_file_are_not_shown(tmp_path: Path) -> None:
    storage = VolatileStorage()
    for path in ("memory", "harbor"):
        storage.write(path, f"- item {path}\n- lantern".encode())
    index = FullTextIndex(storage, tmp_path)
    before = answers(index)
    index.close()
    with sqlite3.connect(tmp_path / FILE) as file:
        [(first, *one), (second, *other)] = file.execute("SELECT id, check_sum, data FROM texts ORDER BY id")
        for number, row in ((first, other), (second, one)):
            file.execute("UPDATE texts SET check_sum = ?, data = ? WHERE id = ?", (*row, number))
    file.close()
    assert answers(FullTextIndex(storage, tmp_path)) == before
