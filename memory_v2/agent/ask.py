"""Asking a model once: for as long as there is time, and again where that may help."""

from __future__ import annotations

import logging
import threading
from typing import Any

from memory_v2.agent.operation import Operation
from memory_v2.errors import ModelError, UsageError
from memory_v2.models.base import Conversation, Model, Reply

logger = logging.getLogger(__name__)

TRIES = 4
FIRST_WAIT = 0.5
MAX_WAIT = 8.0
MAX_RETRY_AFTER = 60.0
"""Seconds: a provider that asks for more patience than this is taken to be gone."""


def ask(model: Model, conversation: Conversation, operation: Operation) -> Reply:
    """The model's answer. A failure that may pass is waited for, longer each time, within the seconds that the run has
    left; a model that does not answer within them is left behind. Raises `ModelError`, and `UsageError` for a model
    that is set up wrongly."""
    for number in range(TRIES):
        try:
            return _answer(model, conversation, operation)
        except ModelError as error:
            operation.trace.add("failed", error=str(error), retryable=error.retryable)
            wait = _wait(error, number, operation)
            if not error.retryable or number + 1 == TRIES or wait is None:
                raise
            operation.sleep(wait)
    raise AssertionError("the last try returns or raises")


def _wait(error: ModelError, number: int, operation: Operation) -> float | None:
    """Seconds until the next try; none if there is no time for one."""
    wait: float = min(MAX_WAIT, FIRST_WAIT * 2**number) * (0.75 + operation.chance() / 2)
    if error.retry_after is not None:
        if error.retry_after > MAX_RETRY_AFTER:
            return None
        wait = max(wait, error.retry_after)
    return wait if wait < operation.seconds_left else None


def _answer(model: Model, conversation: Conversation, operation: Operation) -> Reply:
    """What the model answers, in a thread that is left behind when the time is over: nothing else stops a model that
    never returns."""
    answer: list[Any] = []

    def respond() -> None:
        try:
            answer.append(model.respond(conversation))
        except BaseException as error:  # noqa: BLE001 - handed over to the thread that waits
            answer.append(error)

    thread = threading.Thread(target=respond, name=f"asking {model.name}", daemon=True)
    thread.start()
    thread.join(min(max(operation.seconds_left, 0.0), threading.TIMEOUT_MAX))
    if not answer:
        raise ModelError(f"there was no answer within the limit of {operation.limits.seconds:g} seconds")
    return checked(answer[0])


def checked(answer: object) -> Reply:
    """The answer, if it is one: models of other people's make may not keep to their types. Raises what went wrong."""
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
