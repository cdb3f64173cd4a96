"""Requests to models, each in a thread of a pool that the whole process shares.

A model may hang for ever, and nothing can stop its thread. So whoever waits can abandon a request: its thread is left
behind, and its place in the pool is free again. The threads are daemons: none of them keeps the program from ending,
which is why `concurrent.futures` does not fit, as it joins its threads at exit.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable

MAX_REQUESTS = 32
"""Requests at work at once. Providers answer a few dozen of one key's requests at a time and refuse the others, which
costs a retry; here they wait for a place instead."""
IDLE_SECONDS = 10.0
"""Seconds that a thread waits for its next request: longer than the program works between two turns of a model."""


class Request:
    """One request: `answer` is empty until `done`, then holds what the model returned or raised."""

    def __init__(self, respond: Callable[[], object], name: str) -> None:
        self.name = name
        self.answer: list[object] = []
        self.done = threading.Event()
        self._respond = respond

    def carry_out(self) -> None:
        """Asks the model, in the thread of the caller."""
        threading.current_thread().name = self.name
        try:
            self.answer.append(self._respond())
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
            self.answer.append(error)
        self.done.set()


class Pool:
    """Carries out requests, the oldest first. Threads are started when they are needed and end when they are not."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Request] = deque()
        self._at_work: set[Request] = set()
        self._idle = 0
        self._threads = 0  # those that belong to the pool: neither ended nor left behind

    def start(self, respond: Callable[[], object], name: str) -> Request:
        """Carries out a request as soon as there is a place for it."""
        request = Request(respond, name)
        with self._changed:
            self._waiting.append(request)
            self._staff()
        return request

    def abandon(self, request: Request) -> None:
        """Forgets a request that nobody waits for any more, whether it waits, is at work or is done."""
        with self._changed:
            if request in self._waiting:
                self._waiting.remove(request)
            elif request in self._at_work and not request.done.is_set():
                self._at_work.remove(request)
                self._threads -= 1
                self._staff()

    def _staff(self) -> None:
        """Sees to it that somebody takes the waiting requests, as far as there are places."""
        self._changed.notify(len(self._waiting))
        if len(self._waiting) > self._idle and self._threads < MAX_REQUESTS:
            threading.Thread(target=self._work, daemon=True).start()
            self._threads += 1

    def _work(self) -> None:
        while (request := self._next()) is not None:
            request.carry_out()
            with self._changed:
                if request not in self._at_work:
                    return  # it was left behind, and somebody else has its place
                self._at_work.remove(request)
            del request  # while the thread is idle, it keeps no conversation in memory

    def _next(self) -> Request | None:
        with self._changed:
            self._idle += 1
            threading.current_thread().name = "waiting for a request to a model"
            self._changed.wait_for(lambda: self._waiting, IDLE_SECONDS)
            self._idle -= 1
            if not self._waiting:
                self._threads -= 1
                return None
            request = self._waiting.popleft()
            self._at_work.add(request)
            return request


requests = Pool()
"""The pool of this process."""

if hasattr(os, "register_at_fork"):  # a child has the parent's pool, but none of its threads
    os.register_at_fork(after_in_child=requests.__init__)  # type: ignore[misc]
