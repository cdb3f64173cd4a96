"""Dates in a text: when something happened."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from typing import Literal, TypeVar

from memory_v2.text.words import composed, matcher

T = TypeVar("T")


@dataclass(frozen=True, order=True, slots=True)
class Span:
    """The days from `start` to `end`, both included."""

    start: date
    end: date

    @property
    def granularity(self) -> Literal["day", "month", "year"]:
        """The precision: one day, within one month, or longer (a quarter counts as a year)."""
        if self.start == self.end:
            return "day"
        return "month" if (self.start.year, self.start.month) == (self.end.year, self.end.month) else "year"


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A month, or a day of a month, without a year."""

    month: int
    day: int | None = None

    def in_years(self, years: Iterable[int]) -> list[Span]:
        """This month or day in each of these years; 29 February only in those that have one."""
        return [span for year in years if (span := _span(year, self.month, self.day))]

    def matches(self, span: Span) -> bool:
        """Whether any day of `span` falls in this month or on this day."""
        these = self.in_years(range(span.start.year, span.end.year + 1))
        return any(this.start <= span.end and span.start <= this.end for this in these)

    def latest(self, today: date) -> list[Span]:
        """This month or day in the last `YEARS_BACK` years, this one included, the newest first."""
        spans = self.in_years(range(today.year, today.year - YEARS_BACK, -1))
        return [span for span in spans if span.start <= today]


YEARS_BACK = 10
"""Of how many years a day without a year may be one: a memory is seldom older."""


def is_month(word: str) -> bool:
    """Whether a word, in lower case and without accents, is the name or abbreviation of a month."""
    return word in _MONTHS and word not in _ENGLISH


def may_have_year(text: str) -> bool:
    """Whether four digits in a row stand in `text`. If not, it has no date that `find_dates` or `leading_date` find."""
    return _pattern(_FOUR_DIGITS).search(text) is not None


def find_dates(text: str) -> list[tuple[Span, int, int]]:
    """The dates in `text` that include a year, in order, each with its start and end position.

    A year alone counts after a preposition ("in 2022"). Dates that do not exist are skipped, and so are dates whose day
    and month could be swapped (03/04/2026).
    """
    if not may_have_year(text):
        return []
    return [*(_of_a_line(text) if len(text) <= MAX_LINE else _of_a_text(text))]


MAX_LINE = 400
"""Up to how many characters a text is taken for a line, of which many are kept."""
KEPT = 10_000
"""Of how many lines the dates are kept: more than a page may have that is about to be divided."""


def _found(text: str) -> Sequence[tuple[Span, int, int]]:
    claims: list[tuple[int, int, Span | None]] = []
    for start, end in _near_years(text):
        for form in _forms_in(text[start:end]):
            for match in _pattern(form).finditer(text, start, end):
                claims += _claim(match)
    if not claims and _pattern(_YEAR).search(text) is None:
        return ()
    for match in _pattern(_BARE_YEAR).finditer(text):
        if _pattern(_BEFORE_YEAR).search(text[max(0, match.start() - 32) : match.start()]):
            claims.append((match.start(), match.end(), _span(int(match[0]))))
    return tuple(_apart(claims))


_of_a_line = lru_cache(KEPT)(_found)
"""The dates of a line, which is read again when its page is divided, described and indexed."""
_of_a_text = lru_cache(16)(_found)
"""The dates of a text, which is asked in turn for its first day, for its last one, and whether it has any."""


def leading_date(text: str) -> Span | None:
    """The date at the start of a line or heading, after any marks, weekday, time or short label."""
    return _leading(text[:4000].lstrip().partition("\n")[0][:200])


@lru_cache(KEPT)  # each text of an index is asked for its own day, and for the day that it speaks of
def _leading(line: str) -> Span | None:
    if not may_have_year(line):
        return None
    for rest in _openings(line):
        if (period := _pattern(_PERIOD_NAME).match(rest)) and (span := named_span(period[0].replace(" to ", "-to-"))):
            return span
        found = find_dates(rest)
        if found and found[0][1] == 0:
            return found[0][0]
        if year := _pattern(rf"({_YEAR})[\W_]*$").match(rest):
            return _span(int(year[1]))
    return None


