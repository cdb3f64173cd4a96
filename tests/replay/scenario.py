"""What a scenario is: something that models decide live, and by what it is judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.replay.stage import Stage

BOTH = ("anthropic", "openai")


@dataclass(frozen=True)
class Scenario:
    """A scene: `act` has the model decide, `judge` asserts on what came of it. `stage` is made for the model, and is
    where it is played."""

    name: str
    about: str
    act: Callable[[Any], Any]
    judge: Callable[[Any, Any], None]
    wires: tuple[str, ...] = BOTH
    stage: Callable[[Any], Any] = Stage
