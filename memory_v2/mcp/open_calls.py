"""The calls that are being carried out, and those that wait for somebody's decision."""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable

from memory_v2.errors import ModelError
from memory_v2.mcp.calls import Call

MOST_KEPT = 256
"""How many calls are kept whose result nobody has fetched, because the planner has decided meanwhile."""
MAX_QUESTIONS = 24
"""How many questions may wait at once: fewer than the requests to models that a process has at work, so that agents
that never decide keep no other model waiting."""
ANYBODY = 0
"""The peer of all clients that nothing tells apart."""
GONE = "whoever was asked has gone"


class OpenCalls:
    """All calls of one server. Used in its event loop, except where it says otherwise."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Call, Hashable]] = {}
        self._at_work: dict[Hashable, Call] = {}
        self._left: dict[Hashable, Call] = {}
        """Calls whose answer nobody waits for any more. Whether they are cancelled is told later."""
        self._taught: dict[Hashable, set[Hashable]] = {}
        """The rules that each peer was shown."""
        self._is_closed = False

    def knows(self, peer: Hashable, rules: Hashable) -> bool:
        """Whether a peer was shown these rules before; from now on, it was. `ANYBODY` never was."""
        known = self._taught.setdefault(peer, set()) if peer != ANYBODY else set()
        was_shown = rules in known
        known.add(rules)
        return was_shown

    def keep(self, call: Call, peer: Hashable) -> None:
        """Keeps a call that waits for the decision of this peer."""
        self._kept[call.operation] = call, peer
        ended = [operation for operation, (one, _) in self._kept.items() if one.has_ended]
        for operation in ended[:-MOST_KEPT]:
            del self._kept[operation]

    def find(self, operation: object) -> Call | None:
        """The kept call of this operation."""
        return self._kept[operation][0] if isinstance(operation, str) and operation in self._kept else None

    def drop(self, call: Call) -> None:
        """Forgets a call whose result was told."""
        self._kept.pop(call.operation, None)

    def waiting(self) -> list[str]:
        """The operations that wait for a decision, which another request brings."""
        return [operation for operation, (call, _) in self._kept.items() if call.question is not None]

    def check_free(self) -> None:
        """Raises `ModelError` if nobody can be asked: the server ends, or too many questions wait. From any thread."""
        if self._is_closed:
            raise ModelError(GONE)
        if sum(call.question is not None for call in self._all()) >= MAX_QUESTIONS:
            raise ModelError(f"{MAX_QUESTIONS} operations wait for a decision already")

    def _all(self) -> list[Call]:
        kept = [call for call, _ in list(self._kept.values())]
        return [*kept, *list(self._at_work.values()), *list(self._left.values())]

    def begin(self, request: Hashable, call: Call) -> None:
        """A request is carried out by this call."""
        self._at_work[request] = call
        self._left = {left: one for left, one in self._left.items() if not one.has_ended}

    def end(self, request: Hashable) -> None:
        """The request is answered."""
        self._at_work.pop(request, None)

    def leave(self, request: Hashable) -> None:
        """Nobody waits for the answer to the request any more."""
        if (call := self._at_work.pop(request, None)) is not None:
            self._left[request] = call

    def is_followed(self, call: Call) -> bool:
        """Whether a request is carried out by this call."""
        return call in self._at_work.values()

    def cancel(self, request: Hashable) -> None:
        """Cancels the call of a request, if it is still carried out, without waiting for it."""
        if (call := self._at_work.get(request) or self._left.get(request)) is not None:
            threading.Thread(target=call.cancel, name="cancelling a tool call", daemon=True).start()

    def give_up(self, peer: Hashable) -> None:
        """A peer has gone: the planner decides what it was asked."""
        self._taught.pop(peer, None)
        for call, asked in self._kept.values():
            if asked == peer:
                call.answer(ModelError(GONE))

    def close(self, seconds: float) -> None:
        """The server ends: the planner decides what is open, and so many seconds are left to finish it. From any
        thread; it waits."""
        self._is_closed = True
        calls = self._all()
        for call in calls:
            call.answer(ModelError(GONE))
        until = time.monotonic() + seconds
        for call in calls:
            call.join(until - time.monotonic())
