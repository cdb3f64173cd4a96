"""Sending one request to a model, with retries, within the operation's time limit."""

from __future__ import annotations

import logging
from functools import partial

from memory_v2.agent.operation import Operation
from memory_v2.agent.requests import requests
from memory_v2.errors import ModelError, UsageError
from memory_v2.models.base import Conversation, Model, Reply
from memory_v2.progress import tell_progress

logger = logging.getLogger(__name__)

TRIES = 4
"""How often a request is sent before its failure counts."""
FIRST_WAIT = 0.5
"""The pause before the first retry, in seconds; it doubles with each retry."""
MAX_WAIT = 8.0
"""The longest such pause, in seconds."""
LOAD_SECONDS = 60.0
"""How long loading a model's SDK may take, in seconds, before the request is sent all the same. Slow disks take ten."""
MAX_RETRY_AFTER = 60.0
"""The longest `retry-after` of a provider that is respected, in seconds. With a longer one the request fails."""


def ask(model: Model, conversation: Conversation, operation: Operation) -> Reply:
    """Returns the model's reply. Retryable failures are retried with growing pauses, within the operation's time limit.
    Raises `ModelError`, also if the time is over, `Cancelled`, and `UsageError` if the model is set up wrongly. The
    time that it takes to load the model's SDK does not count."""
    _prepare(model, operation)
    for number in range(TRIES):
        tell_progress("requests sent", operation.cost.calls + 1)
        try:
            return _answer(model, conversation, operation)
        except ModelError as error:
            operation.trace.add("failed", error=str(error), retryable=error.retryable)
            wait = _wait(error, number, operation)
            if not error.retryable or number + 1 == TRIES or wait is None:
                raise
            operation.pause(wait)
    raise AssertionError("the last try returns or raises")


def _prepare(model: Model, operation: Operation) -> None:
    if (prepare := getattr(model, "prepare", None)) is None:
        return
    with operation.uncounted():
        request = requests.start(prepare, f"loading {model.name}")
        try:
            operation.cancellation.wait(request.done, LOAD_SECONDS)
        finally:
            requests.abandon(request)
    if request.answer and isinstance(request.answer[0], BaseException):
        checked(request.answer[0])


def _wait(error: ModelError, number: int, operation: Operation) -> float | None:
    """The seconds until the next try; `None` if there is no time for one."""
    wait: float = min(MAX_WAIT, FIRST_WAIT * 2**number) * (0.75 + operation.chance() / 2)
    if error.retry_after is not None:
        if error.retry_after > MAX_RETRY_AFTER:
            return None
        wait = max(wait, error.retry_after)
    return wait if wait < operation.seconds_left else None


def _answer(model: Model, conversation: Conversation, operation: Operation) -> Reply:
    """What the model answers. The request is abandoned when the time is over or the operation is cancelled; the time
    that it waits for others' requests counts."""
    request = requests.start(partial(model.respond, conversation), f"asking {model.name}")
    try:
        operation.cancellation.wait(request.done, operation.seconds_left)
    finally:
        requests.abandon(request)
    if not request.answer:
        raise ModelError(f"there was no answer within the limit of {operation.limits.seconds:g} seconds")
    return checked(request.answer[0])


def checked(answer: object) -> Reply:
    """Returns the reply if it is well formed, since custom models may return anything. Raises the model's error."""
    if isinstance(answer, ModelError | UsageError):
        raise answer
    if isinstance(answer, Exception):
        logger.error("the model broke down", exc_info=answer)
        raise ModelError("it broke down") from answer
    if isinstance(answer, BaseException):
        raise answer
    if not isinstance(answer, Reply) or not answer.is_well_formed:
        raise ModelError("it answered with something that is no reply")
    return answer
