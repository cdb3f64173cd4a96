"""The load bench finds what it looks for."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from bench.sessions import Log, percentile, play, problems, serving, table
from memory_v2 import Memory
from tests.mcp.test_http import HOST

pytestmark = pytest.mark.allow_hosts([HOST])


def test_sessions_lose_nothing(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("This memory is shared.")
    with serving(tmp_path) as address:
        log = anyio.run(play, address, 3, 12)
    assert problems(log, tmp_path) == []
    assert sum(len(seconds) for seconds in log.seconds.values()) == 36
    assert "p95 ms" in table(log)


def test_a_text_that_is_lost_or_stands_twice_is_found(tmp_path: Path) -> None:
    Memory.open(tmp_path).write("- Ines knows Porto.\n- The harbour waits.\n\nAgain: Ines knows Porto.")
    wrong = problems(Log(written=["The kitchen closes.", "Ines knows Porto.", "The harbour waits."]), tmp_path)
    assert wrong == ["lost: The kitchen closes.", "stands 2 times: Ines knows Porto."]


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([3.0, 1.0, 2.0, 4.0], 95) == 4.0
    assert percentile([float(n) for n in range(1, 101)], 95) == 95.0
