"""Days: as they are written, on which one a moment falls, and which one is today; the day that a text gives as its own,
on which it was said; and the days that a question names by how far they are from today: `yesterday`, `last week`,
`letzten Dienstag`.

Other days in a text are what it speaks of. What may be another word names no day: German `morgen` and `hier`, and
`today`, which mostly means `now`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache

from memory_v2.text.dates import MONTHS, Span, find_dates, is_month, leading_date
from memory_v2.text.lists import happened, stopwords
from memory_v2.text.words import matcher, unaccented, words

DAY = r"\d{4}-\d\d-\d\d"
"""A day as ISO 8601 writes it, for patterns."""
DAY_OR_MONTH = r"\d{4}-\d\d(?:-\d\d)?"
STAMP = rf"{DAY}(?:[T ]\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
"""A day, perhaps with a time and its zone."""
FIRST_YEAR, LAST_YEAR = 1900, 2999
"""The years of a day on which something was said: other numbers of this form are no days, or slips."""
_NAMED_DAY = re.compile(r"(?<![^\W_])(\d{4})([-_./]?)(\d\d)\2(\d\d)(?!\d|\2\d)")


def iso_day(text: str | None) -> date | None:
    """The day that is written as 2026-02-03; `None` for anything else."""
    return _day(*text.split("-")) if text and re.fullmatch(DAY, text) else None


def named_day(name: str) -> date | None:
    """The day in the name of a file or of another source: `memory/2026-02-03.md`, `2026_02_03-standup.md`,
    `20260203.md`. A day in the last part of the name comes first; of several days there, none counts."""
    *_, last = name.rstrip("/").rpartition("/")
    for part in (last, name):
        if days := {day for found in _NAMED_DAY.finditer(part) if (day := _day(found[1], found[3], found[4]))}:
            return days.pop() if len(days) == 1 else None
    return None


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day)) if FIRST_YEAR <= int(year) <= LAST_YEAR else None
    except ValueError:
        return None


def utc_now() -> datetime:
    """The current time in UTC."""
    return datetime.now(UTC)


def days_before(day: date, days: int) -> date:
    """The day so many days before; the first of all days if it would be earlier."""
    return date.fromordinal(max(1, day.toordinal() - days))


@dataclass(frozen=True)
class Calendar:
    """A time zone and a clock: everything that turns moments into days asks the same one."""

    zone: tzinfo = UTC
    now: Callable[[], datetime] = utc_now

    def day(self, moment: datetime) -> date:
        """The day of a moment in this time zone."""
        try:
            return moment.astimezone(self.zone).date()
        except (OverflowError, ValueError):  # at either end of time
            return moment.date()

    def written(self, day: date | str | None) -> str | None:
        """A day or a moment as 2026-02-03; what is a text or nothing stays as it is."""
        if isinstance(day, datetime) and day.tzinfo:
            day = self.day(day)
        return day.isoformat()[:10] if isinstance(day, date) else day

    def stopped(self) -> Calendar:
        """This calendar with a stopped clock: one moment for everything that is asked."""
        now = self.now()
        return Calendar(self.zone, lambda: now)

    @property
    def today(self) -> date:
        """The current day."""
        return self.day(self.now())


UTC_DAYS = Calendar()
"""The days of UTC, by the clock of this machine."""


_MARKER = r"[ \t]{0,3}(?:>[ \t]?)*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
_AT_END = r"[\s.,;:)\]）*_!]*"
_SET_OFF = r"(?:[(\[（—–·|]|\s--?)[\s*_]*$"

_FORMER = (
    r"(?<!\w)[(\[（]?(?:before|previously|formerly|antes|anteriormente|avant|auparavant|vorher|früher|zuvor|prima|以前|之前|此前)"
    r"(?:\s+that)?\s?[:：][^\n]*?(?:[)\]）]|$)"
)
_TO_COME = (
    r"(?<!\w)(?:deadlines?|due|expir\w*|valid\w*|appointments?|frist\w*|fällig\w*|gültig\w*|termine?|plazo|vence\w*"
    r"|caduca\w*|válid\w*|cita|prazo|échéance|valable|rendez-vous|scadenza|scade)(?!\w)|到期|截止|有效|期限|预约"
)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def newest_part(text: str) -> str:
    """The text without what it says was so before: `(before: Node 20 since 2025-01-10)`."""
    return _compiled(_FORMER).sub("", text) if ":" in text or "：" in text else text


def unmarked(text: str) -> str:
    """The text without the marker of a list or a quote at its start."""
    return text[found.end() :] if (found := matcher(_MARKER).match(text)) else text


def last_date(text: str) -> tuple[Span, str] | None:
    """The date that ends a text, and the end of the text before it."""
    last = text.rsplit("\n", 1)[-1][-120:]
    found = (pair for pair in reversed(find_dates(last)) if matcher(_AT_END).fullmatch(last, pair[2]))
    return next(((span, last[:start]) for span, start, _ in found), None)


def own_day(text: str, is_speech: bool = False) -> Span | None:
    """The day that a text begins with, as a line of a log does, or that is set off at its end: `… (2026-02-03)`. A
    deadline, "valid until 2026-02-03" and "(before: Node 20 since 2025-01-10)" are not when it was said; nor is any
    date at the end of speech. The rows of a table have one each."""
    newest = newest_part(text).rstrip()
    if newest.startswith("|") and "\n" in newest:
        return None
    if found := leading_date(unmarked(newest)):
        return found
    if is_speech or not (last := last_date(newest)):
        return None
    span, ahead = last
    return span if matcher(_SET_OFF).search(ahead) and not speaks_of_what_comes(ahead) else None


def heading_day(words: str) -> Span | None:
    """The day that a heading gives to the text below it."""
    found = find_dates(newest_part(words))
    return found[0][0] if found and not speaks_of_what_comes(words) else None


def speaks_of_what_comes(text: str) -> bool:
    """Whether a text is about a deadline, an appointment, or how long something is valid."""
    return _compiled(_TO_COME).search(text) is not None


def asks_for_days_alone(query: str) -> bool:
    """Whether a question that names days asks for nothing else: `What happened on November 8?`. A month alone may be a
    word that is looked for."""
    asked = words(query)
    return any(word[0].isdigit() for word in asked) and all(
        word in stopwords() or word in happened() or word[0].isdigit() or is_month(unaccented(word)) for word in asked
    )


def spoken_of(span: Span) -> str:
    """A span for people to read: `2026-03-01`, `Mar 2026`, `2026`, `2026-03-01 to 2026-03-09`."""
    start, end = span.start, span.end
    if start == end:
        return start.isoformat()
    if (start.month, start.day, end.month, end.day) == (1, 1, 12, 31) and start.year == end.year:
        return str(start.year)
    if span.granularity == "month" and start.day == 1 and (end + timedelta(days=1)).day == 1:
        return f"{MONTHS[start.month - 1][:3]} {start.year}"
    return f"{start} to {end}"


_DAYS = {
    -2: "(?:the )?day before yesterday|vorgestern|anteayer|avant-hier|anteontem|前天",
    -1: "yesterday|gestern|ayer|ontem|昨[天日]",
    1: "tomorrow|demain|amanha|明[天日]",
}
_TODAY = r"(?<!\w)(?:today|heute|hoy|hoje|aujourd['’]hui)(?!\w)|今[天日]"
"""Words that a question has for now, and so names no day by."""
_DAY, _WEEKEND, _WEEK, _MONTH, _YEAR = range(7, 12)
_UNITS = {
    0: "monday|montag|lunes|segunda(?:-feira)?|lundi|(?:星期|周|礼拜)一",
    1: "tuesday|dienstag|martes|terca(?:-feira)?|mardi|(?:星期|周|礼拜)二",
    2: "wednesday|mittwoch|miercoles|quarta(?:-feira)?|mercredi|(?:星期|周|礼拜)三",
    3: "thursday|donnerstag|jueves|quinta(?:-feira)?|jeudi|(?:星期|周|礼拜)四",
    4: "friday|freitag|viernes|sexta(?:-feira)?|vendredi|(?:星期|周|礼拜)五",
    5: "saturday|samstag|sonnabend|sabado|samedi|(?:星期|周|礼拜)六",
    6: "sunday|sonntag|domingo|dimanche|(?:星期|周|礼拜)[日天]",
    _WEEKEND: "weekends?|wochenende|fin de semana|week-end|周末",
    _WEEK: "weeks?|wochen?|semanas?|semaines?|周|星期|礼拜",
    _MONTH: "months?|monat(?:en?|s)?|mes(?:es)?|mois|月",
    _YEAR: "years?|jahr(?:en?|es)?|anos?|ans?|annees?|年",
}
"""The days of the week by their numbers, and units of time that one can be in."""
_COUNTED = {_DAY: "days?|tag(?:en?)?|dias?|jours?|天", **{unit: _UNITS[unit] for unit in (_WEEK, _MONTH, _YEAR)}}
"""The units in which one counts back from today."""
_BEFORE = {
    -1: "last|past|previous|(?:letzt|vorig|vergangen)e[nrsm]?|ultim[oa]|[上去]个?",
    0: "this|diese[nrsm]?|n?est[ea]|cette|[这本今]个?",
    1: "next|(?:nachst|kommend)e[nrsm]?|proxim[oa]|[下明]个?",
}
"""What says, in front of one of them, which one is meant."""
_AFTER = {-1: "pasad[oa]|passad[oa]|derni(?:er|ere)", 1: "prochaine?|que vi?ene"}
"""The same behind it."""
_COUNTS = {
    1: "an?|one|eine[rmn]?|un[ao]?|une|um|一",
    2: "two|zwei|dos|deux|dois|duas|两",
    3: "three|drei|tres|trois|三",
    4: "four|vier|cuatro|quatre|quatro|四",
    5: "five|funf|cinco|cinq|五",
    6: "six|sechs|seis|六",
}
_LONGEST = 4000
"""How many characters of a question are looked through."""


def relative_days(query: str, today: date) -> list[Span]:
    """The days that `query` names relative to today: in English, German, Spanish, French, Portuguese and Chinese.
    Weeks begin on Monday; `last Tuesday` is the newest one before today, and `two weeks ago` all of that week."""
    plain, found = unaccented(query[:_LONGEST]), list[Span]()
    for match in _pattern().finditer(plain):
        with suppress(OverflowError, ValueError):  # at either end of time
            found.append(_span(match, today))
    return found


def without_relative_days(text: str) -> str:
    """The text on one line, without the days that it names relative to the one on which it was said."""
    unmarked = unaccented(text)
    for pattern in (_pattern(), matcher(_TODAY)) if len(unmarked) == len(text) else ():
        for match in reversed([*pattern.finditer(unmarked)]):
            text, unmarked = (each[: match.start()] + each[match.end() :] for each in (text, unmarked))
    return " ".join(text.split())


def _span(match: re.Match[str], today: date) -> Span:
    if match["day"]:
        return _moved(_DAY, _meant(_DAYS, match["day"]), today)
    named = next(filter(None, match.group("unit", "unit_first", "unit_ago", "unit_back")))
    unit = _meant(_UNITS | _COUNTED, named)
    if count := match["ago"] or match["back"]:
        return _moved(unit, -(int(count) if count.isdecimal() else _meant(_COUNTS, count)), today)
    steps = _meant(_BEFORE, match["before"]) if match["before"] else _meant(_AFTER, match["after"])
    if unit >= _DAY:
        return _moved(unit, steps, today)
    if named.isascii():  # the newest one before today, or the next one from today on
        days = (unit - today.weekday()) % 7
        return _days(today + timedelta(days=days - 7 if steps < 0 else days))
    return _days(_moved(_WEEK, steps, today).start + timedelta(days=unit))  # 上周二: of the week before


def _moved(unit: int, steps: int, today: date) -> Span:
    """The day, week, month or year so many steps from that of today."""
    monday = today - timedelta(days=today.weekday())
    if unit == _DAY:
        return _days(today + timedelta(days=steps))
    if unit in (_WEEK, _WEEKEND):
        first = monday + timedelta(weeks=steps)
        return _days(first + timedelta(days=5), 2) if unit == _WEEKEND else _days(first, 7)
    if unit == _YEAR:
        return Span(date(today.year + steps, 1, 1), date(today.year + steps, 12, 31))
    months = today.year * 12 + today.month - 1 + steps
    first, following = (date(month // 12, month % 12 + 1, 1) for month in (months, months + 1))
    return Span(first, following - timedelta(days=1))


def _days(first: date, count: int = 1) -> Span:
    return Span(first, first + timedelta(days=count - 1))


def _meant(names: Mapping[int, str], word: str) -> int:
    return next(key for key, pattern in names.items() if re.fullmatch(pattern, word))


@cache
def _pattern() -> re.Pattern[str]:
    listed: tuple[Mapping[int, str], ...] = (_DAYS, _UNITS, _COUNTED, _BEFORE, _AFTER, _COUNTS)
    days, units, counted, before, after, counts = ("|".join(names.values()) for names in listed)
    count = rf"\d{{1,3}}|{counts}"
    # Chinese has no blanks between words.
    start, end = r"(?:(?<![a-z\d])(?=[a-z\d])|(?=[^\x00-\x7f]))", r"(?:(?<=[a-z\d])(?![\w-])|(?<=[^\x00-\x7f]))"
    return re.compile(
        rf"{start}(?:(?P<day>{days})"
        rf"|(?:vor|hace|il y a|ha) (?P<ago>{count}) (?P<unit_ago>{counted})"
        rf"|(?P<back>{count}) ?个?(?P<unit_back>{counted})(?: ago|前)"
        rf"|(?P<before>{before}) ?(?P<unit>{units})(?! (?:of|in|before|after)\b)"
        rf"|(?P<unit_first>{units}) (?P<after>{after})){end}"
    )
