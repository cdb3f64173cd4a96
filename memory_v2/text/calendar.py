"""Which day a moment falls on, and which day is today."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo


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
        """This calendar with a clock that stands: one moment for everything that is asked."""
        now = self.now()
        return Calendar(self.zone, lambda: now)

    @property
    def today(self) -> date:
        """The current day."""
        return self.day(self.now())


UTC_DAYS = Calendar()
"""The days of UTC, by the clock of this machine."""
