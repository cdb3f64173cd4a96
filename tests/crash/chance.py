"""Kills from outside, at any instant of a long history by chance: `python -m tests.crash.kills --random 1000`.

A process does one thing after another with a memory and notes outside of it what it begins and what has returned. It is
killed again and again, and another goes on with what it has left. The same is done, without kills, with a second
memory: after each kill the first one, as it recovers, shows byte for byte what the second one shows.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import NoReturn

from memory_v2.errors import NotAllowed, PageExists, PageNotFound, SilicaError
from memory_v2.memory import Memory
from memory_v2.storage.local.walk import METADATA
from tests.crash.holds import SWEPT_LATER, Look, age, heard, leftovers, look
from tests.crash.scenes import copied, opened

MOST_NOTES = 6
"""A process is killed at the latest after so many notes: it notes what it begins and what has returned."""
LONGEST = 0.06
"""Seconds that pass at most between the last of these notes and the kill: about as long as an operation takes."""
PATIENCE = 120.0
"""Seconds after which a process that notes nothing more hangs."""
ROUND = 30
"""Kills of one store, before another is begun."""

_WORDS = ["alice", "boat", "carmen", "deploy", "engine", "ferry", "garden", "harbour", "island", "jetty", "kiln"]


@dataclass
class Kills:
    """What the kills met, what became of what was under way, and what is wrong."""

    seed: int
    kills: int = 0
    operations: int = 0
    met: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def kill_by_chance(folder: Path, kills: int, seed: int = 0) -> Kills:
    """Kills so often, and tells what came of it."""
    tally = Kills(seed)
    for number in count():
        if tally.kills >= kills:
            return tally
        _round(tally, folder / f"round-{number}", min(ROUND, kills - tally.kills), f"{seed} {number}")
    raise AssertionError("a count has no end")


def _round(tally: Kills, folder: Path, kills: int, name: str) -> None:
    chance = random.Random(name)
    store, log = folder / "store", folder / "log"
    twin = copied(_made(store), folder / "twin")
    done, shown = 0, _repeat(twin, name, 0, 0)
    for kill in range(kills):
        log.write_bytes(b"")
        child = os.fork()
        if not child:
            _live(store, log, name, done)
        _wait_for(chance.randint(0, MOST_NOTES), log)
        time.sleep(chance.uniform(0.0, LONGEST))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        tally.kills += 1
        begun, returned, failures = _read(log, done)
        where = f"seed {name}, kill {kill}, operation {begun}"
        tally.problems += [f"{where}: {failure}" for failure in failures]
        tally.operations += returned - done
        met = _met(store, begun > returned, begun > done)
        if returned > done:
            done, shown = returned, _repeat(twin, name, done, returned)
        hopes = {"not done": shown}
        if begun > done:
            following = copied(twin, folder / f"twin-{kill}")
            hopes = {"done": _repeat(following, name, done, begun), **hopes}
        outcome, problems = _judged(copied(store, folder / f"judged-{kill}"), hopes)
        _count(tally.met, met)
        _count(tally.outcomes, outcome if begun > done else "nothing was under way")
        tally.problems += [f"{where}, {met}: {problem}" for problem in problems]
        if problems:
            return
        if begun > done and outcome == "done":
            done, shown, twin = begun, hopes[outcome], following


def _count(tally: dict[str, int], name: str) -> None:
    tally[name] = tally.get(name, 0) + 1


def _made(store: Path) -> Path:
    store.mkdir(parents=True)
    return store


def _live(store: Path, log: Path, name: str, done: int) -> NoReturn:
    """What the process does that is going to be killed."""
    note = os.open(log, os.O_WRONLY | os.O_APPEND)
    try:
        memory = opened(store)
        memory.history()
        for number in count(done + 1):
            os.write(note, b"begun %d\n" % number)
            step(memory, f"{name} {number}")
            os.write(note, b"returned %d\n" % number)
    except BaseException as error:  # noqa: BLE001 - a child of a fork must never come back from here
        os.write(note, f"failed {type(error).__name__}: {error}".replace("\n", " ").encode() + b"\n")
    os._exit(1)


def _wait_for(notes: int, log: Path) -> None:
    """Until the process has noted so much, or that it failed."""
    end = time.monotonic() + PATIENCE
    while (noted := log.read_bytes()).count(b"\n") < notes and b"failed" not in noted:
        assert time.monotonic() < end, f"no {notes} notes within {PATIENCE:.0f} seconds, only {noted!r}"
        time.sleep(0.001)


def _read(log: Path, done: int) -> tuple[int, int, list[str]]:
    """The last operation that was begun, the last that returned, and what failed."""
    begun = returned = done
    failures = []
    for line in log.read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "begun":
            begun = int(rest)
        elif word == "returned":
            returned = int(rest)
        else:
            failures.append(rest)
    return begun, returned, failures


def _repeat(twin: Path, name: str, done: int, wanted: int) -> Look:
    """Does the same with the memory that nobody kills, and tells what it shows then."""
    with opened(twin) as memory:
        for number in range(done + 1, wanted + 1):
            step(memory, f"{name} {number}")
        return look(memory)


def _judged(folder: Path, hopes: dict[str, Look]) -> tuple[str, list[str]]:
    """Which of the looks the memory in a folder has when it has recovered."""
    age(folder)
    with heard() as warnings, opened(folder) as memory:
        try:
            now = look(memory)
        except SilicaError as error:
            return "failed", [f"{type(error).__name__}: {error}", *warnings]
    problems = [f"left behind: {name}" for name in leftovers(folder) if not name.startswith(SWEPT_LATER)]
    outcome = next((outcome for outcome, hope in hopes.items() if now.nearly == hope.nearly), "half")
    if outcome == "half":
        problems += [f"not as if {name}: {each}" for name, hope in hopes.items() for each in hope.differences(now)]
    return outcome, problems + (warnings if problems else [])


def _met(store: Path, is_under_way: bool, has_begun: bool) -> str:
    """What a kill has met, by what it has left."""
    metadata = store / METADATA
    names = [str(place.relative_to(metadata)) for place in metadata.rglob("*")]
    texts = [file.read_bytes() for file in (metadata / "pending").glob("*.json")]
    if (metadata / "journal.json").exists():
        locked = any(name.startswith("history.git/") and name.endswith(".lock") for name in names)
        met = "a journal and a lock of the history" if locked else "a journal"
    elif any(b'"text"' in text for text in texts):
        met = "a text that waits"
    elif texts:
        met = "a page that is still to be split"
    elif any(name.endswith("-journal") for name in names):
        met = "a write to the index"
    elif any(name.endswith(".tmp") for name in names):
        met = "a temporary file"
    elif is_under_way:
        met = "an operation without a trace"
    else:
        met = "nothing under way"
    return met if has_begun else f"{met}, before the first operation of a process"


def step(memory: Memory, name: str) -> None:
    """One thing that people do with a memory, by chance; the same for the same name and the same tree."""
    chance = random.Random(name)
    pages = memory.storage.list_files()
    page = chance.choice(pages) if pages else "memory"
    other = f"{chance.choice(_WORDS)}/{chance.choice(_WORDS)}"
    number = name.rpartition(" ")[2]
    text = "".join(
        f"- {number}.{line}: {' '.join(chance.sample(_WORDS, 6))}\n" for line in range(chance.randrange(1, 14))
    )
    acts: dict[Callable[[], object], int] = {
        lambda: memory.write(text): 5,
        lambda: memory.write(text, other): 2,
        lambda: memory.write(text, page, "append"): 3,
        lambda: memory.write(text, page, "replace"): 1,
        lambda: memory.split(page): 1,
        lambda: memory.merge(page): 1,
        lambda: memory.rename(page, other): 1,
        lambda: memory.delete(page): 1,
        lambda: memory.undo(): 1,
        lambda: _restored(memory, chance): 1,
        lambda: memory.checkup(apply=True): 1,
        lambda: memory.pack_history(): 1,
        lambda: _edit(memory, page, f"- {number} by hand"): 1,
    }
    act = chance.choices(list(acts), list(acts.values()))[0]
    try:
        act()
    except (NotAllowed, PageExists, PageNotFound):
        return


def _restored(memory: Memory, chance: random.Random) -> object:
    past = memory.history()
    return past and memory.restore(chance.choice(past).id)


def _edit(memory: Memory, page: str, line: str) -> None:
    """What an editor does that saves a file as a whole."""
    file = Path(memory.storage.where) / f"{page}.md"
    if file.exists():
        saved = file.with_name(f"{file.name}~")
        saved.write_bytes(file.read_bytes().replace(b"\n\n", f"\n\n{line}\n\n".encode(), 1))
        saved.replace(file)
        memory.history()  # so that this edit and one that follows are two in the history, killed or not
