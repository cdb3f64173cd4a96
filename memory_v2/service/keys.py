"""API keys: `dm_<id>_<secret>`, of which only a SHA-256 digest is stored.

A secret of 256 random bits cannot be guessed, so a slow hash would protect nothing and cost each request.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import re
from collections.abc import Mapping
from typing import Any

from memory_v2.service.access import Caller
from memory_v2.service.limits import LimiterInMemory, Taken
from memory_v2.service.models import NAME_PATTERN
from memory_v2.service.problem import Problem
from memory_v2.service.store import Store

DEFAULT_TENANT = "default"
FRESH_SECONDS = 1.0
"""How long a process believes what it has read of a key, in seconds: a revoked one is refused everywhere after that."""
MOST_REMEMBERED = 20_000
WRONG_A_MINUTE = 100
"""Wrong keys from one address in a minute. More are refused without asking the store, so that a flood of them costs
little; a key that this process knows is admitted from everywhere."""
SEPARATOR = "_"
_NAME = re.compile(NAME_PATTERN)


class Keys:
    """Finds the caller for a key. What it remembers is bounded and short-lived; of wrong keys it is their number."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._seen: dict[str, tuple[float, dict[str, Any]]] = {}
        self._wrong = LimiterInMemory(store.now)

    def remembered(self, key_id: str) -> bool:
        """Whether what is remembered of a key, which counts, is still believed."""
        seen = self._seen.get(key_id)
        return seen is not None and seen[0] + FRESH_SECONDS > self._store.now()

    def require_trust(self, key_id: str, address: str) -> None:
        """Raises `Problem` for a key that is not known here, from an address that has sent too many wrong ones."""
        if key_id and key_id not in self._seen:
            _require(self._wrong.left(address, WRONG_A_MINUTE))

    def count_wrong(self, address: str) -> None:
        """Counts a wrong key. Raises `Problem` if it is one too many."""
        _require(self._wrong.count(address, WRONG_A_MINUTE))

    def find(self, token: str, source: str | None = None) -> Caller:
        """The caller, who speaks for `source`, or for the key's first source. Raises `Problem`."""
        row = self._row(key_id_of(token))
        digest = hashlib.sha256(token.encode()).hexdigest()
        if row is None or not hmac.compare_digest(row["digest"], digest):
            raise Problem("UNAUTHENTICATED", headers={"WWW-Authenticate": "Bearer"})
        return self._caller(row, source)

    def caller(self, key_id: str, source: str) -> Caller:
        """The caller for a key that was checked before. Raises `Problem` if it counts no more."""
        row = self._row(key_id)
        if row is None:
            raise Problem("UNAUTHENTICATED")
        return self._caller(row, source)

    def _caller(self, row: Mapping[str, Any], source: str | None) -> Caller:
        allowed = row["sources"]
        if source is None:
            source = row["id"] if allowed[0] == "*" else allowed[0]
        if not _NAME.fullmatch(source) or len(source) > 255:
            raise Problem("VALIDATION_FAILED", "X-Memory-Source is not a name", pattern=NAME_PATTERN)
        if source not in allowed and "*" not in allowed:
            raise Problem("PERMISSION_DENIED", "the key does not speak for this source", source=source)
        return Caller(row["id"], row["tenant"], source, frozenset(row["scopes"]), row["tier"])

    def is_valid(self, caller: Caller) -> bool:
        """Whether the key of a caller still counts."""
        return self._row(caller.key_id) is not None

    def forget(self, key_id: str) -> None:
        """Reads a key anew the next time."""
        self._seen.pop(key_id, None)

    def _row(self, key_id: str) -> Mapping[str, Any] | None:
        now = self._store.now()
        seen = self._seen.get(key_id)
        if seen is None or seen[0] + FRESH_SECONDS <= now:
            row = self._store.find_key(key_id) if key_id else None
            if row is None:
                self.forget(key_id)
                return None
            if len(self._seen) >= MOST_REMEMBERED:
                self._seen.pop(next(iter(self._seen)))
            seen = self._seen[key_id] = (now, row)
        row = seen[1]
        ended = row["revoked_at"] is not None or (row["expires_at"] or now + 1) <= now
        return None if ended else row


def _require(taken: Taken) -> None:
    if not taken.allowed:
        seconds = max(1, math.ceil(taken.reset))
        told = "too many wrong keys from this address"
        raise Problem("RATE_LIMIT_EXCEEDED", told, headers={"Retry-After": str(seconds)}, retry_after=seconds)


def key_id_of(token: str) -> str:
    """The id in the text of a key; empty if it is none."""
    kind, _, rest = token.partition(SEPARATOR)
    key_id = rest.partition(SEPARATOR)[0]
    return key_id if kind == "dm" and len(key_id) == 12 else ""
