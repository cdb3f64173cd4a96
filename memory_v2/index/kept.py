"""Values that are read from the tables once and reused until the tables change."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Generic, TypeVar

from memory_v2.index.sql import PAGES, Kind
from memory_v2.index.tables import State, read_state

Value = TypeVar("Value")


class Kept(Generic[Value]):
    """What `read` returns for the tables of a kind, cached until they change. If there is a quicker way from a value of
    older tables to that of newer ones, `again` is it.

    Threads need no lock: the value and the state that it belongs to are replaced together, never modified.
    """

    def __init__(
        self,
        read: Callable[[sqlite3.Connection], Value],
        again: Callable[[sqlite3.Connection, Value], Value] | None = None,
        kind: Kind = PAGES,
    ) -> None:
        self._read = read
        self._again = again
        self._kind = kind
        self._kept: tuple[State, Value] | None = None

    def of(self, tables: sqlite3.Connection) -> Value:
        """The value for this snapshot of the tables; read-only."""
        state, kept = read_state(tables, self._kind), self._kept
        if kept is None or kept[0] != state:
            is_older = kept is not None and kept[0].tables == state.tables
            value = self._again(tables, kept[1]) if kept and is_older and self._again else self._read(tables)
            kept = self._kept = (state, value)
        return kept[1]

    def is_of(self, state: State) -> bool:
        """Whether the value of this state is the one cached."""
        return self._kept is not None and self._kept[0] == state

    def follow(self, before: State, after: State, change: Callable[[Value], Value]) -> None:
        """Replaces the value of state `before` with `change(value)` for state `after`, if it is the one cached."""
        if (kept := self._kept) is not None and kept[0] == before:
            self._kept = (after, change(kept[1]))
