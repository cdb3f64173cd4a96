"""`kill -9` at every boundary of every operation, and of the recovery from it: `python -m tests.crash.kills --every`.

A process without threads makes the store of a scene and forks for each boundary a child that does the operation and
kills itself there. What the child has left is recovered and judged; and its recovery is killed at each of its own
boundaries in turn. With `--random N`, the kills come from outside, at any instant of a long history: see `chance`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from memory_v2.memory import Memory
from tests.crash.alone import run_alone
from tests.crash.boundaries import Boundary, watched
from tests.crash.chance import Kills, kill_by_chance
from tests.crash.holds import Expected, expected, judged, unhurried
from tests.crash.scenes import SCENES, Scene, copied, opened, prepared

COLUMNS = {"boundaries": 12, "kills": 7, "not done": 10, "done": 6, "states": 8, "of recovery": 13, "problems": 10}
MAX_SHIFT = 8
"""How many places the same boundary may be apart in two runs: the names of objects are chance, and with them how many
folders are made for them."""


@dataclass
class Tally:
    """What came of the kills of one scene. `problems` names the boundaries at which the kill was, and what is wrong."""

    scene: str
    boundaries: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    states: int = 0
    of_recovery: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        """Kills of the operation itself."""
        return sum(self.outcomes.values())

    @property
    def cells(self) -> tuple[int, ...]:
        """The figures, as `COLUMNS` names them."""
        done = self.outcomes.get("not done", 0), self.outcomes.get("done", 0)
        return self.boundaries, self.kills, *done, self.states, self.of_recovery, len(self.problems)


def kill_everywhere(scene: Scene, folder: Path, first: int = 1, step: int = 1, recovery_step: int = 1) -> Tally:
    """Kills a scene's operation at every `step`-th boundary from the `first`; and each recovery from what that leaves,
    if it is not what another kill has left, at every `recovery_step`-th."""
    tally = Tally(scene.name)
    store = prepared(scene, folder / "store")
    hope = expected(scene, store, folder)
    known: dict[str, str] = {}
    first_done = 0
    for number in _from(first, step):
        live = copied(store, folder / f"live-{number}")
        with opened(live) as witness:  # another process, which has the memory open all the while
            witness.list_files()
            scene.by_hand(live)
            at, ended = killed(live, scene.act, number)
            if ended:
                tally.boundaries = int(at)
                break
            state = copied(live, folder / f"state-{number}")
            name = fingerprint(state)
            if name not in known:
                known[name], problems = judged(live, hope, number, witness if number % 2 else None)
                tally.problems += [f"{at}: {problem}" for problem in problems]
                tally.states += 1
                numbers = _from(1 + number % recovery_step, recovery_step)
                _kill_recovery(tally, state, hope, f"{at}, then ", known, numbers)
        outcome = known[name]
        if outcome == "done":
            first_done = first_done or number
        elif first_done and outcome == "not done" and number > first_done + MAX_SHIFT:
            tally.problems.append(f"{at}: an earlier kill left it done")
        tally.outcomes[outcome] = tally.outcomes.get(outcome, 0) + 1
    return tally


def _kill_recovery(
    tally: Tally, state: Path, hope: Expected, where: str, known: dict[str, str], numbers: Iterator[int]
) -> None:
    first = fingerprint(state)
    for number in numbers:
        folder = copied(state, state.with_name(f"{state.name}-{number}"))
        try:
            at, ended = killed(folder, Memory.history, number, first)
        except AssertionError as error:
            tally.problems.append(f"{where}{error}")
            return
        if ended:
            return
        tally.of_recovery += 1
        name = fingerprint(folder)
        if name not in known:
            known[name], problems = judged(folder, hope, number)
            tally.problems += [f"{where}{at}: {problem}" for problem in problems]
        if (known[first], known[name]) == ("done", "not done"):
            tally.problems.append(f"{where}{at}: after the first kill alone it would have been done")


def _from(first: int, step: int) -> Iterator[int]:
    while True:
        yield first
        first += step


def killed(folder: Path, act: Callable[[Memory], object], number: int, chance: str = "") -> tuple[str, bool]:
    """Lets a process do something with the memory in a folder, and kill itself at a boundary. Tells which one that was;
    or, where it has ended by itself before that, how many there are, and that it has. What it makes up by `chance` is
    the same each time."""
    reader, writer = os.pipe()
    child = os.fork()  # no thread runs here: see `run_alone`
    if not child:
        _act_and_die(folder, act, number, chance, writer)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return told, False
    if status:
        raise AssertionError(f"it failed by itself: {told}")
    return told, True


def _act_and_die(folder: Path, act: Callable[[Memory], object], number: int, chance: str, writer: int) -> NoReturn:
    tell, passed = os.write, 0

    def at_boundary(boundary: Boundary) -> None:
        nonlocal passed
        passed = boundary.number
        if boundary.number == number:
            tell(writer, str(boundary).encode())
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        with patch.object(os, "urandom", random.Random(chance).randbytes), watched(folder, at_boundary):
            act(opened(folder))
        tell(writer, str(passed).encode())
    except BaseException as error:  # noqa: BLE001 - a child of a fork must never come back from here
        tell(writer, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os._exit(0)


def fingerprint(folder: Path) -> str:
    """What two stores share that a recovery cannot tell apart: the bytes of all files, but for traces, names that are
    chance, and the index, of which the number of its last change will do."""
    found = []
    for file in sorted(folder.rglob("*")):
        name = str(file.relative_to(folder))
        if file.is_dir() or file.match("traces/*.jsonl"):
            continue
        data = file.read_bytes()
        if file.match("index.sqlite"):
            data = data[24:28]
        found.append((f"{file.parent}/*.tmp" if name.endswith(".tmp") else name, data))
    return hashlib.sha256(repr(sorted(found)).encode()).hexdigest()


def run_scene(scene: Scene, first: int = 1, step: int = 1, recovery_step: int = 1) -> Tally:
    """`kill_everywhere` in a process of its own."""
    steps = f"--first={first}", f"--step={step}", f"--recovery-step={recovery_step}"
    return Tally(**run_alone("tests.crash.kills", f"--scene={scene.name}", *steps))


def run_by_chance(kills: int, seed: int) -> Kills:
    """`kill_by_chance` in a process of its own."""
    return Kills(**run_alone("tests.crash.kills", f"--random={kills}", f"--seed={seed}", "--json"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Prints the table; ends with status 1 if something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.kills", description=__doc__)
    parser.add_argument("--every", action="store_true", help="kill at every boundary, of the recovery too")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="kill so often, from outside, by chance")
    parser.add_argument("--scene", help="one operation only, told as JSON")
    parser.add_argument("--first", type=int, default=1, help="the boundary to begin with")
    parser.add_argument("--step", type=int, default=1, help="every so many boundaries")
    parser.add_argument("--recovery-step", type=int, default=1, help="every so many boundaries of the recovery")
    parser.add_argument("--seed", type=int, default=0, help="another chance")
    parser.add_argument("--json", action="store_true", help="tell the kills by chance as JSON")
    chosen = parser.parse_args(arguments)
    steps = chosen.first, chosen.step, chosen.recovery_step
    if chosen.scene or chosen.json:
        with tempfile.TemporaryDirectory() as folder, unhurried():
            if chosen.json:
                told: Tally | Kills = kill_by_chance(Path(folder), chosen.random, chosen.seed)
            else:
                scene = next(scene for scene in SCENES if scene.name == chosen.scene)
                told = kill_everywhere(scene, Path(folder), *steps)
        print(json.dumps(asdict(told)))
        return
    if chosen.every == bool(chosen.random):
        parser.error("give --every or --random N")
    if not (_print_chance(chosen.random, chosen.seed) if chosen.random else _print_every(*steps)):
        sys.exit(1)


def _print_every(first: int, step: int, recovery_step: int) -> bool:
    """A row for each scene; whether all is well."""
    print(f"{'':26}" + "".join(f"{name:>{width}}" for name, width in COLUMNS.items()))
    sums = [0] * len(COLUMNS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for tally in pool.map(lambda scene: run_scene(scene, first, step, recovery_step), SCENES):
            print(f"{tally.scene:26}{_row(tally.cells)}", *tally.problems, sep="\n    ", flush=True)
            sums = [one + other for one, other in zip(sums, tally.cells, strict=True)]
    print(f"{'':26}{_row(sums)}")
    return not sums[-1]


def _row(cells: Sequence[int]) -> str:
    return "".join(f"{cell:>{width},}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def _print_chance(kills: int, seed: int) -> bool:
    """What the kills met and what came of it, each process with a share of them; whether all is well."""
    shares = [kills // 8 + (number < kills % 8) for number in range(8)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        told = list(pool.map(lambda pair: run_by_chance(pair[1], seed + pair[0]), enumerate(shares)))
    met, outcomes = Counter[str](), Counter[str]()
    for one in told:
        met.update(one.met)
        outcomes.update(one.outcomes)
    print(f"{sum(one.kills for one in told):,} kills, {sum(one.operations for one in told):,} operations returned")
    for title, counted in (("a kill met", met), ("what was under way is", outcomes)):
        print(f"{title:26}")
        for name, times in counted.most_common():
            print(f"{times:>8,}  {name}")
    problems = [problem for one in told for problem in one.problems]
    print(f"{len(problems)} problems", *problems, sep="\n    ")
    return not problems


if __name__ == "__main__":
    main()
