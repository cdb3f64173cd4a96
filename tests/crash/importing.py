"""Kills of an import at any instant: `python -m tests.crash.importing --kills 200`.

A process imports a folder in small batches and is killed; another does the same, and is killed too, until one comes to
the end. The pages are then, byte for byte, those of an import that nobody killed: the clock stands still.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from memory_v2.migrate import run as running
from memory_v2.migrate.planning import Strategy, make_plan
from memory_v2.migrate.run import run
from tests.crash.scenes import THRESHOLD, notes, opened
from tests.migrate.folder import scanned, write_files
from tests.properties.whole import faults, pages_of

STRATEGIES: tuple[Strategy, ...] = ("keep", "keep", "flatten")
"""Taken in turn, one for each store."""


@dataclass
class Tally:
    """How many were killed, in how many imports, and what is wrong."""

    kills: int = 0
    imports: int = 0
    problems: list[str] = field(default_factory=list)


def kill_imports(folder: Path, kills: int, seed: int = 0) -> Tally:
    """Kills so often, and tells what came of it."""
    tally, chance = Tally(), random.Random(seed)
    source = made(folder / "notes")
    with small_batches():
        for number in count():
            if tally.kills >= kills:
                return tally
            strategy = STRATEGIES[number % len(STRATEGIES)]
            whole, seconds = _unbroken(folder / f"whole-{number}", source, strategy)
            store = folder / f"store-{number}"
            tally.kills += _killed(store, source, strategy, chance, seconds, kills - tally.kills)
            tally.imports += 1
            tally.problems += [f"import {number}, {strategy}: {one}" for one in _differences(store, whole)]
    raise AssertionError("a count has no end")


@contextmanager
def small_batches() -> Iterator[None]:
    """Many batches of few documents."""
    with patch.object(running, "MAX_DOCUMENTS", 4), patch.object(running, "MAX_APPENDED", 3_000):
        yield


def made(folder: Path) -> Path:
    """A folder of notes: folders, documents that are divided, some that are alike, and names that are the same."""
    files = {"boats.md": f"# Boats\n\n{notes(10, 30)}", "boats/README.md": "About boats.\n", "Log.md": notes(30, 34)}
    link = "See [the boats](../boats.md)\n"
    files |= {f"boats/harbour {n}.md": f"# Harbour {n}\n\n{notes(n, n + 1)}{link}" for n in range(40, 49)}
    files |= {f"garden/roses/2026-01-{n:02}.md": f"- {n} roses\n" for n in range(1, 9)}
    files |= {
        "garden/Deploys.md": f"# Deploys\n\n{notes(50, 58)}",
        "garden/deploys.md": "Others.\n",
        "log.md": "Log.\n",
    }
    return write_files(folder, files)


def _unbroken(store: Path, source: Path, strategy: Strategy) -> tuple[dict[str, bytes], float]:
    began = time.monotonic()
    _import(store, source, strategy)
    seconds = time.monotonic() - began
    with opened(store) as memory:
        return {path: page.data for path, page in pages_of(memory.storage).items()}, seconds


def _import(store: Path, source: Path, strategy: Strategy) -> None:
    with opened(store) as memory:
        scan = scanned(source)
        done = run(memory, scan, make_plan(memory, scan, source, strategy))
        if done.error:
            raise done.error


def _killed(store: Path, source: Path, strategy: Strategy, chance: random.Random, seconds: float, most: int) -> int:
    """Imports until an import ends by itself; returns how many were killed."""
    for kills in count():
        child = os.fork()
        if not child:
            _live(store, source, strategy)
        if kills < most:
            time.sleep(chance.uniform(0.0, seconds / 2))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            if os.WEXITSTATUS(status):
                raise AssertionError("an import has failed")
            return kills
    raise AssertionError("a count has no end")


def _live(store: Path, source: Path, strategy: Strategy) -> NoReturn:
    code = 1
    try:
        _import(store, source, strategy)
        code = 0
    except BaseException:  # noqa: BLE001 - a child of a fork must never come back from here
        import traceback

        traceback.print_exc()
    os._exit(code)


def _differences(store: Path, whole: dict[str, bytes]) -> list[str]:
    with opened(store) as memory:
        memory.recover()
        pages = pages_of(memory.storage)
        errors = [str(finding) for finding in memory.check() if finding.severity == "error"]
    now = {path: page.data for path, page in pages.items()}
    return [
        *(f"{path} is otherwise" for path in sorted(now.keys() | whole.keys()) if now.get(path) != whole.get(path)),
        *faults(pages, THRESHOLD),
        *errors,
    ]


def main() -> None:
    """Prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = kill_imports(Path(folder), given.kills, given.seed)
    print(f"{tally.kills} kills in {tally.imports} imports, {len(tally.problems)} problems")
    print("\n".join(tally.problems))
    raise SystemExit(1 if tally.problems else 0)


if __name__ == "__main__":
    main()
