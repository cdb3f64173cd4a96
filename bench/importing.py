"""Whether the time and the memory of an import grow with the number of documents, and no faster.

`python -m bench.importing` imports 1,000 and 10,000 small files, each number in a process of its own, and prints the
CPU seconds and the peak memory of both, and their ratios: 10 is linear.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from memory_v2.memory import Memory
from memory_v2.migrate.planning import make_plan
from memory_v2.migrate.run import run
from memory_v2.migrate.source import Scan, SourceDocument

WORDS = 3_000
"""How many words the texts are made of."""
PER_FOLDER = 100
"""How many files a folder has."""


def documents(count: int) -> Scan:
    """So many small documents, in folders of `PER_FOLDER`, always the same."""
    chance = random.Random(count)
    words = ["".join(chance.choices("abcdefghiklmnoprstuvw", k=chance.randint(3, 9))) for _ in range(WORDS)]

    def sentence() -> str:
        return f"{' '.join(chance.choices(words, k=9)).capitalize()}."

    def document(number: int) -> SourceDocument:
        folder, title = number // PER_FOLDER, " ".join(chance.choices(words, k=3))
        text = f"# {title.capitalize()}\n\n{sentence()} {sentence()}\n\n- {sentence()}\n- {sentence()}\n"
        place = f"{words[folder // 10]}/{words[-folder - 1]}/{title} {number}"
        return SourceDocument(f"{place}.md", text, place)

    return Scan("made up", [document(number) for number in range(count)])


def measure(count: int) -> dict[str, float]:
    """CPU seconds of the plan, the run and a second run, and the peak memory in megabytes."""
    scan = documents(count)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "notes"
        with Memory.open(Path(folder) / "memory", "offline") as memory:
            laps = [time.process_time()]
            plan = make_plan(memory, scan, source)
            laps.append(time.process_time())
            done = run(memory, scan, plan)
            laps.append(time.process_time())
            assert done.error is None, done.error
            run(memory, scan, make_plan(memory, scan, source))
            laps.append(time.process_time())
            pages = len(memory.list_files())
    names = ("plan", "run", "again")
    told = {name: after - before for name, before, after in zip(names, laps, laps[1:], strict=False)}
    return told | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "pages": pages}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs=2, default=(1_000, 10_000))
    parser.add_argument("--one", type=int, help="measure this number in this process, and print JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one)))
        return
    found = [
        json.loads(subprocess.check_output([sys.executable, "-m", "bench.importing", "--one", str(count)]))
        for count in given.counts
    ]
    few, many = given.counts
    print(f"{'':8} {few:>10,} {many:>10,} {'ratio':>8}")
    for name in found[0]:
        small, large = (each[name] for each in found)
        print(f"{name:8} {small:>10.2f} {large:>10.2f} {large / max(small, 0.01):>8.1f}")


if __name__ == "__main__":
    main()
