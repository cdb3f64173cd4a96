"""Captures that are killed, and captures that race: `python -m tests.crash.capturing --kills 200 --race 8 250`.

A process captures one observation after another, and notes outside of the memory what it begins and what was
acknowledged. It is killed with `kill -9` at an instant by chance, and another one goes on. After each kill every
acknowledged entry must be there to the letter, under a number of its own, and no file may be torn. One that was begun
may be there or not. In the race, so many processes capture so often at the same time.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NoReturn

from memory_v2.memory import Memory
from memory_v2.storage.local.storage import LocalStorage

AGENT = "hawk"
LONGEST = 0.12
"""Seconds that pass at most until a process is killed: some captures, or a part of the first."""
PICK_UP = 7
"""After so many captures they are brought into the history, so that a kill meets that too."""
PATIENCE = 120.0
"""Seconds after which a process that does not begin to capture hangs."""


@dataclass
class Tally:
    """What came of it, and what is wrong."""

    kills: int = 0
    acknowledged: int = 0
    begun_and_kept: int = 0
    begun_and_gone: int = 0
    problems: list[str] = field(default_factory=list)


def main() -> None:
    """Prints a tally as JSON; exits with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--race", type=int, nargs=2, metavar=("PROCESSES", "CAPTURES"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = Tally()
        if given.kills:
            tally = kill(Path(folder), given.kills, given.seed)
        if given.race:
            processes, captures = given.race
            race(Path(folder), processes, captures, tally)
    print(json.dumps(asdict(tally)))
    sys.exit(bool(tally.problems))


def kill(folder: Path, kills: int, seed: int) -> Tally:
    """Kills so often, and looks after each kill."""
    with Memory(LocalStorage(folder / "warm")) as memory:  # so that each process begins with what a capture needs
        memory.entries.capture("Warm.")
        memory.entries.pick_up()
    chance, tally = random.Random(seed), Tally()
    store, log = folder / "killed", folder / "log"
    log.touch()
    for number in range(kills):
        begun = log.stat().st_size
        child = _forked(lambda number=number: _capture_on(store, log, f"{seed}-{number}"))  # type: ignore[misc]
        _wait(log, begun)
        time.sleep(chance.uniform(0.0, LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        tally.kills += 1
        _look(store, log, tally, f"seed {seed}, kill {number}")
        if tally.problems:
            break
    return tally


def race(folder: Path, processes: int, captures: int, tally: Tally) -> None:
    """So many processes capture so often at the same time; then one looks."""
    store, log = folder / "raced", folder / "race-log"
    log.touch()
    children = [_forked(lambda number=number: _captures(store, log, number, captures)) for number in range(processes)]  # type: ignore[misc]
    failed = sum(os.waitpid(child, 0)[1] != 0 for child in children)
    if failed:
        tally.problems.append(f"{failed} processes ended with an error")
    before = tally.acknowledged
    _look(store, log, tally, "race", before)
    if (kept := tally.acknowledged - before) != processes * captures:
        tally.problems.append(f"of {processes * captures:,} captures {kept:,} are there")


def _forked(act: Callable[[], NoReturn]) -> int:
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException:  # noqa: BLE001 - the end of a forked process
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def _capture_on(store: Path, log: Path, name: str) -> NoReturn:
    """Captures until it is killed."""
    with Memory(LocalStorage(store)) as memory:
        number = 0
        while True:
            number += 1
            _capture(memory, log, f"{name} {number}")
            if number % PICK_UP == 0:
                memory.entries.pick_up()


def _captures(store: Path, log: Path, process: int, captures: int) -> NoReturn:
    with Memory(LocalStorage(store)) as memory:
        for number in range(captures):
            _capture(memory, log, f"process {process}, capture {number}")
    os._exit(0)


def _capture(memory: Memory, log: Path, name: str) -> None:
    text = f"Observation {name}: " + " ".join(f"word{number}" for number in range(200)) + f". The end of {name}.\n"
    _note(log, "begun", "", text)
    _note(log, "acknowledged", memory.entries.capture(text, AGENT).id, text)


def _note(log: Path, what: str, entry_id: str, text: str) -> None:
    with log.open("ab", buffering=0) as stream:
        stream.write(b"\n" + json.dumps([what, entry_id, text]).encode() + b"\n")  # one before may have been cut short


def _notes(log: Path) -> Iterator[list[str]]:
    for line in filter(None, log.read_bytes().splitlines()):
        with suppress(ValueError):  # the kill met the note: then it does not count
            yield json.loads(line)


def _wait(log: Path, size: int) -> None:
    """Waits until the process has begun something."""
    until = time.monotonic() + PATIENCE
    while log.stat().st_size == size and time.monotonic() < until:
        time.sleep(0.001)


def _look(store: Path, log: Path, tally: Tally, where: str, before: int = 0) -> None:
    """Compares what is noted with what is there, as another process sees it."""
    notes = list(_notes(log))
    begun = {text for what, _, text in notes if what == "begun"}
    told = [(entry_id, text) for what, entry_id, text in notes if what == "acknowledged"]
    acknowledged = dict(told)
    with Memory(LocalStorage(store)) as memory:
        tally.problems += [f"{where}: {found.path}: {found.message}" for found in memory.check()]
        there = {entry.id: entry.text for entry in memory.entries.list_entries()}
    if len(acknowledged) != len(told):
        tally.problems.append(f"{where}: a number was given twice")
    lost = [entry_id for entry_id, text in acknowledged.items() if there.get(entry_id) != text]
    tally.problems += [f"{where}: {entry_id} is lost, or is another" for entry_id in lost]
    tally.problems += [f"{where}: {entry_id} is torn" for entry_id, text in there.items() if text not in begun]
    if len(set(there.values())) != len(there):
        tally.problems.append(f"{where}: a text is there twice")
    tally.acknowledged = before + len(told)
    kept = len(there) - len(acknowledged)
    tally.begun_and_kept, tally.begun_and_gone = kept, len(begun) - len(there)


if __name__ == "__main__":
    main()
