"""What was said on the days that a question names comes first."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory_v2 import Memory
from memory_v2.operations.on_days import SIGN
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
    assert SIGN in dict(best.signs)


def test_a_day_that_a_place_names_counts_once() -> None:
    memory = Memory(VolatileStorage())
    memory.write("# Log\n\n- 2026-02-03: The kiln smokes.\n- 2026-02-10: The saw is blunt.\n", "log")
    best = memory.search("What about the saw on 10 February 2026?")[0]
    assert [name for name, _ in best.signs].count(SIGN) == 1
