"""Everything that is measured of search, in one run: `nice python -m bench.results` writes `bench/RESULTS.md`.

Each bench runs in a process of its own and prints JSON; its tables are written as they are. Times are of this machine,
and of whatever else it does meanwhile.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from bench.tables import Rows, number

HERE = Path(__file__).parent
BENCHES = ("personas", "locomo", "beam", "notes", "consolidation", "changes", "precision", "links")
FILE = HERE / "RESULTS.md"
ABOUT = """\
Written by `python -m bench.results`. What each figure means is said at the top of its bench. `memory` is what a user
has, through `Memory.write` and `Memory.search`, offline; `flat list` is the same ranker over the same texts without a
tree. Shares are from 0 to 1, times in milliseconds. The ranking was tuned on these data, so expect lower figures on
others."""
PEERS = (
    "No other memory was run beside: none with a search of its own is installed in this environment, and most ask a "
    "model or a service for each text. FTS5 and grep are what they are usually compared with"
)


def main() -> None:
    """Runs the benches, and writes what they measured."""
    head = list(_head())  # before the benches, which read what is here now
    parts = [part for name in BENCHES for part in _part(name)]
    FILE.write_text("\n\n".join([*head, *parts]) + "\n", "utf-8")
    print(f"{FILE.relative_to(Path.cwd()) if FILE.is_relative_to(Path.cwd()) else FILE.name} is written")


def _head() -> Iterator[str]:
    """What was measured, where and when."""
    commit = _git("rev-parse", "--short", "HEAD")
    changed = _git("status", "--porcelain", "--", "memory_v2", "bench", "prompts", "migrate")
    if [line for line in changed.splitlines() if not line.endswith(FILE.name)]:
        commit += ", with changes that are not committed"
    yield "# What search finds, and what it costs"
    yield ABOUT
    yield f"- {datetime.now(UTC):%Y-%m-%d}, at {commit}\n- {_machine()}\n- {PEERS}"


def _machine() -> str:
    """The processor, its cores, and Python; nothing that names this machine."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text("utf-8").splitlines() if cpuinfo.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def _part(name: str) -> Iterator[str]:
    """The tables of a bench, below its name and what it asks."""
    print(f"{name} …", file=sys.stderr, flush=True)
    done = subprocess.run([sys.executable, "-m", f"bench.{name}", "--json"], stdout=subprocess.PIPE, check=False)
    tables: Mapping[str, Rows] = json.loads(done.stdout)  # a bench that misses its goals exits with status 1
    question = (import_module(f"bench.{name}").__doc__ or "").partition(":")[0]
    yield f"## {question}: `python -m bench.{name}`"
    for title, rows in tables.items():
        yield "\n".join(_markdown(title, rows))


def _markdown(title: str, rows: Rows) -> Iterator[str]:
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    yield _line([title, *(name.strip() for name in columns)])
    yield _line(["---", *("---:" for _ in columns)])
    for name, row in rows.items():
        yield _line([name, *(number(row.get(column)) for column in columns)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
