"""Entries in a bucket: machines capture at the same time, and the tree's listing does not look at what they capture."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_v2.memory import Memory

from .s3_server import HOST, Machine, keys

pytestmark = pytest.mark.allow_hosts([HOST])

NOW = datetime(2026, 2, 15, 9, 30, tzinfo=UTC)


def test_machines_capture_under_numbers_of_their_own_and_share_one_history(bucket: str, machine: Machine) -> None:
    first, second = (Memory(machine(name), now=lambda: NOW) for name in ("one", "two"))
    texts = ["Ferries are late.", "The jetty is new.", "Tulips stand by the kiln."]
    ids = [memory.entries.capture(f"{text} {n}").id for text in texts for n, memory in enumerate((first, second))]
    assert len(set(ids)) == 6
    assert [entry.id for entry in second.entries.list_entries()] == sorted(ids)
    assert (first.entries.pick_up(), second.entries.pick_up()) == (6, 0)
    assert second.check() == []
    second.undo()
    assert first.entries.list_entries() == []
    assert not [name for name in keys(bucket) if "/entries/" in name]


def test_pages_are_listed_without_the_entries(bucket: str, machine: Machine) -> None:
    memory = Memory(machine(), now=lambda: NOW)
    memory.write("The lighthouse is white.", "towns")
    memory.entries.capture("The lighthouse keeper retires.")
    memory.entries.pick_up()
    assert [page.path for page in Memory(machine()).list_files()] == ["memory", "towns"]
    results = Memory(machine()).search("lighthouse")
    assert {one.path.partition("/")[0] for one in results} == {"entries", "towns"}
    assert "keeper" not in str(Memory(machine()).search("lighthouse", only="pages"))
