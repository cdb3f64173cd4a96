"""Days, months and years in a text, also relative to today."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.dates import (
    PartialDate,
    Span,
    covers,
    dates_before,
    find_dates,
    leading_date,
    named_span,
    question_dates,
)
from memory_v2.text.days import relative_days, without_relative_days

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=120)
# Pieces of dates in an order that makes no sense.
SHRED = "2026|02|30|8|-|/|.|,|:| |\n|年|月|日|May|out|mai|of|de|Q1|in|9999|0000|00|1:56|pm|(|[|２０２６|th|20260208"
SHREDS = st.lists(st.sampled_from(tuple(SHRED.split("|"))), max_size=14).map("".join)


def day(year: int, month: int, number: int) -> Span:
    return Span(date(year, month, number), date(year, month, number))


MAY = Span(date(2023, 5, 1), date(2023, 5, 31))
YEAR = Span(date(2022, 1, 1), date(2022, 12, 31))


@given(ANY_TEXT | SHREDS)
def test_nothing_that_is_text_makes_any_of_these_fail(text: str) -> None:
    leading_date(text)
    question_dates(text)


@given(ANY_TEXT | SHREDS)
def test_dates_come_in_order_and_apart_and_run_forward(text: str) -> None:
    last = 0
    for span, start, end in find_dates(text):
        assert last <= start < end <= len(text)
        assert span.start <= span.end
        last = end


@given(
    st.dates(date(1970, 1, 1), date(2099, 12, 31)),
    st.sampled_from(["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%Y年%m月%d日", "%d.%m.%Y"]),
)
def test_every_day_is_found_in_every_form(when: date, form: str) -> None:
    assert [found[0] for found in find_dates(f"so: {when.strftime(form)} it was")] == [Span(when, when)]


@pytest.mark.parametrize(
    "text",
    [
        "8 May 2023", "8 May, 2023", "May 8, 2023", "May 8th 2023", "8th of May 2023", "the 8th of May, 2023",
        "8-May-2023", "1:56 pm on 8 May, 2023", "8 de mayo de 2023", "8 de maio de 2023", "8 mai 2023",
        "8. Mai 2023", "8 maggio 2023", "2023-05-08T13:55Z", "2023.05.08", "(2023-05-08)", "spark_20230508_1758",
        "于2023年5月8日", "memory/2023-05-08.md", "２０２３年５月８日", "2023년 5월 8일", "8 MAY 2023",
        "8\nMay 2023",
    ],
)  # fmt: skip
def test_a_day_is_found(text: str) -> None:
    assert [found[0] for found in find_dates(text)] == [day(2023, 5, 8)]


@pytest.mark.parametrize("text", ["2023-05", "May 2023", "May, 2023", "mayo de 2023", "2023年5月", "in May 2023."])
def test_a_month_is_found(text: str) -> None:
    assert [found[0] for found in find_dates(text)] == [MAY]
    assert MAY.granularity == "month"


@pytest.mark.parametrize("text", ["in 2022", "since 2022,", "the summer of 2022", "en 2022", "im Jahr 2022", "2022年"])
def test_a_year_is_found_where_it_clearly_is_one(text: str) -> None:
    assert [found[0] for found in find_dates(text)] == [YEAR]
    assert YEAR.granularity == "year"


@pytest.mark.parametrize("text", ["Q1 2026", "2026-Q1", "2026 Q1", "Q1/2026"])
def test_a_quarter_is_found(text: str) -> None:
    assert [found[0] for found in find_dates(text)] == [Span(date(2026, 1, 1), date(2026, 3, 31))]


def test_the_place_of_a_date_is_its_own() -> None:
    text = "We met on 8 May, 2023 and in 2024."
    assert [text[start:end] for _, start, end in find_dates(text)] == ["8 May, 2023", "2024"]


@pytest.mark.parametrize(
    "text",
    [
        "2023-02-30", "30 Feb 2023", "Feb 30, 2023", "31.04.2026", "2024-13", "2026年13月", "May 8", "Feb 10",
        "2022", "2022 files", "03/04/2026", "version 2026.2.3-1", "id 19991231999", "x20260208", "in 2000s",
        "ran out 2023 times", "set 2000", "2000年前", "Room 12 2023", "port:20260208", "1.2026.02.08",
    ],
)  # fmt: skip
def test_what_is_no_date_or_could_be_two_is_not_found(text: str) -> None:
    assert find_dates(text) == []


@pytest.mark.parametrize(
    "line",
    [
        "## 8 May 2023, 1:56 pm", "- [2023-05-08] did", "**2023-05-08** did",
        "## Session 1 (1:56 pm on 8 May, 2023)", "2023-05-08 14:00 - x", "Session 3 — 2023-05-08",
        "Monday, 8 May 2023", "- [x] 2023-05-08 done", "> 2023-05-08: so", "8. Mai 2023: Treffen",
        "1. 8 May 2023 met", "[14:02] 2023-05-08", "# Daily Log: 2023-05-08", "# 日志 - 2023-05-08 18:19",
        "### Day 0 - May 8, 2023: Start", "# 🌙 夜间沉思 (2023-05-08 04:00)", "星期一 2023-05-08",
        "Date: 2023-05-08", "[[2023-05-08]]",
    ],
)  # fmt: skip
def test_a_line_that_starts_with_a_date_is_of_that_day(line: str) -> None:
    assert leading_date(line) == day(2023, 5, 8)


@pytest.mark.parametrize(
    "line",
    [
        "", "We met on 2023-05-08", "- Silica moved to X: 2023-05-08", "2023 was good", "In 2022 I moved",
        "2023-02-30 so", "## Why we left the old host in the end: 2023-05-08", "Ana (2023-05-08) said",
        "first line\n2023-05-08",
    ],
)  # fmt: skip
def test_a_date_later_on_is_not_leading(line: str) -> None:
    assert leading_date(line) is None


def test_a_heading_may_be_a_year_or_a_month() -> None:
    assert leading_date("## 2022") == YEAR
    assert leading_date("# May 2023") == MAY


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What happened on May 3?", [PartialDate(5, 3)]),
        ("on the 8th of May", [PartialDate(5, 8)]),
        ("el 5 de mayo", [PartialDate(5, 5)]),
        ("2月8日", [PartialDate(2, 8)]),
        ("5月に何を", [PartialDate(5)]),
        ("What did she do in May?", [PartialDate(5)]),
        ("What did she do last February?", [PartialDate(2)]),
        ("What did she buy in May 2023?", [MAY]),
        ("dinner on May 8, 2023", [day(2023, 5, 8)]),
        ("2022 trips", [YEAR]),
        ("in 2022", [YEAR]),
        ("between May 2023 and June", [MAY, PartialDate(6)]),
        ("May I go?", []),
        ("10 out of 10", []),
        ("February 30", [PartialDate(2)]),
    ],
)
def test_a_question_may_leave_the_year_out(query: str, expected: list[Span | PartialDate]) -> None:
    assert question_dates(query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("How was it before June?", [PartialDate(6)]),
        ("How was it until the end of May 2023, and in June?", [MAY]),
        ("Wie war es bis zum 8. Mai?", [PartialDate(5, 8)]),
        ("¿Cómo era antes del 5 de mayo?", [PartialDate(5, 5)]),
        ("Comment c'était jusqu'en 2022 ?", [YEAR]),
        ("5月之前怎么样？", [PartialDate(5)]),
        ("How was it in June, before the storm?", []),
        ("What did she do the week before 8 May 2023?", []),
        ("Was war zwei Tage vor dem 8. Mai?", []),
    ],
)
def test_a_question_may_ask_for_what_was_before_a_day(query: str, expected: list[Span | PartialDate]) -> None:
    assert [*dates_before(query)] == expected


def test_a_partial_date_matches_spans_that_have_such_a_day() -> None:
    assert PartialDate(5).matches(day(2023, 5, 8))
    assert PartialDate(5, 8).matches(MAY)
    assert PartialDate(5, 8).matches(Span(date(2022, 12, 1), date(2023, 6, 1)))
    assert not PartialDate(5, 9).matches(day(2023, 5, 8))
    assert not PartialDate(6).matches(MAY)
    assert not PartialDate(2, 29).matches(Span(date(2023, 2, 1), date(2023, 3, 31)))
    assert PartialDate(2, 29).matches(Span(date(2024, 2, 1), date(2024, 3, 31)))


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ("2023-05-08", "2023-05-08", "8 May 2023"),
        ("2023-05-08", "2023-05-25", "8–25 May 2023"),
        ("2023-05-01", "2023-05-31", "May 2023"),
        ("2023-05-08", "2023-07-02", "May–July 2023"),
        ("2022-12-24", "2023-01-06", "Dec 2022 – Jan 2023"),
        ("2023-01-01", "2023-12-31", "2023"),
        ("2022-01-01", "2023-12-31", "2022–2023"),
    ],
)
def test_a_span_is_told_in_words(start: str, end: str, text: str) -> None:
    assert covers(Span(date.fromisoformat(start), date.fromisoformat(end))) == text


@pytest.mark.parametrize("piece", ["1", " ", "1 ", "2023-", "8 may ", "2023年", "in the ", "\n", "#", "last "])
def test_a_long_run_of_nearly_dates_ends(piece: str) -> None:
    hostile = piece * (200_000 // len(piece))
    assert all(span.start <= span.end for span, _, _ in find_dates(hostile))
    leading_date(hostile)


SPANS = {
    "2026": ("2026-01-01", "2026-12-31"),
    "2026-02": ("2026-02-01", "2026-02-28"),
    "2026-02-03": ("2026-02-03", "2026-02-03"),
    "2026-02-03-to-02-09": ("2026-02-03", "2026-02-09"),
    "2026-02-to-2026-05": ("2026-02-01", "2026-05-31"),
    "2024-to-2026": ("2024-01-01", "2026-12-31"),
    "2026-02-log": ("2026-02-01", "2026-02-28"),
    "2026-02-log-2": ("2026-02-01", "2026-02-28"),
    "2026-02-03-to-09": ("2026-02-03", "2026-02-09"),  # as older versions named pages
    "2026-02-to-05": ("2026-02-01", "2026-05-31"),
    "2024-to-26": ("2024-01-01", "2026-12-31"),
    "2026-02-3": ("2026-02-01", "2026-02-28"),
}


@pytest.mark.parametrize(("name", "days"), SPANS.items(), ids=SPANS)
def test_every_name_of_a_period_is_read(name: str, days: tuple[str, str]) -> None:
    span = named_span(name)
    assert span is not None
    assert (span.start.isoformat(), span.end.isoformat()) == days


@pytest.mark.parametrize("name", ["2026-13", "2026-05-to-2026-02", "2026-02-03-party", "26-02", "notes"])
def test_what_is_no_name_of_a_period_is_none(name: str) -> None:
    assert named_span(name) is None


def test_a_heading_from_one_day_to_another_is_about_all_of_them() -> None:
    assert leading_date("2026-02-03 to 02-09") == named_span("2026-02-03-to-02-09")


TODAY = date(2026, 11, 25)  # a Wednesday


@pytest.mark.parametrize(
    ("queries", "first", "last"),
    [
        (("yesterday", "Was war gestern?", "¿qué dije ayer?", "ontem", "昨天说了什么"), "2026-11-24", "2026-11-24"),
        (
            ("the day before yesterday", "vorgestern", "avant-hier", "two days ago", "两天前"),
            "2026-11-23",
            "2026-11-23",
        ),
        (("What is due tomorrow?", "demain", "amanhã"), "2026-11-26", "2026-11-26"),
        (("What did we decide last week?", "letzte Woche", "la semana pasada", "上周"), "2026-11-16", "2026-11-22"),
        (("la semaine dernière", "il y a une semaine", "vor einer Woche", "Last Week"), "2026-11-16", "2026-11-22"),
        (("next week", "nächste Woche", "la semaine prochaine", "下周"), "2026-11-30", "2026-12-06"),
        (("last weekend", "letztes Wochenende"), "2026-11-21", "2026-11-22"),
        (("last Tuesday", "letzten Dienstag", "mardi dernier", "terça-feira passada"), "2026-11-24", "2026-11-24"),
        (("last Wednesday", "上周三"), "2026-11-18", "2026-11-18"),
        (("上周二",), "2026-11-17", "2026-11-17"),
        (("last month", "vergangenen Monat", "el mes pasado", "上个月", "a month ago"), "2026-10-01", "2026-10-31"),
        (("this month", "diesen Monat", "este mês", "本月"), "2026-11-01", "2026-11-30"),
        (("hace 11 meses", "11 months ago"), "2025-12-01", "2025-12-31"),
        (("last year", "l'année dernière", "el año pasado", "去年"), "2025-01-01", "2025-12-31"),
    ],
)
def test_a_question_names_days_relative_to_today(queries: tuple[str, ...], first: str, last: str) -> None:
    for query in queries:
        spans = relative_days(query, TODAY)
        assert [(str(span.start), str(span.end)) for span in spans][-1:] == [(first, last)], query


@pytest.mark.parametrize(
    "query",
    [
        *("today", "now", "the last week of March", "last days", "How long ago?", "weekly", "this is the last one"),
        *("Guten Morgen", "Was steht hier?", "Es la mañana", "an agony", "ein Jahr", "天", "一个月", "lastly"),
    ],
)
def test_other_words_name_no_day(query: str) -> None:
    assert relative_days(query, TODAY) == []


@given(st.dates(), st.text(alphabet="last nextwkmohyrdgo9 上周前年三两", max_size=30))
def test_no_day_is_beyond_the_end_of_time(today: date, query: str) -> None:
    for asked in (query, f"{query} 999 years ago", "next year", "next month", "last month", "tomorrow", "last Sunday"):
        assert all(span.start <= span.end for span in relative_days(asked, today))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Mail that came in today", "Mail that came in"),
        ("Störung gestern (12. Februar), Kurzfassung", "Störung (12. Februar), Kurzfassung"),
        ("Machines  of\nlast week", "Machines of"),
        ("今天的会议", "的会议"),
        ("The day of the ferry", "The day of the ferry"),
    ],
)
def test_a_text_is_told_without_the_days_that_are_others_tomorrow(text: str, left: str) -> None:
    assert without_relative_days(text) == left
