"""Which days a question names by how far they are from today."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.text.days import relative_days, without_relative_days

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
