"""`kill -9` of what is run again then, forgetting and imports: `python -m tests.crash.resumed --kills 200`.

Each is killed at so many of its boundaries. Whatever a kill leaves opens without an error. It is run again, killed once
more, and run to its end: the pages are then, byte for byte, those of a run that nobody killed, and of a text that is
recorded as forgotten nothing is left.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from memory_v2.memory import Memory
from memory_v2.migrate import run as running
from memory_v2.migrate.planning import Strategy, make_plan
from tests.crash.alone import run_alone
from tests.crash.holds import age, tree_of, unhurried
from tests.crash.kills import killed
from tests.crash.scenes import copied, notes, opened
from tests.migrate.folder import scanned, write_files
from tests.operations.forgotten import SECRET, filled, places

AGAIN = 7
"""The second kill is this many times as far as the first, round and round."""


@dataclass(frozen=True)
class Resumable:
    """Something that may be run again: the store is made by `prepare`; `left` says what must not be there when the
    history says that it is done."""

    name: str
    prepare: Callable[[Memory], object]
    act: Callable[[Memory], object]
    left: Callable[[Path], list[str]] = lambda _: []


def forgetting() -> Resumable:
    """A text is forgotten, part of whose history is packed."""

    def prepare(memory: Memory) -> None:
        filled(memory)
        memory.pack_history()
        memory.write(f"The last gate is {SECRET}.", "kiln", "append")

    return Resumable("forgetting", prepare, lambda memory: memory.forget(SECRET, apply=True), places)


def importing(folder: Path, strategy: Strategy) -> Resumable:
    """A folder of notes is imported in small batches: some are divided, some are alike, some have the same name."""
    files = {"boats.md": f"# Boats\n\n{notes(10, 30)}", "boats/README.md": "About boats.\n", "Log.md": notes(30, 34)}
    files |= {f"boats/harbour {n}.md": f"# Harbour {n}\n\n{notes(n, n + 1)}See @boats.md\n" for n in range(40, 49)}
    files |= {f"garden/roses/2026-01-{n:02}.md": f"- {n} roses\n" for n in range(1, 9)}
    files |= {
        "garden/Deploys.md": f"# Deploys\n\n{notes(50, 58)}",
        "garden/deploys.md": "Others.\n",
        "log.md": "Log.\n",
    }
    source = write_files(folder, files)

    def act(memory: Memory) -> None:
        scan = scanned(source)
        with patch.object(running, "MAX_DOCUMENTS", 4), patch.object(running, "MAX_APPENDED", 3_000):
            done = running.run(memory, scan, make_plan(memory, scan, source, strategy))
        if done.error:
            raise done.error

    return Resumable(f"importing, {strategy}", lambda memory: memory.list_files(), act)


def kill_some(what: Resumable, folder: Path, kills: int) -> Iterator[str]:
    """Kills it at so many boundaries, evenly apart; yields what is wrong."""
    store = folder / "store"
    store.mkdir(parents=True)
    with opened(store) as memory:
        what.prepare(memory)
    whole = copied(store, folder / "whole")
    with opened(whole) as memory:
        what.act(memory)
        hope = tree_of(memory)
    total, ended = killed(copied(store, folder / "counted"), what.act, sys.maxsize)
    assert ended
    for kill in range(kills):
        number = 1 + (kill * int(total)) // kills
        live = copied(store, folder / f"live-{number}")
        for at_boundary in (number, 1 + number * AGAIN % int(total)):
            at, _ = killed(live, what.act, at_boundary, chance=f"{number} {at_boundary}")
            age(live)
            yield from (f"{at}: {problem}" for problem in _left_by_a_kill(what, live))
        yield from (f"{at}, when it is run again: {problem}" for problem in _run_again(what, live, hope))


def _left_by_a_kill(what: Resumable, live: Path) -> Iterator[str]:
    with opened(live) as memory:
        yield from (str(finding) for finding in memory.check() if finding.severity == "error")
        is_done = memory.history()[:1] and memory.history()[0].first.kind == "forget"
    if is_done and (left := what.left(live)):
        yield f"it is recorded as forgotten, and left in {left}"


def _run_again(what: Resumable, live: Path, hope: dict[str, bytes]) -> Iterator[str]:
    with opened(live) as memory:
        what.act(memory)
        if tree_of(memory) != hope:
            yield "other pages are there"
        yield from (str(finding) for finding in memory.check() if finding.severity == "error")
    yield from (f"left in {place}" for place in what.left(live))


def run_killed(name: str, kills: int) -> list[str]:
    """`kill_some` in a process of its own."""
    problems: list[str] = run_alone("tests.crash.resumed", f"--only={name}", f"--kills={kills}")
    return problems


def main() -> None:
    """Prints what is wrong as JSON; ends with status 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.resumed", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--only", default="", help="forgetting, or importing")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, unhurried():
        folder = Path(name)
        every = (forgetting(), importing(folder / "notes", "keep"), importing(folder / "notes", "flatten"))
        some = [what for what in every if what.name.startswith(chosen.only)]
        problems = [problem for what in some for problem in kill_some(what, folder / what.name, chosen.kills)]
    print(json.dumps(problems))
    sys.exit(bool(problems) and not chosen.only)


if __name__ == "__main__":
    main()
