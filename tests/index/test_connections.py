"""Connections to one file, used by many threads and processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memory_v2.index.store import FILE, MAX_IDLE, Connections


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / FILE


@pytest.fixture
def connections(file: Path) -> Iterator[Connections]:
    connections = Connections(file)
    yield connections
    connections.retire()


def is_open(tables: sqlite3.Connection) -> bool:
    try:
        tables.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_the_connection_used_last_is_used_next(connections: Connections) -> None:
    with connections.use() as first, connections.use() as second:
        assert first is not second
    with connections.use() as again:
        assert again is first


def test_only_some_are_kept_open(connections: Connections) -> None:
    with ExitStack() as stack:
        used = [stack.enter_context(connections.use()) for _ in range(MAX_IDLE + 2)]
    assert sum(is_open(tables) for tables in used) == MAX_IDLE


def test_one_that_failed_is_closed(connections: Connections) -> None:
    with pytest.raises(sqlite3.DatabaseError), connections.use() as tables:
        raise sqlite3.DatabaseError("malformed")
    assert not is_open(tables)


def test_those_in_use_are_closed_when_they_come_back(connections: Connections) -> None:
    with connections.use() as tables:
        connections.retire()
        assert is_open(tables)
    assert not is_open(tables)


def test_all_are_to_the_same_file(connections: Connections, file: Path) -> None:
    with connections.use():
        file.rename(file.with_name("elsewhere"))
        with pytest.raises(sqlite3.OperationalError, match="replaced"), connections.use():
            pass


def test_tables_in_memory_have_one_connection() -> None:
    connections = Connections(None)
    with connections.use() as first:
        pass
    with connections.use() as second:
        assert second is first
    connections.retire()
    assert not is_open(first)


_BEGIN = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
"""


def test_opening_another_connection_drops_no_lock(connections: Connections, file: Path) -> None:
    with connections.use() as writer:
        writer.execute("BEGIN IMMEDIATE")
        with connections.use():
            pass
        other = subprocess.run([sys.executable, "-c", _BEGIN, str(file)], capture_output=True, text=True, check=False)
        assert "database is locked" in other.stderr
        writer.execute("ROLLBACK")
