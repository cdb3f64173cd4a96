"""What the adapters share: how a package and a key are asked for, and how what fails becomes an error of ours."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, TypeAlias

from memory_v2.errors import InvalidSetting, ModelError

REQUEST_SECONDS = 300.0
"""How long one request may take at most; an operation's own limit is usually shorter, and holds by itself."""
MAX_OUTPUT_TOKENS = 8_192
"""The longest answer that is asked for: no decision needs more, since text is moved by numbers."""

Failure: TypeAlias = tuple[type[BaseException], str, bool]
"""An exception of an SDK: its class, what has happened in words that follow "it", whether to try again."""

NOTHING = "(nothing)"
"""What stands in the conversation for an answer without a word: no provider takes an empty one back."""
UNREADABLE = "gave no answer that can be read"
FAILED = "failed"

STATUSES: Mapping[int, tuple[str, bool]] = {
    401: ("does not accept the key", False),
    402: ("has to be paid first", False),
    403: ("does not allow this with the key", False),
    404: ("does not know the model, or is not at this address", False),
    408: ("did not answer in time", True),
    409: ("was busy with this request", True),
    413: ("does not take a request of this length", False),
    425: ("was busy with this request", True),
    429: ("is asked too often", True),
    529: ("has too much to do", True),
}
"""What an HTTP status says, whichever SDK reports it; one from 500 is the provider's own fault, others are ours."""

_KEY_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_SHORTEST_KEY = 8
"""What is shorter is no secret, but a word that a server of one's own is content with."""
_DETAIL = 200
"""Characters of what a provider says of an error."""


def require(package: str, extra: str = "") -> None:
    """Raises `InvalidSetting`, with what to do, if a package behind a model is not installed; it comes with the extra
    that is called like it, or as told."""
    if find_spec(package) is None:
        install = f"pip install 'silica-memory[{extra or package}]'"
        raise InvalidSetting(f"this model needs the package {package}, which is not installed: {install}")


def needs_key(model: str, variables: str) -> InvalidSetting:
    """The error of a model without a key."""
    return InvalidSetting(f"the model {model} needs a key: set {variables}")


def check_key(model: str, key: str | None) -> None:
    """Raises `InvalidSetting` for a key that no HTTP header can hold, such as one with the line end of its file."""
    if key is not None and not (key.isascii() and key.isprintable()):
        raise InvalidSetting(f"the key of the model {model} holds a line end, or another character that no key has")


def translated(error: Exception, table: Sequence[Failure]) -> ModelError:
    """The error as ours: by the status that the provider answered with, if it did, else by the first line of the table
    that fits the error or one that it was made of. With what the provider, or the operating system, says of it."""
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
    own_fault = ("is out of order", True) if status >= 500 else ("does not take the request", False)
    words, again = STATUSES.get(status, own_fault)
    asked = {"true": True, "false": False}.get(response.headers.get("x-should-retry"), again)
    detail = f"HTTP {status}{_said(response)}"
    return ModelError(f"it {words} ({detail})", retryable=asked, retry_after=_after(response.headers))


def read_json(body: bytes | str, *keys: str | None) -> Any:
    """What a provider sent, without our keys, which some repeat: it is kept in traces. Raises `ValueError`,
    `RecursionError`."""
    text = body.decode(json.detect_encoding(body)) if isinstance(body, bytes) else body
    for key in filter(None, keys):
        text = text.replace(key, "…")
    return json.loads(text)


def parsed_arguments(sent: object) -> tuple[Mapping[str, Any], str]:
    """The arguments of a tool call that came as text, and that text if it is no JSON object."""
    try:
        arguments = json.loads(sent) if isinstance(sent, str) else sent
    except (ValueError, RecursionError):
        arguments = None
    return (arguments, "") if isinstance(arguments, dict) else ({}, str(sent) or "nothing")


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was made of, and so on down; not further than to the failure of another model, which somebody
    may be handling."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, ModelError):
        yield link
        link = link.__cause__ or link.__context__


def _refusal(links: Sequence[BaseException]) -> Any:
    """The HTTP response in which the provider refuses. One without headers is none: LiteLLM makes such up."""
    responses = (getattr(link, "response", None) for link in links)
    return next((r for r in responses if r is not None and r.headers and r.status_code >= 400), None)


def _said(response: Any) -> str:
    """What the provider says of it where its API has a place for that, on one line and without our key, which some
    repeat."""
    try:
        body = json.loads(response.content)
        error = body.get("error") or body
        said = " ".join((error if isinstance(error, str) else error["message"]).split())
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return ""
    for header in _KEY_HEADERS:
        key = response.request.headers.get(header, "").rpartition(" ")[2]
        if len(key) >= _SHORTEST_KEY:
            said = said.replace(key, "…")
    return f": {said[:_DETAIL]}" if said else ""


def _after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a provider asks to wait: a number, or a date."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        moment = email.utils.parsedate_tz(value)
    try:
        return None if moment is None else max(0.0, email.utils.mktime_tz(moment) - time.time())
    except (ValueError, OverflowError):
        return None