def named_span(name: str) -> Span | None:
    """The time that a page name stands for: `2026`, `2026-03`, `2026-03-09`, from one to another as in
    `2026-03-09-to-03-13` and `2026-03-to-2026-05`, and each with `-log` behind it.

    Names of older versions are read too: `2026-03-09-to-13`, `2026-03-to-05`, `2024-to-26`, and `2026-03-2` for another
    page of that month.
    """
    match = _pattern(_NAMED).fullmatch(name)
    if match is None:
        return None
    start = match["start"].split("-")
    end = match["end"].split("-") if match["end"] else start
    if len(end) < len(start) or (len(start) == 1 and len(end[0]) == 2):  # what both have in common is left out
        end = [*start[: len(start) - len(end)], *end] if len(start) > 1 else [start[0][:2] + end[0]]
    first, last = _span(*map(int, start)), _span(*map(int, end))
    return Span(first.start, last.end) if first and last and first.start <= last.end else None


def question_dates(query: str) -> list[Span | PartialDate]:
    """The times that `query` names, in order: dates, bare years, and months or days without a year."""
    return [found for found, _, _ in _asked_for(query)]


def dates_before(query: str) -> dict[Span | PartialDate, str]:
    """The times before which something is asked for, as in "before June", "bis Mai 2025" or "6月之前", as they stand
    there."""
    return {
        found: query[start:end]
        for found, start, end in _asked_for(query)
        if ((before := _pattern(_BEFORE).search(query[max(0, start - 40) : start])) and not before["near"])
        or query[end : end + 2] in ("之前", "以前")
    }


def _asked_for(query: str) -> Iterator[tuple[Span | PartialDate, int, int]]:
    claims: list[tuple[int, int, Span | PartialDate | None]] = [(s, e, span) for span, s, e in find_dates(query)]
    claims += [(m.start(), m.end(), _span(int(m[0]))) for m in _pattern(_BARE_YEAR).finditer(query)]
    claims += _partial(query)
    return _apart(claims)


def covers(span: Span) -> str:
    """`span` for people to read, in whole months if it crosses months: "8–25 May 2023", "May–July 2023"."""
    start, end = span.start, span.end
    first, last = MONTHS[start.month - 1], MONTHS[end.month - 1]
    if start == end:
        return f"{start.day} {first} {start.year}"
    if (start.month, start.day, end.month, end.day) == (1, 1, 12, 31):
        return f"{start.year}" if start.year == end.year else f"{start.year}–{end.year}"
    if start.year != end.year:
        return f"{first[:3]} {start.year} – {last[:3]} {end.year}"
    if start.month != end.month:
        return f"{first}–{last} {start.year}"
    whole = span == _span(start.year, start.month)
    return f"{first} {start.year}" if whole else f"{start.day}–{end.day} {first} {start.year}"


MONTHS = ["January", "February", "March", "April", "May", "June", "July"]
MONTHS += ["August", "September", "October", "November", "December"]
# Names and usual abbreviations in English, Spanish, Portuguese, French, German and Italian, without accents.
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan enero ene janeiro janvier janv januar janner gennaio gen",
            "february feb febrero fevereiro fev fevrier fevr februar febbraio",
            "march mar marzo marco mars marz mrz",
            "april apr abril abr avril avr aprile",
            "may mayo maio mai maggio mag",
            "june jun junio junho juin juni giugno giu",
            "july jul julio julho juillet juil juli luglio lug",
            "august aug agosto ago aout",
            "september sep sept septiembre setiembre set setembro septembre settembre",
            "october oct octubre outubro out octobre oktober okt ottobre ott",
            "november nov noviembre novembro novembre",
            "december dec diciembre dic dezembro dez decembre dezember dicembre",
        ),
        start=1,
    )
    for name in names.split()
}
# Months in Portuguese or Italian that are more often English words: they count only next to "de" or "di".
_ENGLISH = frozenset(["ago", "gen", "mag", "out", "set"])
# Months that are also words or people, and short names except those in _SHORT, count only with a preposition or a day.
_DOUBTFUL = frozenset(["march", "marco"])
_SHORT = frozenset(["june", "july", "mayo", "maio", "juin", "aout", "juli"])

