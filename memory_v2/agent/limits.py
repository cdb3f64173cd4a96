"""The cost of one operation, and its limits."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from memory_v2.models.base import Usage
from memory_v2.settings import Limits


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an operation: model calls, tokens, seconds from start to end, and US dollars (`None` if the price of
    a call is unknown). `is_estimate` if a provider told no usage, so that tokens and dollars are partly estimated."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    money: float | None = 0.0
    is_estimate: bool = False

    def __add__(self, other: Cost) -> Cost:
        """The cost of both."""
        money = None if self.money is None or other.money is None else self.money + other.money
        seconds, is_estimate = self.seconds + other.seconds, self.is_estimate or other.is_estimate
        return Cost(self.calls + other.calls, self.usage + other.usage, seconds, money, is_estimate)

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it: the tokens beside the calls, seconds to the microsecond; `is_estimate` if so."""
        tokens = asdict(self.usage)
        cost = {"calls": self.calls, **tokens, "seconds": round(self.seconds, 6), "money": self.money}
        return cost | ({"is_estimate": True} if self.is_estimate else {})

    def over(self, limits: Limits) -> str | None:
        """The first limit that is reached, in words; `None` if none is. An unknown price reaches no limit."""
        tokens = self.usage.input_tokens + self.usage.output_tokens
        if self.calls >= limits.turns:
            return f"the limit of {limits.turns} turns was reached"
        if tokens >= limits.tokens:
            return f"the limit of {limits.tokens:,} tokens was reached"
        if self.seconds >= limits.seconds:
            return f"the limit of {limits.seconds:g} seconds was reached"
        if self.money is not None and self.money >= limits.money:
            return f"the limit of {limits.money:g} dollars was reached"
        return None


__all__ = ["Cost", "Limits"]
