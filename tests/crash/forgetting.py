"""`kill -9` at boundaries of forgetting: `python -m tests.crash.forgetting` prints what went wrong as JSON.

Whatever a kill leaves opens and is whole; either the text is forgotten then, to the last byte, or it is when forgetting
is run again.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from memory_v2.memory import Memory
from tests.crash.holds import age, tree_of, unhurried
from tests.crash.kills import killed
from tests.crash.scenes import copied, opened
from tests.operations.forgotten import SECRET, filled, places


def forget(memory: Memory) -> object:
    """What is killed."""
    return memory.forget(SECRET, apply=True)


def kill_everywhere(folder: Path, first: int, step: int) -> dict[str, Any]:
    """Kills forgetting at every `step`-th boundary from the `first`."""
    store = folder / "store"
    store.mkdir()
    with opened(store) as memory:
        filled(memory)
        memory.pack_history()
        memory.write(f"The last gate is {SECRET}.", "kiln", "append")
    whole = copied(store, folder / "whole")
    with opened(whole) as memory:
        forget(memory)
        hope = tree_of(memory)
    problems: list[str] = []
    kills = finished = 0
    while True:
        live = copied(store, folder / f"live-{first}")
        at, ended = killed(live, forget, first)
        if ended:
            return {"boundaries": int(at), "kills": kills, "finished": finished, "problems": problems}
        kills += 1
        age(live)
        told, is_finished = _judged(live, hope)
        finished += is_finished
        problems += [f"{at}: {problem}" for problem in told]
        first += step


def _judged(live: Path, hope: dict[str, bytes]) -> tuple[list[str], bool]:
    with opened(live) as memory:
        problems = [str(finding) for finding in memory.check()]
        is_finished = any(one.first.kind == "forget" for one in memory.history())
    if is_finished and (left := places(live)):
        problems.append(f"it is recorded as forgotten, and left in {left}")
    with opened(live) as memory:
        forget(memory)
        if tree_of(memory) != hope:
            problems.append("other pages are there when it is run again")
        memory.undo()
        problems += [str(finding) for finding in memory.check()]
    return problems + [f"left in {place} when it is run again" for place in places(live)], is_finished


def main() -> None:
    """Prints what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.forgetting", description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="the boundary to begin with")
    parser.add_argument("--step", type=int, default=1, help="every so many boundaries")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, unhurried():
        print(json.dumps(kill_everywhere(Path(folder), chosen.first, chosen.step)))


if __name__ == "__main__":
    main()
