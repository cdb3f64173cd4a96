"""How much an entry still counts: a pure function of what is stored and of now.

    none           1
    linear-30d     max(0, 1 - age / 30)
    exponential-30d  2 ** (-age / 30)
    ttl-30d        1 before the 30th day of its age, then 0

No weight is ever written back, so asking twice, or ageing twice, changes nothing. An entry expires when its weight is
0, or below 0.05 on the exponential curve, which never gets there.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from memory_v2.entries.entry import Decay, Entry
from memory_v2.text.days import Calendar

FADED = 0.05
"""An exponential weight below this has expired: after 4.3 times its days."""
_DAY = timedelta(days=1)


def age(entry: Entry, calendar: Calendar) -> float:
    """The age of an entry in days, negative if it is of the future. A day becomes a day older at midnight of the
    calendar's zone; a moment grows older all the time, in every zone alike."""
    observed = entry.observed_at
    if isinstance(observed, datetime):
        return (calendar.now() - observed) / _DAY
    return float((calendar.today - observed).days)


def weight(entry: Entry, calendar: Calendar) -> float:
    """How much an entry counts now, from 0 to 1. One of the future counts in full."""
    return weight_at(entry.decay, age(entry, calendar))


def weight_at(decay: Decay, days: float) -> float:
    """The weight at an age in days. A policy over no days at all is none: nothing expires by a slip of the pen."""
    if decay.kind == "none" or not (decay.days > 0 and math.isfinite(decay.days)) or days <= 0:
        return 1.0
    if decay.kind == "linear":
        return max(0.0, 1 - days / decay.days)
    if decay.kind == "exponential":
        return 2 ** (-min(days / decay.days, 1000.0))  # beyond that a float is 0 anyway
    return 1.0 if days < decay.days else 0.0


def has_expired(decay: Decay, days: float) -> bool:
    """Whether an entry of this age has expired."""
    weight = weight_at(decay, days)
    return weight < FADED if decay.kind == "exponential" else weight == 0