_NAMED = r"(?P<start>\d{4}(?:-\d{2}){0,2})(?:-to-(?P<end>(?:\d{4}|\d{2})(?:-\d{2}){0,2}))?(?:-log(?:-\d{1,3})?|-\d)?"
_PERIOD_NAME = r"\d{4}(?:-\d\d){0,2} to (?:\d{4}|\d\d)(?:-\d\d){0,2}(?!\w|-)"
_YEAR = r"(?:19[7-9]|20\d)\d"
_FOUR_DIGITS = r"\d\d\d\d"  # takes half as long to look for as `\d{4}`
# What every form in digits has somewhere; most texts with a number have nothing of the kind.
_JOINED = r"\d[-/.]\s?\d|\d{8}|\d\s?[年년]|Q[1-4]"
_GAP = r"(?:[^\S\n]{1,3}|[^\S\n]?\n[^\S\n]{0,3}|[-/])"
_OF = rf"(?:(?:of|de|del|di|do){_GAP})?"
# Any whole word: looking up whether it names a month is faster than a pattern of all the names.
_MONTH = r"(?<![^\W\d_])(?P<month>[^\W\d_]{3,10})(?![^\W\d_])"
_DAY_MONTH = rf"(?<![\w.,:/])(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|[.ºª°])?{_GAP}{_OF}{_MONTH}\.?"
_MONTH_DAY = rf"{_MONTH}\.?{_GAP}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\w|[.,:]\d)"
_ITS_YEAR = r"(?P<year>\d{4})(?!\d|[-/.]\d)"
_IN_DIGITS = (
    # 2026-02-08, 2026/2/8, 2026.02.08, 20260208, 2026-02. Letters before are refused, but not 于 or an underscore.
    r"(?<![0-9a-z.])(?<!\d[-/])(?P<year>\d{4})(?P<by>[-/])(?P<month>\d{1,2})(?P=by)(?P<day>\d{1,2})(?!\d|[-/]\d)",
    r"(?<![0-9a-z.])(?P<year>\d{4})\.(?P<month>\d\d)\.(?P<day>\d\d)(?!\d|\.\d)",
    rf"(?<![0-9a-z.,:/$#+])(?<!\d-)(?P<year>{_YEAR})(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d)(?!\d|[a-su-z]|[.,:-]\d)",
    r"(?<![0-9a-z.])(?<!\d[-/])(?P<year>\d{4})-(?P<month>\d\d)(?!\w|[-./:]\d)",
    # 08.02.2026, 19/02/2026
    r"(?<![\w.,:/-])(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})(?!\d|\.\d)",
    r"(?<![\w.,:/-])(?P<a>\d{1,2})(?P<by>[-/])(?P<b>\d{1,2})(?P=by)(?P<year>\d{4})(?!\d|[-/]\d)",
    # 2026年2月8日, 2026年2月, 2026年 (but 2000年前 may be two thousand years ago)
    r"(?<!\d)(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월](?:\s?(?P<day>\d{1,2})\s?[日号號일])?",
    rf"(?<!\d)(?P<year>{_YEAR})\s?[年년](?!\s?\d{{1,2}}\s?[月월]|[前间間])",
    # Q1 2026, 2026-Q1
    rf"(?<![\w.])Q(?P<quarter>[1-4])(?:\sof\s|[\s/-])?(?P<year>{_YEAR})(?!\d|[-/.]\d)",
    rf"(?<![\w.])(?P<year>{_YEAR})[\s/-]?Q(?P<quarter>[1-4])(?!\w)",
)
_WITH_A_MONTH = (
    # 8 May 2023, 8th of May, 2023, 6 de febrero de 2026, 8. Mai 2023; May 8th, 2023; May 2023
    rf"{_DAY_MONTH},?{_GAP}{_OF}{_ITS_YEAR}",
    rf"{_MONTH_DAY}(?:,{_GAP}?|{_GAP}){_ITS_YEAR}",
    rf"{_MONTH}\.?,?{_GAP}{_OF}{_ITS_YEAR}",
)
_BARE_YEAR = rf"(?<![\w.,:/#$€£-]){_YEAR}(?![\w%]|[.,:]\d|[-/–])"
_BEFORE_YEAR = (
    r"(?<!\w)(?:in|since|until|till|by|from|before|after|during|around|circa|of|for|through|early|late|mid|spring|summer"
    r"|autumn|fall|winter|year|en|desde|hasta|año|durante|em|até|ano|depuis|avant|après|l'an|année|seit|bis|ab|jahr"
    r"|nel|dal)[\s-](?:(?:the|year|el|le|o|early|late|mid|about|around)[\s-]){0,2}$"
)
_BEFORE = (
    r"(?<!\w)(?P<near>(?:days?|nights?|weeks?|weekends?|months?|years?|tage?|wochen?|wochenende|monate?|jahre?"
    r"|días?|semanas?|mes(?:es)?|años?|jours?|semaines?|mois|ans?|dias?|anos?)\s)?"
    r"(?:before|until|till|up to|bis|vor|antes|hasta|avant|jusqu['’]\w{1,2}|até)"
    r"(?:\s(?:the|end|of|zum|dem|ende|de|del|el|le|fin|o|do)(?!\w))*\s$"
)
"""What comes before a time that ends another one; what is `near`, as "the week before", is said of that time."""
_PREPOSITION = (
    r"(?<!\w)(?:in|of|on|by|since|until|till|during|from|last|next|this|early|late|mid|en|de|em|im|seit|desde)[\s-]$"
)

_WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|(?:segunda|terça|quarta|quinta|sexta)-feira|lundi|mardi|mercredi|jeudi|vendredi"
    r"|samedi|dimanche|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?)(?!\w)"
)
_WEEKDAY_CJK = r"(?:星期|礼拜|周)[一二三四五六日天]|[月火水木金土日]曜日?"
_TIME = r"\d{1,2}[:h]\d{2}(?::\d{2})?(?:\s?[ap]\.?m\.?)?(?![\w:])(?:\s(?:on|el|le|am|em|del)(?!\w))?"
_MARKS = rf"(?:\[x\]|[\W_]|{_WEEKDAY}|(?:mon|tues?|wed|thu(?:rs)?|fri|sat|sun)(?!\w)|{_WEEKDAY_CJK}|{_TIME})*+"
_LABEL = r"(?:[^\W\d_]{2,12}\s?\#?\d{1,4}|date|fecha|data|datum|timestamp|日期|时间|時間|日付)(?=[^\w\s]|\s[^\w\s])"
_SAYS = (
    r"(?:[Oo]n\s|[^\W\d_][\w.'’ -]{0,40}\s?[\[(])(?=[^:\n]{0,12}:?[^:\n]{4,60}:\s)"
    r"|[^\W\d_][\w.'’ *-]{0,40}\s?[\[(（](?=[^\])）\n]{4,50}?\d:\d\d[^\])）\n]{0,12}[\])）]\*{0,3}\s?[:：])"
)
"""What may stand before the date of what is said: `On 8 May 2023, Ana said: …`, `**Ana** [2023-05-08 10:01]: …`."""


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _near_years(text: str) -> Iterator[tuple[int, int]]:
    """The parts of `text` around four digits in a row. No other part can hold a date, and most texts have none."""
    start = end = 0
    for match in _pattern(_FOUR_DIGITS).finditer(text):
        if match.start() - 60 > end:
            if end:
                yield start, end
            start = match.start() - 60
        end = match.end() + 30
    if end:
        yield start, end


def _forms_in(text: str) -> Iterator[str]:
    """The forms of dates that `text` may have."""
    if _pattern(_JOINED).search(text):
        yield from _IN_DIGITS
    if not _MONTHS.keys().isdisjoint(_letters(text)):
        yield from _WITH_A_MONTH


def _letters(text: str) -> Sequence[str]:
    """The runs of letters in `text`, in lower case and without accents."""
    if text.isascii():
        return matcher("[a-z]+").findall(text.lower())
    return [*map(_plain, matcher(r"[^\W\d_]+").findall(text))]


