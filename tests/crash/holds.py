"""What must hold of a store that a program was killed on, or that a disk failed, once it is used again."""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from memory_v2.errors import NotAllowed, PageNotFound
from memory_v2.memory import Memory
from memory_v2.storage.local import git_history
from memory_v2.storage.local.git_history import FOLDER
from memory_v2.storage.local.git_objects import MAKING
from memory_v2.storage.local.state_files import LocalState
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.local.walk import METADATA
from memory_v2.tree.path import ENTRIES
from tests.crash.scenes import THRESHOLD, Scene, copied, opened
from tests.properties.whole import faults, pages_of, stands

AFTERWARDS = "- what is written when all that is over: kestrels nest at the mill"

LEFT = re.compile(r"(^|/)(\.silica-[^/]*\.tmp|[^/]*\.tmp|[^/]+\.lock|index\.sqlite-[^/]+|tmp\w+(\.pack)?)$")
NOTED = re.compile(rf"^{re.escape(METADATA)}/pending/.+$")
SET_ASIDE = re.compile(rf"^{re.escape(METADATA)}/history-damaged-\d+\.git$")
SWEPT_LATER = (f"{METADATA}/traces/", f"{METADATA}/{FOLDER}/", f"{METADATA}/{MAKING}")
"""Where what is left goes when the next trace is kept, and the next change is recorded or packed."""
_REVISION = re.compile(r"\b[0-9a-f]{12}\b")

AGO = 3_600.0
"""The seconds by which a crash lies back when the memory is used again."""

FIRST_USES: tuple[Callable[[Memory], object], ...] = (
    Memory.list_files,
    lambda memory: memory.read(),
    lambda memory: memory.search("boat"),
    Memory.check,
    Memory.history,
)


@dataclass(frozen=True, slots=True)
class Look:
    """What a memory shows: its pages to the byte, what was done, and what does not hold."""

    tree: dict[str, bytes]
    past: tuple[tuple[object, ...], ...]
    findings: tuple[str, ...]

    @property
    def nearly(self) -> Look:
        """The same without names of revisions, which are chance."""
        past = tuple((kind, _REVISION.sub("…", str(summary)), *rest) for kind, summary, *rest in self.past)
        return replace(self, past=past)

    def differences(self, other: Look) -> Iterator[str]:
        """In what another look is otherwise."""
        paths = sorted(self.tree.keys() | other.tree.keys())
        if pages := [path for path in paths if self.tree.get(path) != other.tree.get(path)]:
            yield f"pages {', '.join(pages)}"
        if self.past != other.past:
            lacks, has = _besides(self.past, other.past), _besides(other.past, self.past)
            yield f"the history lacks {lacks}, and has besides {has}"
        if self.findings != other.findings:
            yield f"findings {', '.join(other.findings)}"


def _besides(past: tuple[tuple[object, ...], ...], other: tuple[tuple[object, ...], ...]) -> list[tuple[object, ...]]:
    return [one for one in past if one not in other]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a scene's store shows before its operation and after it; and the tree when that is undone, if it can be."""

    before: Look
    after: Look
    undone: dict[str, bytes] | None


def look(memory: Memory) -> Look:
    """All that a memory shows now, edits by hand noticed."""
    past = memory.history()
    findings = [f"{finding.severity} {finding.kind} {finding.path}" for finding in memory.check()]
    return Look(
        tree_of(memory),
        tuple((one.first.kind, one.first.summary, one.paths, len(one.revisions), bool(one.undone_by)) for one in past),
        (*findings, *faults(pages_of(memory.storage), THRESHOLD)),
    )


def tree_of(memory: Memory) -> dict[str, bytes]:
    """All pages and entries as they are stored."""
    paths = [*memory.storage.list_files(), *(stamp.path for stamp in memory.storage.stamps(ENTRIES))]
    return {path: memory.storage.read(path).data for path in paths}


def expected(scene: Scene, store: Path, folder: Path) -> Expected:
    """What comes of a scene when nothing interrupts it."""
    first, second = copied(store, folder / "before"), copied(store, folder / "after")
    scene.by_hand(first)
    scene.by_hand(second)
    with opened(first) as memory:
        before = look(memory)
    with opened(second) as memory:
        scene.act(memory)
        return Expected(before, look(memory), undone(memory))


def undone(memory: Memory) -> dict[str, bytes] | None:
    """The tree when what was done last is taken back; `None` if that is refused."""
    try:
        memory.undo(memory.history()[0].id)
    except NotAllowed:
        return None
    return tree_of(memory)


