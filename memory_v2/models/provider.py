"""What the adapters share: requiring packages and keys, and translating a provider's failures into our errors."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

from memory_v2.errors import InvalidSetting, ModelError
from memory_v2.models.base import hidden, keys_sent

REQUEST_SECONDS = 300.0
"""Limits one request, in seconds. An operation has its own, usually shorter limit; this one ends requests that it left
behind."""
MAX_OUTPUT_TOKENS = 8_192
"""Limits one answer, in tokens. No decision needs more, because text is moved by number rather than retyped."""

Failure: TypeAlias = tuple[type[BaseException], str, bool]
"""An exception of an SDK: its class, what happened (words that follow "it"), and whether to retry."""

NOTHING = "(nothing)"
"""Replaces an empty answer in the conversation, because no provider accepts an empty message."""
UNREADABLE = "sent an unreadable answer"
FAILED = "failed"

STATUSES: Mapping[int, tuple[str, bool]] = {
    401: ("rejected the key", False),
    402: ("requires payment", False),
    403: ("does not permit this with the key", False),
    404: ("does not know the model, or is not at this address", False),
    408: ("did not answer in time", True),
    409: ("is still busy with this request", True),
    413: ("rejected the request as too long", False),
    425: ("is still busy with this request", True),
    429: ("is rate-limiting requests", True),
    529: ("is overloaded", True),
}
"""What an HTTP status means, and whether to retry. Other statuses from 500 are the provider's fault, the rest ours."""

_MAX_DETAIL = 200
"""Limits the provider's own description of an error, in characters, so that a message stays one line."""


def require(package: str, extra: str = "") -> None:
    """Raises `InvalidSetting`, with the command that installs it, if a package is missing; `extra` is the extra that
    brings it, if that has another name."""
    if find_spec(package) is None:
        install = f"pip install 'silica-memory[{extra or package}]'"
        raise InvalidSetting(f"this model needs the package {package}, which is not installed: {install}")


def needs_key(model: str, variables: str) -> InvalidSetting:
    """The error for a model without a key, naming the variables to set."""
    return InvalidSetting(f"the model {model} needs a key: set {variables}")


def check_key(model: str, key: str | None) -> None:
    """Raises `InvalidSetting` for a key that cannot be sent in an HTTP header, such as one with a trailing line
    break."""
    if key is not None and not (key.isascii() and key.isprintable()):
        raise InvalidSetting(f"the key of the model {model} contains a line break or another character that no key has")


def translated(error: Exception, table: Sequence[Failure], keys: Iterable[str] = ()) -> ModelError:
    """The error as a `ModelError`. The HTTP status decides what it means; without one, the first line of `table` that
    matches the error or one of its causes. The message quotes the provider or the operating system, without the `keys`
    and the one that was sent."""
    links = list(_chain(error))
    if (response := _refusal(links)) is None:
        words, again = next(
            ((words, again) for kind, words, again in table for link in links if isinstance(link, kind)),
            (FAILED, False),
        )
        unknown = type(error).__name__ if words == FAILED else ""
        detail = next((link.strerror for link in links if isinstance(link, OSError) and link.strerror), unknown)
        return ModelError(f"it {words} ({detail})" if detail else f"it {words}", retryable=again)
    status = response.status_code
    own_fault = ("had an internal error", True) if status >= 500 else ("rejected the request", False)
    words, again = STATUSES.get(status, own_fault)
    asked = {"true": True, "false": False}.get(response.headers.get("x-should-retry"), again)
    detail = f"HTTP {status}{_said(response, keys)}"
    return ModelError(f"it {words} ({detail})", retryable=asked, retry_after=_after(response.headers))


def read_json(body: bytes) -> Any:
    """What a provider sent, parsed, to the letter. Raises `ValueError` or `RecursionError`."""
    return json.loads(body.decode(json.detect_encoding(body)))


def parsed_arguments(sent: object) -> tuple[Mapping[str, Any], str]:
    """The arguments of a tool call, and, if they are not a JSON object, the text that was sent instead."""
    try:
        arguments = json.loads(sent) if isinstance(sent, str) else sent
    except (ValueError, RecursionError):
        arguments = None
    return (arguments, "") if isinstance(arguments, dict) else ({}, str(sent) or "nothing")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes, down to the failure of another model, which somebody may be handling."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, ModelError):
        yield link
        link = link.__cause__ or link.__context__


def _refusal(links: Sequence[BaseException]) -> Any:
    """The provider's HTTP error response, if there is one. Those without headers are made up by LiteLLM."""
    responses = (getattr(link, "response", None) for link in links)
    return next((r for r in responses if r is not None and r.headers and r.status_code >= 400), None)


def _said(response: Any, keys: Iterable[str]) -> str:
    """The error message in the provider's response, on one line and without our key, which some providers repeat."""
    try:
        body = json.loads(response.content)
        error = body.get("error") or body
        said = " ".join((error if isinstance(error, str) else error["message"]).split())
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ""
    said = hidden(said, [*keys, *keys_sent(response.request.headers)])
    return f": {said[:_MAX_DETAIL]}" if said else ""


def _after(headers: Mapping[str, str]) -> float | None:
    """How many seconds the provider asks to wait, from a number or a date."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        moment = email.utils.parsedate_tz(value)
    try:
        return None if moment is None else max(0.0, email.utils.mktime_tz(moment) - time.time())
    except (ValueError, OverflowError):
        return None
