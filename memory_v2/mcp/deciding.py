"""Who decides for a call: the configured model, the planner, the connected agent, or the client's model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memory_v2.errors import ModelError
from memory_v2.mcp.calls import Call
from memory_v2.mcp.host import DECIDED_BY_HOST, check_length
from memory_v2.mcp.start import Way
from memory_v2.memory import Memory
from memory_v2.models.asked import AskedModel, Question

NO_SAMPLING = "the client offers no sampling with tools: start the server with --decide host, or with --model"


@dataclass(frozen=True, slots=True)
class Client:
    """The connected client, as it calls itself, and whether its model can be asked."""

    name: str
    offers_sampling: bool


@dataclass(frozen=True, slots=True)
class Deciding:
    """The way of deciding, and how many seconds to `wait` for somebody else. `check_free` raises `ModelError` if nobody
    can be asked now."""

    way: Way
    wait: float
    check_free: Callable[[], object]

    def memory_for(self, memory: Memory, tool: str, call: Call, client: Client) -> Memory:
        """The memory with the model that decides for this call."""
        if self.way != "sampling" and not (self.way == "host" and tool in DECIDED_BY_HOST):
            return memory

        def ask(question: Question) -> None:
            if self.way == "sampling" and not client.offers_sampling:
                raise ModelError(NO_SAMPLING)
            if self.way == "host":
                check_length(question)
            self.check_free()
            call.ask(question)

        name = f"{self.way}:{client.name}" if client.name else self.way
        return memory.with_model(AskedModel(name, ask, self.wait), self.wait)
