"""Keys of providers, which are hidden in what is logged, recorded or shown, and never in what is decided on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

HIDDEN = "…"
MIN_LENGTH = 8
"""The shortest key that is hidden, in characters. Shorter ones are placeholders for local servers, such as `ollama`:
words that any text may hold."""

_HEADERS = ("authorization", "x-api-key", "api-key", "x-goog-api-key")


def keys_sent(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The keys in the headers of a request."""
    return long_enough(headers.get(name, "").rpartition(" ")[2] for name in _HEADERS)


def long_enough(keys: Iterable[str | None]) -> tuple[str, ...]:
    """Those of these keys that are hidden, longest first, since a key may be part of another."""
    return tuple(sorted({key for key in keys if key and len(key) >= MIN_LENGTH}, key=lambda key: (-len(key), key)))


def hidden(value: Any, keys: Collection[str]) -> Any:
    """The same plain data without these keys. Raises `RecursionError` for data that is nested too deeply."""
    if not keys:
        return value
    if isinstance(value, str):
        for key in keys:
            value = value.replace(key, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {hidden(name, keys): hidden(part, keys) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [hidden(part, keys) for part in value]
    return value
