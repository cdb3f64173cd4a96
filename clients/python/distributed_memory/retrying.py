"""When a request is repeated, and after how long."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from distributed_memory.errors import MemoryClientError, NotConnected, RateLimited, ServiceError, service_error
from distributed_memory.wire import IO, Answer, Request

TEMPORARY = frozenset({429, 500, 502, 503, 504})
IN_PROGRESS = "IDEMPOTENCY_KEY_IN_PROGRESS"
"""The code of a conflict that ends by itself: the same write is being carried out."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often and how patiently a request is repeated; all times in seconds.

    The wait before repetition n is random, up to `first * 2**n` and at most `longest`: clients that lost the service
    together do not come back together. What the service asks for by Retry-After is waited for in full, unless it is
    longer than `patience`; then the error is raised at once.
    """

    times: int = 4
    first: float = 0.5
    longest: float = 8.0
    patience: float = 60.0
    random: Callable[[], float] = random.random
    now: Callable[[], float] = time.time

    def wait(self, attempt: int, asked: float = 0.0) -> float:
        """Seconds to wait after this attempt, the first of which is 0."""
        return asked + self.random() * float(min(self.longest, self.first * 2**attempt))

    async def exchange(self, io: IO, request: Request) -> Answer:
        """The answer to a request, which is repeated while that may help. Raises `ServiceError` and `NotConnected`."""
        uncertain = False
        failure: MemoryClientError
        for attempt in range(self.times + 1):
            asked = 0.0
            try:
                answer = await io.send(request)
            except NotConnected as error:
                failure = error
            else:
                if answer.status < 400:
                    return answer
                asked = self.asked_wait(answer)
                failure = _failure(answer, asked)
            uncertain = failure.uncertain = uncertain or failure.uncertain
            if attempt == self.times or asked > self.patience or not _is_temporary(failure):
                raise failure
            await io.sleep(self.wait(attempt, asked))
        raise AssertionError("the last attempt returns or raises")

    def asked_wait(self, answer: Answer) -> float:
        """Seconds that Retry-After asks for: a number, or a moment."""
        text = answer.headers.get("retry-after", "")
        if text.isdigit():
            return float(text)
        try:
            return max(0.0, parsedate_to_datetime(text).timestamp() - self.now())
        except ValueError:
            return 0.0


def _failure(answer: Answer, asked: float) -> ServiceError:
    error = service_error(answer.status, answer.document)
    error.uncertain = answer.status >= 500
    if isinstance(error, RateLimited):
        error.retry_after = asked
    return error


def _is_temporary(failure: MemoryClientError) -> bool:
    if isinstance(failure, ServiceError):
        return failure.status in TEMPORARY or failure.code == IN_PROGRESS
    return True
