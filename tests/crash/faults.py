"""A disk that fails at every boundary of every operation: `python -m tests.crash.faults`.

It fails once; or it is full from then on, so that nothing new finds room, but what is there can be removed; or it
refuses every change from then on. When that is over, the operation is done if it has returned, or if its error has said
that it will be; and not done if it has raised another. What raises is a `StorageError`.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

from memory_v2.errors import StorageError
from tests.crash.alone import run_alone
from tests.crash.boundaries import Boundary, watched
from tests.crash.holds import Expected, expected, heard, is_promised, judged, unhurried
from tests.crash.scenes import SCENES, Scene, copied, opened, prepared

ONCE, FULL, READ_ONLY = "once", "full from then on", "read-only from then on"
WAYS: Final = (ONCE, FULL, READ_ONLY)

LATER: Final = ("do not make it again", "do not write it again")
"""What an error says when the operation is done later."""

_NEEDS_ROOM = frozenset({"open", "write", "torn", "mkdir", "link", "commit"})
_COLUMNS = {"faults": 8, "returned": 10, "raised": 8, "later": 7, "problems": 10}


@dataclass
class Tally:
    """What came of the faults of one scene: how often the operation returned, raised that nothing was changed, and
    raised that the rest is done later."""

    scene: str
    way: str
    faults: int = 0
    returned: int = 0
    raised: int = 0
    later: int = 0
    problems: list[str] = field(default_factory=list)


class Fault:
    """What happens at the boundaries: an error at the first that can fail from one of them on, and in some `way` at
    those that follow."""

    def __init__(self, way: str, number: int) -> None:
        self._way = way
        self._number = number
        self.at = ""
        self.passed = 0

    def __call__(self, boundary: Boundary) -> None:
        """Raises what the disk raises here, if it does."""
        self.passed = boundary.number
        if boundary.number < self._number or (self.at and self._way == ONCE) or boundary.action == "made":
            return
        if self._way == FULL and boundary.action not in _NEEDS_ROOM:
            return
        self.at = self.at or str(boundary)
        if boundary.action == "commit":
            raise sqlite3.OperationalError("database or disk is full")
        code = errno.ENOSPC if self._way == FULL else errno.EROFS if self._way == READ_ONLY else errno.EIO
        raise OSError(code, os.strerror(code), boundary.place)


def fail_everywhere(scene: Scene, folder: Path, first: int = 1, step: int = 1) -> Iterator[Tally]:
    """Lets a scene's operation fail at every `step`-th boundary from the `first`, in each way."""
    store = prepared(scene, folder / "store")
    hope = expected(scene, store, folder)
    for way in WAYS:
        tally = Tally(scene.name, way)
        for number in count(first, step):
            if _fail(tally, scene, copied(store, folder / f"{way}-{number}"), hope, number):
                break
        yield tally


def _fail(tally: Tally, scene: Scene, folder: Path, hope: Expected, number: int) -> bool:
    """Lets it fail once, and tells whether it has ended before it could."""
    fault = Fault(tally.way, number)
    memory = opened(folder)
    memory.list_files()
    scene.by_hand(folder)
    told: Exception | None = None
    with heard() as warnings:
        try:
            with watched(folder, fault):
                scene.act(memory)
        except Exception as error:  # noqa: BLE001 - which one it is, is what is judged
            told = error
    if not fault.at:
        memory.close()
        return fault.passed < number
    tally.faults += 1
    problems = []
    wanted = "done"
    if told is None:
        tally.returned += 1
    elif isinstance(told, StorageError) and any(said in str(told) for said in LATER):
        tally.later += 1
    elif isinstance(told, StorageError):
        tally.raised += 1
        wanted = "not done"
        if is_promised(folder):
            problems.append("it is noted, and so it is done later, which the error does not say")
    else:
        problems.append(f"it raised {type(told).__name__}: {told}")
    # whoever had the memory open goes on with it, or another process comes
    outcome, found = judged(folder, hope, number, memory if number % 2 else None)
    memory.close()
    if outcome != wanted and hope.before != hope.after:
        problems.append(f"it is {outcome}, where {wanted} was told")
    # what the disk has refused to remove, once, stays where it is
    problems += [problem for problem in found if problem != f"left behind: {fault.at.partition(' unlink ')[2]}"]
    tally.problems += [f"{fault.at}: {problem}" for problem in problems]
    if problems:
        tally.problems += [f"    it raised: {told!r}", *(f"    {warning}" for warning in warnings)]
    return False


def run_scene(name: str, first: int = 1, step: int = 1) -> list[Tally]:
    """`fail_everywhere` in a process of its own."""
    told = run_alone("tests.crash.faults", f"--scene={name}", f"--first={first}", f"--step={step}")
    return [Tally(**tally) for tally in told]


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table; ends with status 1 if something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.faults", description=__doc__)
    parser.add_argument("--scene", help="one operation only, told as JSON")
    parser.add_argument("--first", type=int, default=1, help="the boundary to begin with")
    parser.add_argument("--step", type=int, default=1, help="every so many boundaries")
    chosen = parser.parse_args(arguments)
    if chosen.scene:
        sys.unraisablehook = lambda _: None  # dulwich tries once more to write, from a destructor, and is refused again
        scene = next(scene for scene in SCENES if scene.name == chosen.scene)
        with tempfile.TemporaryDirectory() as folder, unhurried():
            told = [asdict(tally) for tally in fail_everywhere(scene, Path(folder), chosen.first, chosen.step)]
        print(json.dumps(told))
        return
    print(f"{'':50}" + "".join(f"{name:>{width}}" for name, width in _COLUMNS.items()))
    well = True
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for tallies in pool.map(lambda scene: run_scene(scene.name, chosen.first, chosen.step), SCENES):
            for tally in tallies:
                figures = tally.faults, tally.returned, tally.raised, tally.later, len(tally.problems)
                row = "".join(f"{cell:>{width}}" for cell, width in zip(figures, _COLUMNS.values(), strict=True))
                print(f"{tally.scene:26}{tally.way:24}{row}", *tally.problems, sep="\n    ", flush=True)
                well = well and not tally.problems
    if not well:
        sys.exit(1)


if __name__ == "__main__":
    main()
