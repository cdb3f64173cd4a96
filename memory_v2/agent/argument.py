"""What a model is told about an argument of a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Argument:
    """What a model is told about an argument, and what is checked in the arguments of a model: the length of a text or
    a list, the range of a number. `told` is told in the schema besides, and not checked."""

    description: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    ge: float | None = None
    le: float | None = None
    told: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToldAs:
    """The only type of an argument of several types that the schema mentions."""

    type: str