def leftovers(folder: Path) -> list[str]:
    """What an interrupted program has left that is of no use to anybody."""
    found = sorted(str(place.relative_to(folder)) for place in folder.rglob("*"))
    return [name for name in found if LEFT.search(name) or NOTED.match(name) or SET_ASIDE.match(name)]


def is_promised(folder: Path) -> bool:
    """Whether something is noted that has to be done."""
    return bool(interrupted(folder)) or LocalStorage(folder).interrupted() is not None


def interrupted(folder: Path) -> int:
    """How many things are left of which whoever asked for them does not know whether they are done: a change that was
    cut short, a text that waits."""
    told = [json.loads(file.read_bytes()) for file in (folder / METADATA / "pending").glob("*.json")]
    change = LocalStorage(folder).interrupted()
    return sum("text" in note for note in told) or int(change is not None)


def age(folder: Path) -> None:
    """Makes what lies about as old as it is when somebody comes back after a while."""
    then = time.time() - AGO
    for place in folder.rglob("*"):
        if LEFT.search(place.name):
            os.utime(place, (then, then))


def judged(folder: Path, hope: Expected, first_use: int = 0, still_open: Memory | None = None) -> tuple[str, list[str]]:
    """Whether the interrupted operation is done now, `done` or `not done`, and what is wrong: for whoever has the
    memory `still_open`, and then for the next that opens it. Uses the store up."""
    promised, unknown = is_promised(folder), interrupted(folder)
    age(folder)
    seen: list[str] = []
    with heard() as warnings:
        try:
            if still_open is not None:
                _use(still_open, first_use)
                if (now := look(still_open)) not in (hope.before, hope.after):
                    seen = [f"as who had it open saw it: {each}" for each in hope.after.differences(now)]
                still_open.close()
            with opened(folder) as memory:
                _use(memory, first_use)
                outcome, problems = _judged(memory, hope)
                told = [str(done) for done in memory.recover()]
        except Exception as error:  # noqa: BLE001 - whatever it is, a memory that is all right does not raise it
            return "failed", [f"{type(error).__name__}: {error}", *warnings]
    if still_open is None and (len(told) < unknown or (told and not promised)):
        problems.append(f"{unknown} things were interrupted, and it says {told}")
    if promised and outcome == "not done":
        problems.append("it was noted, and is not done")
    problems += seen
    return outcome, problems + (warnings if problems else [])


def _use(memory: Memory, first_use: int) -> None:
    with suppress(PageNotFound):
        FIRST_USES[first_use % len(FIRST_USES)](memory)


def _judged(memory: Memory, hope: Expected) -> tuple[str, list[str]]:
    now = look(memory)
    memory.close()
    folder = Path(memory.storage.where)
    problems = [f"left behind: {name}" for name in leftovers(folder) if not name.startswith(SWEPT_LATER)]
    if now == hope.after:
        outcome = "done"
        if undone(memory) != hope.undone:
            problems.append("its undo does not give back what was before")
    elif now == hope.before:
        outcome = "not done"
    else:
        outcome = "half"
        problems += [f"not as before: {difference}" for difference in hope.before.differences(now)]
        problems += [f"not as after: {difference}" for difference in hope.after.differences(now)]
    memory.write(AFTERWARDS)
    if not stands(memory, AFTERWARDS):
        problems.append("what is written afterwards is not in the tree")
    if any(folder.glob(f"{METADATA}/{FOLDER}/objects/pack/*")):
        memory.pack_history()
    problems += [f"left behind: {name}" for name in leftovers(folder) if name.startswith(SWEPT_LATER)]
    return outcome, problems


@contextmanager
def unhurried() -> Iterator[None]:
    """Nothing waits for the disk, which is not going to fail, nor for a git that nobody runs."""
    with (
        patch.object(os, "fsync"),
        patch.object(git_history, "GIT_SECONDS", 0.0),
        patch.object(LocalState, "recovery_interval", 0.0),
    ):
        yield


@contextmanager
def heard() -> Iterator[list[str]]:
    """What the program says to whoever looks after it: its warnings."""
    said: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            error = f" ({record.exc_info[1]})" if record.exc_info else ""
            said.append(f"it warned: {record.getMessage()}{error}")

    ear, logger = Ear(logging.WARNING), logging.getLogger("memory_v2")
    logger.addHandler(ear)
    propagates, logger.propagate = logger.propagate, False
    try:
        yield said
    finally:
        logger.removeHandler(ear)
        logger.propagate = propagates
