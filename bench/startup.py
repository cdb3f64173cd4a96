"""The cost of starting: `python -m bench.startup`. CPU time of whole processes, compared to a bare interpreter."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 11


def main() -> None:
    """Prints the median of each command, and how much more than the bare interpreter it takes."""
    with tempfile.TemporaryDirectory() as folder:
        silica = [sys.executable, "-m", "memory_v2.cli", "memory", "--path", str(Path(folder) / "memory")]
        subprocess.run([*silica, "write", "Silica uses pytest for testing"], check=True, capture_output=True)
        commands = {
            "python -c pass": [sys.executable, "-c", "pass"],
            "import memory_v2": [sys.executable, "-c", "import memory_v2"],
            "silica memory read": [*silica, "read"],
            "silica memory search": [*silica, "search", "pytest"],
            "silica memory write": [*silica, "write", "Silica uses pytest for testing"],
        }
        bare = cpu_ms(commands["python -c pass"])
        print(f"{'CPU, median of ' + str(RUNS):24}{'ms':>8}{'over bare':>12}")
        for name, command in commands.items():
            spent = cpu_ms(command)
            print(f"{name:24}{spent:8.0f}{spent - bare:12.0f}")


def cpu_ms(command: list[str]) -> float:
    """User and system time of the command, in milliseconds."""
    spent = []
    for _ in range(RUNS):
        before = os.times()
        subprocess.run(command, check=True, capture_output=True)
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return 1000 * statistics.median(spent)


if __name__ == "__main__":
    main()
