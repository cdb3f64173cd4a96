"""The cost of starting: `python -m bench.startup`. CPU time of whole processes in a memory of 100 pages.

Each round runs a bare interpreter and then every command once, so that whatever else the machine does hits all of them.
Modules are compiled beforehand, as they are where the package is installed.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.growth import make_tree
from bench.tables import table

ROUNDS = 21
PAGES = 100
BARE = "python -c pass"
GOALS = {"silica memory read": 120, "silica memory search": 250, "silica memory write": 250}
"""The most CPU time that a command may take over a bare interpreter, in milliseconds."""


def main() -> None:
    """Prints the median of each command, how much more than a bare interpreter it takes, and the goal."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "memory"
        make_tree(folder, PAGES)
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(place) / "compiled")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        spent: dict[str, list[float]] = {name: [] for name in commands(folder, 0)}
        for number in range(ROUNDS + 1):
            for name, command in commands(folder, number).items():
                took = cpu_ms(command, environment)
                if number:  # the first round takes all pages in, and compiles the modules
                    spent[name].append(took)
    middle = {name: statistics.median(times) for name, times in spent.items()}
    rows = {name: {"ms": ms, "over bare": ms - middle[BARE], "goal": GOALS.get(name)} for name, ms in middle.items()}
    print(f"CPU, median of {ROUNDS}\n{table(rows)}")


def commands(folder: Path, number: int) -> dict[str, list[str]]:
    """The commands of one round; each round writes a text of its own."""
    silica = [sys.executable, "-m", "memory_v2.cli", "memory", "--path", str(folder)]
    return {
        BARE: [sys.executable, "-c", "pass"],
        "import memory_v2": [sys.executable, "-c", "import memory_v2"],
        "silica memory read": [*silica, "read", "g0/p0"],
        "silica memory search": [*silica, "search", "lantern violin b3"],
        "silica memory write": [*silica, "write", f"The pepper {number} of g0/p0 b1 is new."],
    }


def cpu_ms(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """User and system time of the command, in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


if __name__ == "__main__":
    main()
