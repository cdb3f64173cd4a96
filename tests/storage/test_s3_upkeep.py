"""Entries in a bucket are routed, aged and promoted as those on a disk are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from memory_v2 import Memory

from .s3_server import HOST, Machine


@pytest.mark.allow_hosts([HOST])
def test_plans_are_carried_out_and_undone_in_a_bucket_and_another_machine_sees_it(machine: Machine) -> None:
    now = [datetime(2026, 2, 15, 12, tzinfo=UTC)]
    memory = Memory(machine("one"), now=lambda: now[0])
    lesson = memory.entries.capture("Lesson: test the restore.", decay="linear-14d", confidence=0.9).id
    assert memory.entries.route(apply=True).revision
    (promotion,) = memory.entries.promote(apply=True).planned
    now[0] += timedelta(days=14)
    assert {one.name for one in memory.entries.age(apply=True).planned} == {lesson, promotion.target}
    other = Memory(machine("two"), now=lambda: now[0])
    assert not other.entries.list_entries()
    assert not other.entries.age(apply=True).planned
    other.undo()
    assert {one.id: one.home for one in memory.entries.list_entries()} == {
        lesson: "insights",
        promotion.target: "insights",
    }
