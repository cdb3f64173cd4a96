"""What a memory without entries pays for entries: `python -m bench.without_entries --beside FOLDER`.

FOLDER is a checkout of an earlier version, such as the last one that knew no entries. Both versions search, write and
check a memory of the same pages, in processes that take turns. Figures: the median CPU of each, in milliseconds, the
least of some turns; and that of this version over that of the other.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.beside import HERE, run_with
from bench.freshness import fill
from bench.tables import parser, report
from memory_v2 import Memory

PAGES = 1_000
TRIALS = 40
"""How often each thing is done in a turn; the first time, at which files are opened, does not count."""
TURNS = 3
WORDS = ("harbour", "night train", "contract", "lantern", "cellar", "ferry", "kitchen", "staging")

Costs = dict[str, float]


def main() -> None:
    """Prints the figures, or with `--measure` those of one turn, as JSON."""
    arguments = parser((__doc__ or "").splitlines()[0])
    arguments.add_argument("--beside", type=Path, help="a checkout of another version")
    arguments.add_argument("--pages", type=int, default=PAGES)
    arguments.add_argument("--measure", action="store_true")
    asked = arguments.parse_args()
    if asked.measure:
        print(json.dumps(measured(asked.pages)))
        return
    if asked.beside is None:
        sys.exit("name another version: --beside FOLDER")
    turns: dict[str, list[Costs]] = {"other": [], "this": []}
    for _ in range(TURNS):
        for name, version in (("other", asked.beside.resolve()), ("this", HERE)):
            turns[name].append(run_with(version, "bench.without_entries", "--measure", "--pages", str(asked.pages)))
    least = {name: {what: min(one[what] for one in all_of) for what in all_of[0]} for name, all_of in turns.items()}
    rows = {
        what: {"this": cost, "other": least["other"][what], "ratio": cost / least["other"][what]}
        for what, cost in least["this"].items()
    }
    report({f"CPU, ms, {asked.pages:,} pages and no entries": rows}, asked.json)


def measured(pages: int) -> Costs:
    """The median CPU of each thing, in milliseconds."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        fill(folder, pages)
        with Memory.open(folder, "offline") as memory:
            return {
                "search": _median(lambda n: memory.search(f"{WORDS[n % len(WORDS)]} {WORDS[n % 5]}")),
                "append": _median(lambda n: memory.write(f"- note {n}", f"topics/topic-{n:05}", "append")),
                "write": _median(
                    lambda n: memory.write(f"- The ferry was late for the {n}th time.", "topics/topic-00001")
                ),
                "check": _median(lambda _: memory.check(), TRIALS // 4),
                "open and read": _median(lambda _: _opened(folder)),
            }


def _opened(folder: Path) -> None:
    with Memory.open(folder, "offline") as memory:
        memory.read()


def _median(act: Callable[[int], object], trials: int = TRIALS) -> float:
    spent = []
    for number in range(trials + 1):
        before = time.process_time()
        act(number)
        spent.append(1_000 * (time.process_time() - before))
    return statistics.median(spent[1:])


if __name__ == "__main__":
    main()
