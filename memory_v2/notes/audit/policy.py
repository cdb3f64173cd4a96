"""What counts as old or as long."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Policy:
    """From when on something is old, in days, and how long a file may be that an agent loads whole."""

    unfinished_days: int = 14
    stale_days: int = 30
    index_lines: int = 200
    index_bytes: int = 25 * 1024


POLICY = Policy()
