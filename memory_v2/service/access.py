"""Who may do what: the caller behind a key, and the rules for records.

`self` is the source that wrote a record. Private records are read by self; shared ones by the agents they name, or by
all of the tenant if they name none; public ones by every key of the tenant. Self writes and shares; self and admins
delete. Nobody reads what is another tenant's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, or_, true

from memory_v2.service.options import ADMIN
from memory_v2.service.problem import Problem

ACCESS_RULES = {
    "read": ["self", "authorized_agents"],
    "write": ["self"],
    "delete": ["self", "admin"],
    "share": ["self"],
}
"""As the specification has them, for refusals to tell; `reads`, `readable` and `require_self` hold them. In a context,
the agents it names may also write, and if a shared one names none, all of the tenant."""


@dataclass(frozen=True, slots=True)
class Tier:
    """What a key may use; -1 is without limit."""

    requests_per_minute: int
    storage_mb: int
    sessions: int


TIERS = {
    "free_tier": Tier(60, 100, 5),
    "standard_tier": Tier(300, 1000, 50),
    "unlimited_tier": Tier(-1, -1, -1),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the source that a key speaks for."""

    key_id: str
    tenant: str
    source: str
    scopes: frozenset[str]
    tier: str

    @property
    def is_admin(self) -> bool:
        """Whether the key administers its tenant."""
        return ADMIN in self.scopes

    def require(self, scope: str) -> None:
        """Raises `Problem` unless the key has a scope."""
        if scope not in self.scopes and not self.is_admin:
            raise Problem("PERMISSION_DENIED", f"the key does not have the scope {scope}", scope=scope)

    def reads(self, owner: str, visibility: str, readers: str) -> bool:
        """Whether the caller may read a record: `readable` for one that is in hand."""
        named = not readers or f"|{self.source}|" in readers
        return self.is_admin or owner == self.source or visibility == "public" or (visibility == "shared" and named)

    def readable(self, table: Table) -> ColumnElement[bool]:
        """The rows that the caller may read."""
        if self.is_admin:
            return true()
        named = or_(table.c.readers == "", table.c.readers.contains(f"|{self.source}|", autoescape=True))
        shared = (table.c.visibility == "shared") & named
        return or_(table.c.owner == self.source, table.c.visibility == "public", shared)

    def require_self(self, record: Mapping[str, Any], right: str, named_too: bool = False) -> None:
        """Raises `Problem` unless the rules give the caller the right to write, share or delete a record."""
        readers, shared = record["readers"], record["visibility"] == "shared"
        named = named_too and (f"|{self.source}|" in readers or (shared and not readers))
        if record["owner"] != self.source and not named and not (self.is_admin and right == "delete"):
            raise Problem("PERMISSION_DENIED", right=right, access_rules=ACCESS_RULES)


def access_of(record: Mapping[str, Any]) -> tuple[str, str, str]:
    """Whose a record is, and who may read it: what `Caller.reads` is asked."""
    return record["owner"], record["visibility"], record["readers"]


def written_readers(agents: Iterable[str]) -> str:
    """The agents that may read, as the tables have them."""
    unique = sorted(set(agents))
    return f"|{'|'.join(unique)}|" if unique else ""


def named_readers(readers: str) -> list[str]:
    """The agents again."""
    return [name for name in readers.split("|") if name]
