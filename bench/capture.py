"""What a capture costs: `python -m bench.capture`. CPU time, beside that of one atomic, durable file write.

A memory has so many entries, of eight agents and two years; then observations are captured, and between any two of
them a file of the same bytes is written as such programs write files: a temporary file, flushed, renamed, the folder
flushed. So whatever else the machine does hits both. The goal: the ratio at 100,000 entries is at most 1.5 times that
at 100.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from bench.data import sentence
from bench.tables import Figures, seconds, table
from memory_v2 import Memory
from memory_v2.storage.local.storage import LocalStorage

COUNTS = (100, 10_000, 100_000)
CAPTURES = 400
"""Captures that are measured; the first ones, which fill what is known and open files, are not."""
UNMEASURED = 20
FLAT = 1.5
"""How much more a capture may cost among the most entries than among the fewest, over a file write."""
AGENTS = ("hawk", "fury", "shield", "watchtower", "captain", "vision", "forge", "widow")
NOW = datetime(2026, 2, 15, 9, 30, tzinfo=UTC)
FIRST = date(2024, 2, 16)
DAYS = 730


def main() -> None:
    """Prints a row for each count; exits with 1 if a capture does not cost the same."""
    rows = dict[str, Figures]()
    for count in [int(one) for one in sys.argv[1:]] or COUNTS:
        with tempfile.TemporaryDirectory() as folder:
            rows[f"{count:,} entries"] = measured(Path(folder), count)
    ratios = [row["ratio"] or 0 for row in rows.values()]
    print(f"{table(rows)}\nthe most costs {max(ratios) / ratios[0]:.2f} times the first; the goal is at most {FLAT}")
    sys.exit(max(ratios) > FLAT * ratios[0])


def measured(folder: Path, count: int) -> Figures:
    """Milliseconds of CPU of a capture among so many entries, and of a file write."""
    store, beside = folder / "memory", folder / "beside.md"
    fill(store, count)
    captures, writes = [], []
    with Memory(LocalStorage(store), now=lambda: NOW) as memory:
        texts = statements(random.Random(count))
        for number in range(UNMEASURED + CAPTURES):
            text = next(texts)
            spent = _cpu(partial(memory.entries.capture, text, AGENTS[0], tags=("bench",), confidence=0.8))
            data = text.encode() + b"-" * 160
            if number >= UNMEASURED:
                captures.append(spent)
                writes.append(_cpu(partial(_replace, beside, data)))
    capture, write = statistics.median(captures), statistics.median(writes)
    return {"capture ms": capture, "file write ms": write, "ratio": capture / write}


def fill(store: Path, count: int) -> None:
    """A memory with so many entries in its files and in its history, as captures and batches have left it."""
    texts, turns = statements(random.Random(0)), Counter[tuple[str, date]]()
    with Memory(LocalStorage(store), now=lambda: NOW) as memory:
        memory.entries.capture("The first.", AGENTS[0])  # makes the folders
        for number in range(count):
            agent, day = AGENTS[number % len(AGENTS)], FIRST + timedelta(days=number * DAYS // count)
            turns[agent, day] += 1
            folder = store / "entries" / "agents" / agent / "memory" / "vault" / f"{day:%Y-%m}"
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"obs-{day}-{turns[agent, day]:03}.md"
            file.write_text(f"---\ntags: [bench]\ncreated: {day}\n---\n{next(texts)}\n", "utf-8")
        memory.entries.pick_up()


def statements(chance: random.Random) -> Iterator[str]:
    """Texts as agents capture them: made of the same words again and again, with numbers."""
    while True:
        number = chance.randrange(10**9)
        told = f"{sentence(chance)} by {number / 1e7:.2f}% since Monday"
        yield f"{told}; ticket {number} has the numbers, and {sentence(chance)}."


def _replace(file: Path, data: bytes) -> None:
    """The least work that replaces a file atomically and has it on disk."""
    temporary = file.with_suffix(".tmp")
    with temporary.open("xb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _cpu(act: Callable[[], object]) -> float:
    return 1000 * seconds(act, time.process_time)


if __name__ == "__main__":
    main()
