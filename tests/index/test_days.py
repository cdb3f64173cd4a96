"""Which days a question asks for, however many."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index.days import Days
from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage

_spans = st.tuples(st.integers(1, 60), st.integers(0, 9)).map(lambda span: (span[0], span[0] + span[1]))


@given(st.lists(_spans), _spans)
def test_a_place_is_on_a_day_asked_for_as_if_each_span_were_compared(
    spans: list[tuple[int, int]], place: tuple[int, int]
) -> None:
    days, (since, until) = Days(tuple(spans)), place
    on_them = [span for span in spans if since <= span[1] and span[0] <= until]
    assert days.include(since, until) == bool(on_them)
    assert days.named(since, until) == (on_them[0] if on_them else None)


@given(st.lists(_spans))
def test_merged_days_are_the_same_days_apart_and_in_order(spans: list[tuple[int, int]]) -> None:
    merged = Days(tuple(spans)).merged
    assert {day for first, last in merged for day in range(first, last + 1)} == {
        day for first, last in spans for day in range(first, last + 1)
    }
    assert all(before[1] + 1 < after[0] for before, after in pairwise(merged))


def _index() -> FullTextIndex:
    storage = VolatileStorage(lambda: datetime(2026, 1, 1, tzinfo=UTC))
    log = "".join(f"- fact {n} ({date(1965 + n % 60, n % 12 + 1, n % 28 + 1)})\n" for n in range(300))
    storage.write("log", f"# Log\n\n{log}".encode())
    return FullTextIndex(storage, None)


def test_a_question_may_name_any_number_of_days() -> None:
    asked = ", ".join(f"{month} {day}" for month in ("May", "June", "October") for day in range(1, 29, 2))
    hits = _index().search(f"fact, other words: {asked}")
    assert hits
    assert all(hit.date and hit.date.month in (5, 6, 10) and hit.date.day % 2 for hit in hits)


def test_a_question_may_quote_and_name_any_number_of_phrases_and_people() -> None:
    quoted = " ".join(f'"fact {number}"' for number in range(5_000))
    assert len(_index().search(quoted)) == 10
    storage = VolatileStorage()
    names = [
        f"{first}{last}" for first in ("An", "Be", "Cor", "Dor") for last in map(chr, range(ord("a"), ord("z") + 1))
    ]
    storage.write("talk", "".join(f"- {name}: Hello, how are you?\n" for name in names * 2).encode())
    assert len(FullTextIndex(storage, None).search(f"What did {' and '.join(names)} say: hello?")) == 10
