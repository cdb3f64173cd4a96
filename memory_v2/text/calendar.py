"""Days as they are written, which day a moment falls on, and which day is today."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo

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
