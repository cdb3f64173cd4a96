"""What can be set, by argument or by environment. Faces read the environment once, at their entry."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_v2.errors import InvalidSetting

DEFAULT_FOLDER = "~/.silica/memory_v2"
DEFAULT_MODEL = "offline"
DEFAULT_THRESHOLD = 10_240
LEAST_THRESHOLD = 2_048
DEFAULT_TRACES = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one operation may take of a model, the splits that follow a write included; the first that is
    reached ends its part, and the offline planner finishes. `money` is in US dollars."""

    turns: int = 16
    tokens: int = 200_000
    seconds: float = 120.0
    money: float = 1.0


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the memory is, who decides and what that may cost, the bytes that a page may have, and how many traces are
    kept. `prices` is a file with prices of your own; `now` is a moment at which time stands still, for runs that are to
    be repeated."""

    path: Path
    model: str = DEFAULT_MODEL
    threshold: int = DEFAULT_THRESHOLD
    limits: Limits = Limits()
    traces: int = DEFAULT_TRACES
    prices: Path | None = None
    now: datetime | None = None

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str], path: str | Path | None = None, model: str | None = None
    ) -> Settings:
        """Arguments, else `SILICA_MEMORY_PATH`, `_MODEL`, `_SIZE_THRESHOLD`, `_LIMITS`, `_TRACES`, `_PRICES`, `_NOW`,
        else the defaults. An empty variable is as none. Raises `InvalidSetting`."""
        folder = str(path) if path is not None else environment.get("SILICA_MEMORY_PATH") or DEFAULT_FOLDER
        prices = environment.get("SILICA_MEMORY_PRICES")
        return cls(
            path=file_path(folder, "the memory's folder"),
            model=model or environment.get("SILICA_MEMORY_MODEL") or DEFAULT_MODEL,
            threshold=_count(environment, "SILICA_MEMORY_SIZE_THRESHOLD", DEFAULT_THRESHOLD, LEAST_THRESHOLD, "bytes"),
            limits=_limits(environment.get("SILICA_MEMORY_LIMITS") or ""),
            traces=_count(environment, "SILICA_MEMORY_TRACES", DEFAULT_TRACES, 0, "traces to keep"),
            prices=file_path(prices, "the file of prices") if prices else None,
            now=_moment(environment.get("SILICA_MEMORY_NOW") or ""),
        )


def file_path(text: str, what: str) -> Path:
    """The path that somebody gave, with `~` as their home. Raises `InvalidSetting`, naming `what` it is."""
    if not text or "\0" in text:
        raise InvalidSetting(f"{what} cannot be an empty path, nor hold a NUL")
    try:
        return Path(text).expanduser()
    except RuntimeError as error:
        raise InvalidSetting(f"{what} {text!r} names a home that is not known") from error


def is_count(value: object, least: int) -> bool:
    """Whether something given from outside is a whole number of at least so much."""
    return isinstance(value, int) and value >= least


def _count(environment: Mapping[str, str], variable: str, default: int, least: int, unit: str) -> int:
    text = environment.get(variable) or str(default)
    try:
        count = int(text)
    except ValueError as error:
        raise InvalidSetting(f"{variable} is a number of {unit}, not {text!r}") from error
    if count < least:
        raise InvalidSetting(f"{variable} is at least {least} {unit}, not {count}")
    return count


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text) if text else None
    except ValueError as error:
        raise InvalidSetting(f"SILICA_MEMORY_NOW is a moment such as 2026-05-04T09:30:00Z, not {text!r}") from error
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _limits(text: str) -> Limits:
    """`turns=8,money=0.05`: what is not named stays at its default."""
    known = {limit.name: limit.default for limit in fields(Limits)}
    given: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, amount = (piece.strip() for piece in part.partition("="))
        try:
            value = float(amount) if isinstance(known[name], float) else int(amount)
        except (KeyError, ValueError) as error:
            raise InvalidSetting(
                f"SILICA_MEMORY_LIMITS is a list such as 'turns=8,tokens=50000,seconds=60,money=0.05', not {part!r}"
            ) from error
        if not value >= 0 or math.isinf(value):
            raise InvalidSetting(f"SILICA_MEMORY_LIMITS: a limit is a number from 0, not {part!r}")
        given[name] = value
    return Limits(**given)