def _span(year: int, month: int | None = None, day: int | None = None) -> Span | None:
    if not 1000 <= year <= 2999 or (month is not None and not 1 <= month <= 12):
        return None
    if month is None:
        return Span(date(year, 1, 1), date(year, 12, 31))
    last = (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
    if day is None:
        return Span(date(year, month, 1), date(year, month, last))
    return Span(date(year, month, day), date(year, month, day)) if 1 <= day <= last else None


def _month(word: str) -> int | None:
    return int(word) if word.isdecimal() else _MONTHS.get(_plain(word))


@lru_cache(10_000)
def _plain(word: str) -> str:
    decomposed = composed(word.casefold(), "NFD")
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def _claim(match: re.Match[str]) -> Iterator[tuple[int, int, Span | None]]:
    """The range that `match` covers and its date, or None if that date does not exist; nothing if it is not a date."""
    has = match.groupdict()
    year, span = int(match["year"]), None
    if "quarter" in has:
        first = int(match["quarter"]) * 3 - 2
        head, tail = _span(year, first), _span(year, first + 2)
        span = Span(head.start, tail.end) if head and tail else None
    elif "a" in has:
        a, b = int(match["a"]), int(match["b"])
        span = _span(year, min(a, b), max(a, b)) if a == b or max(a, b) > 12 else None
    elif "month" in has:
        if (month := _month(match["month"])) is None or _is_english(match):
            return
        span = _span(year, month, int(match["day"]) if has.get("day") else None)
    else:
        span = _span(year)
    yield match.start(), match.end(), span


def _is_english(match: re.Match[str]) -> bool:
    """Whether the "month" is an English word in an English sentence: "2 out of 3", "set 2000"."""
    return _plain(match["month"]) in _ENGLISH and not _pattern(r"\bd[eio]l?\b|/").search(match[0])


def _partial(text: str) -> Iterator[tuple[int, int, PartialDate | None]]:
    months = _MONTHS.keys() & _letters(text)
    if not ("月" in text or "월" in text or months - _ENGLISH or (months and matcher(r"\d").search(text))):
        return
    for form in (_DAY_MONTH, _MONTH_DAY, r"(?<!\d)(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日号號일]"):
        for match in _pattern(form).finditer(text):
            month, day = _month(match["month"]), int(match["day"])
            # 2024 is a leap year: 29 February is a day of no year in particular.
            if month is not None and not _is_english(match) and _span(2024, month, day):
                yield match.start(), match.end(), PartialDate(month, day)
    for match in _pattern(
        rf"{_MONTH}|(?<![\d年년])(?<![年년]\s)(?P<number>\d{{1,2}})\s?[月월](?![^\W\d_]?\d)"
    ).finditer(text):
        month = _month(match["month"] or match["number"])
        if month is not None and 1 <= month <= 12 and (match["number"] or _names_a_month(match, text)):
            yield match.start(), match.end(), PartialDate(month)


def _names_a_month(match: re.Match[str], text: str) -> bool:
    word = _plain(match["month"])
    if word in _ENGLISH:
        return False
    if word not in _DOUBTFUL and (len(word) > 4 or word in _SHORT):
        return True
    return _pattern(_PREPOSITION).search(text[max(0, match.start() - 12) : match.start()]) is not None


def _apart(claims: Iterable[tuple[int, int, T | None]]) -> Iterator[tuple[T, int, int]]:
    """Claims that do not overlap: of overlapping ones the first, and of those that start together the longest."""
    taken = 0
    for start, end, found in sorted(claims, key=lambda claim: (claim[0], -claim[1])):
        if start >= taken:
            taken = end
            if found is not None:
                yield found, start, end


def _openings(line: str) -> Iterator[str]:
    """The possible starts of `line`: without marks, without a list number, without a label before the date."""
    marks = _pattern(_MARKS)

    def bare(text: str) -> str:
        match = marks.match(text)
        return text[match.end() :] if match else text

    rest = bare(line)
    yield rest
    if number := _pattern(r"\d{1,3}[.)]\s").match(rest):
        rest = bare(rest[number.end() :])
        yield rest
    if label := _pattern(_LABEL).match(rest):
        yield bare(rest[label.end() :])
        return
    # In a dialogue the date may follow the name.
    if said := _pattern(_SAYS).match(rest):
        yield bare(rest[said.end() :])
    # Only a heading may name its subject in words before the date.
    sign = _pattern(r"\s[-–—|]\s|[:：(（\[—–|]").search(rest)
    if line.startswith("#") and sign and len(rest[: sign.start()].split()) <= 4:
        yield bare(rest[sign.end() :])
