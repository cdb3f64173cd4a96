"""How much one operation may cost, and what it did cost."""

from __future__ import annotations

from dataclasses import dataclass, field

from memory_v2.models.base import Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that one loop (a write, a split, a search) may take; the first that is reached ends it. `money` is in
    US dollars."""

    turns: int = 8
    tokens: int = 200_000
    seconds: float = 120.0
    money: float = 1.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What an operation took: calls of a model, tokens, seconds from start to end, money in US dollars."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    money: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.usage + other.usage,
            self.seconds + other.seconds,
            self.money + other.money,
        )

    def over(self, limits: Limits) -> str | None:
        """Which limit is reached, in words."""
        tokens = self.usage.input_tokens + self.usage.output_tokens
        if self.calls >= limits.turns:
            return f"the limit of {limits.turns} turns was reached"
        if tokens >= limits.tokens:
            return f"the limit of {limits.tokens:,} tokens was reached"
        if self.seconds >= limits.seconds:
            return f"the limit of {limits.seconds:g} seconds was reached"
        if self.money >= limits.money:
            return f"the limit of {limits.money:g} dollars was reached"
        return None
