"""What a memory is made of, checked before it is used."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from pathlib import Path
from typing import Any

from memory_v2.errors import InvalidSetting
from memory_v2.settings import MIN_THRESHOLD, Limits, is_count


def check_given(
    storage: Any,
    model: Any,
    threshold: Any,
    limits: Any,
    now: Any,
    traces: Any,
    prices: Any,
    timezone: Any,
    agent: Any,
    dense: Any,
    on_event: Any,
) -> None:
    """Raises `InvalidSetting` for the first argument of a `Memory` that it cannot use."""
    is_model = isinstance(model, str) or (hasattr(model, "respond") and hasattr(model, "name"))
    require(hasattr(storage, "state"), "storage must be a storage (Memory.open() opens a folder)", storage)
    require(is_model, "model must be the name of a model, or a model", model)
    require(is_count(threshold, MIN_THRESHOLD), f"threshold must be at least {MIN_THRESHOLD} bytes", threshold)
    require(limits is None or isinstance(limits, Limits), "limits must be Limits or None", limits)
    require(now is None or callable(now), "now must be a function that returns the time, or None", now)
    require(is_count(traces, 0), "traces must be 0 or more", traces)
    require(prices is None or isinstance(prices, Path), "prices must be a Path or None", prices)
    require(isinstance(timezone, tzinfo), "timezone must be a tzinfo, such as a zoneinfo.ZoneInfo", timezone)
    require(isinstance(agent, str), "agent must be the name of an agent", agent)
    require(isinstance(dense, bool), "dense must be True or False", dense)
    require(on_event is None or callable(on_event), "on_event must be a function or None", on_event)


def require(is_so: bool, rule: str, given: object) -> None:
    """Raises `InvalidSetting` with the rule unless it is so."""
    if not is_so:
        raise InvalidSetting(f"{rule}, not {given!r}")


def tag_list(tags: object) -> list[str]:
    """Tags that are given in any order of their own, as a list. Raises `InvalidSetting`."""
    found = list(tags) if isinstance(tags, Iterable) and not isinstance(tags, str | bytes) else None
    if found is None or not all(isinstance(tag, str) and tag.strip() for tag in found):
        raise InvalidSetting(f"tags must be a list of tags, not {tags!r}")
    return found
