"""What was said on the days that a question names comes first."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from memory_v2 import Memory, migrate_memory_v1_to_v2
from memory_v2.index.weights import DAY
from memory_v2.storage.volatile import VolatileStorage

WRITTEN = {
    "2026-02-12": "We decided on Avro for all events, instead of JSON.",
    "2026-03-11": "Events: we decided to keep them for ninety days, and to ask legal about longer.",
    "2026-03-17": "It was decided that Ada looks at failed events each morning, before the stand-up.",
    "2026-03-24": "Ben decided to count events by hour.",
}


@pytest.mark.parametrize(
    ("query", "day"),
    [
        ("What did we decide about events last week?", "2026-03-17"),
        ("What did we decide about events two weeks ago?", "2026-03-11"),
        ("What did we decide about events last month?", "2026-02-12"),
        ("What did we decide about events in February?", "2026-02-12"),
        ("What did we decide about events on 11 March 2026?", "2026-03-11"),
        ("What did we decide about events yesterday?", "2026-03-24"),
    ],
)
@pytest.mark.parametrize("is_told", [True, False], ids=["told", "known from the history"])
def test_what_was_said_on_the_day_asked_for_comes_first(query: str, day: str, is_told: bool) -> None:
    now = datetime(2026, 3, 25, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    for said, line in WRITTEN.items():
        now = datetime.fromisoformat(f"{'2026-03-25' if is_told else said}T09:00+00:00")
        memory.write(line, "events", "append", date=said if is_told else None)
    now = datetime(2026, 3, 25, 9, tzinfo=UTC)
    best = memory.search(query)[0]
    assert (str(best.date), best.excerpt) == (day, WRITTEN[day])
    assert DAY in dict(best.signs)


def test_a_day_that_a_place_names_counts_once() -> None:
    memory = Memory(VolatileStorage())
    memory.write("# Log\n\n- 2026-02-03: The kiln smokes.\n- 2026-02-10: The saw is blunt.\n", "log")
    best = memory.search("What about the saw on 10 February 2026?")[0]
    assert [name for name, _ in best.signs].count(DAY) == 1


def days_of(memory: Memory) -> None:
    """Two days of one page, and a newer one of another."""
    memory.write("The kiln smokes.", "log", "append", date="2026-03-16")
    memory.write("Ada left for Porto.", "log", "append", date="2026-03-17")
    memory.write("The saw is blunt.", "tools", date="2026-03-24")


def at_noon() -> datetime:
    return datetime(2026, 3, 25, 12, tzinfo=UTC)


def test_what_was_said_on_a_day_relative_to_today_is_found_whatever_its_words() -> None:
    memory = Memory(VolatileStorage(at_noon), now=at_noon)
    days_of(memory)
    found = memory.search("What happened last week?")
    assert found.answered
    assert [(result.path, result.excerpt) for result in found] == [
        ("log", "Ada left for Porto."),
        ("log", "The kiln smokes."),
    ]
    assert [result.excerpt for result in memory.search("What did I write yesterday?", under="tools")] == [
        "The saw is blunt."
    ]
    assert memory.search("What did I write yesterday?", under="log") == []


def test_a_line_written_on_a_day_without_saying_so_is_found_by_it() -> None:
    now = datetime(2026, 3, 24, 12, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    memory.write("The saw is blunt.")
    now = at_noon()
    memory.write("The kiln smokes.")
    assert [result.excerpt for result in memory.search("What did I note yesterday?")] == ["The saw is blunt."]


@pytest.mark.parametrize(
    "query",
    [
        "What happened on November 8?",
        "2025-11-08",
        "What did we do on 8 November 2025?",
        "Was geschah am 8. November?",
        "¿Qué pasó el 8 de noviembre de 2025?",
    ],
)
def test_a_question_for_a_day_alone_is_answered_by_what_was_said_then(query: str) -> None:
    now = datetime(2025, 11, 1, 9, tzinfo=UTC)
    memory = Memory(VolatileStorage(lambda: now), now=lambda: now)
    for number in range(1, 29):
        now = now.replace(day=number)
        memory.write(f"Kiln {number + 30} was lit, and what happened then was noted in report {number % 9}.")
    now = datetime(2026, 3, 24, 12, tzinfo=UTC)
    memory.write("Report 8 of November was lost.", "reports")
    found = memory.search(query)
    assert ["Kiln 38" in result.excerpt for result in found] == [True]
    assert found.answered


def test_a_search_of_some_days_shows_what_was_said_then_if_nothing_has_its_words() -> None:
    memory = Memory(VolatileStorage(at_noon), now=at_noon)
    days_of(memory)
    found = memory.search("zebra", since="2026-03-17", until="2026-03-20")
    assert [result.excerpt for result in found] == ["Ada left for Porto."]
    assert not found.answered
    assert memory.search("zebra", until="2025-03-20") == []
    assert [result.excerpt for result in memory.search("kiln", since="2026-03-16")] == ["The kiln smokes."]


def test_what_is_imported_without_a_day_has_none_until_it_is_written_anew(tmp_path: Path) -> None:
    older = tmp_path / "older"
    older.mkdir()
    (older / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at nine.\n")
    (older / "2026-02-03.md").write_text("# Log\n\nThe ferry was late.\n")
    migrate_memory_v1_to_v2(older, tmp_path / "new")
    with Memory.open(tmp_path / "new", "offline") as memory:
        days = {found.excerpt: found.date for found in memory.search("ferry")}
        assert days["The ferry leaves at nine."] is None
        assert days["The ferry was late."] == date(2026, 2, 3)
        assert "ferry leaves" not in str(memory.search("ferry", since="2026-01-01"))
        memory.split("ferry")
        assert memory.search("When does the ferry leave?")[0].date is None
        memory.replace_text("ferry", "nine", "ten")
        assert memory.search("When does the ferry leave?")[0].date == datetime.now(UTC).date()
