"""Processes that write at once: `python -m bench.race`. Every acknowledged text must be found again.

Eight processes write fifty texts each: to one page, to a tree that is splitting, and while another process undoes
operations and one edits pages by hand. At the end each text is looked for in the tree, and then in the history. It may
be in the history only if an undo removed it, or if somebody saved an older page over it by hand: an editor takes no
lock. A text that anything else removed is lost. The baseline is the folder for Claude's memory tool that comes with
`anthropic`.

Exits with status 1 if one of our texts is lost or stands twice, if a write or an undo fails, or if `check` finds an
error. `bench.threads` does the same with threads.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import TypeAlias

from bench.data import sentence
from bench.tables import Figures, table
from memory_v2 import Memory
from memory_v2.errors import NotAllowed
from memory_v2.settings import DEFAULT_THRESHOLD, MIN_THRESHOLD
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage

WRITERS, WRITES = 8, 50
MAX_SECONDS = 600.0
"""Limits a process, in seconds: one that takes longer is taken to hang."""
BY_HAND = "by hand"
"""The prefix of lines that the editor writes, and the kind of its notes."""
MAX_LATE_UNDOS = 20
"""Limits how many undos are tried after the writers are done, if none succeeded before."""
MAX_SHOWN = 10
"""Limits how many problems of a scene are printed."""
UNDO, OUTSIDE = "undo", "outside"
"""Kinds of revisions: of an undo, and of edits by hand."""

_OF_PROCESS: list[tuple[Barrier, Event]] = []
"""At what all processes of a race begin, and what tells that the writers are done: of the process that this is."""

Write: TypeAlias = Callable[[str], object]
Note: TypeAlias = tuple[str, str]
"""One note of a process: `kept`, `failed`, `undone` or `by hand`, and the text or the error."""
Beside: TypeAlias = Callable[[Event], Iterator[Note]]
"""What an additional process does until the writers are done."""


@dataclass(frozen=True)
class Outcome:
    """What became of the texts of one scene; `broken` are the guarantees that were broken, by kind."""

    acknowledged: int
    in_tree: int
    broken: Mapping[str, Sequence[str]]
    undone: int = 0
    by_hand: int = 0

    @property
    def in_history(self) -> int:
        """The acknowledged texts that are in the history only, for a reason that holds."""
        return self.acknowledged - self.in_tree - len(self.broken["lost"])

    @property
    def problems(self) -> list[str]:
        """The guarantees that were broken, in lines."""
        return [f"{kind}: {text}" for kind, texts in self.broken.items() for text in texts]

    @property
    def figures(self) -> Figures:
        """The row of a table."""
        row = {"acknowledged": self.acknowledged, "in tree": self.in_tree, "history": self.in_history}
        row |= {kind: len(texts) for kind, texts in self.broken.items()}
        return {**row, "undone": self.undone, "by hand": self.by_hand}


def main() -> None:
    """Prints a row for each scene. Exits with status 1 if a guarantee was broken."""
    rows, well = dict[str, Figures](), True
    for name, scene in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            outcome = scene(Path(folder))
        rows[name] = outcome.figures
        well &= scene is claude_folder or is_well(outcome)
    print(f"{WRITERS} processes, {WRITES} writes each\n{table(rows)}")
    sys.exit(not well)


def is_well(outcome: Outcome) -> bool:
    """Whether no guarantee was broken; prints those that were."""
    for problem, times in Counter(outcome.problems).most_common(MAX_SHOWN):
        print(f"{problem} ({times} times)", flush=True)
    return not outcome.problems


# The scenes


def one_page(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """All processes append to one page, which is split when it grows too large."""
    return _scene(folder, DEFAULT_THRESHOLD, _append, writers, writes)


def splitting_tree(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """All processes write without a path, and the threshold is so low that pages are split all the time."""
    return _scene(folder, MIN_THRESHOLD, _place, writers, writes)


def undo_and_hand_edits(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """The same, while one process undoes operations and another edits pages by hand."""
    beside = (partial(_undo_now_and_then, folder), partial(_edit_by_hand, folder))
    return _scene(folder, MIN_THRESHOLD, _place, writers, writes, beside)


def claude_folder(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """All processes insert into one file of a `BetaLocalFilesystemMemoryTool`."""
    from anthropic.tools import BetaLocalFilesystemMemoryTool

    tool = BetaLocalFilesystemMemoryTool(str(folder))
    tool.call({"command": "create", "path": "/memories/notes.md", "file_text": "# Notes\n"})
    notes = _race(partial(_insert, folder), writers, writes)
    lines = (folder / "memories" / "notes.md").read_text("utf-8").splitlines()
    return _outcome(notes, [lines], Past())


def _append(folder: Path) -> Write:
    memory = Memory.open(folder, "offline")
    return lambda text: memory.write(text, "notes", "append")


def _place(folder: Path) -> Write:
    return Memory.open(folder, "offline").write


def _insert(folder: Path) -> Write:
    from anthropic.tools import BetaLocalFilesystemMemoryTool

    tool = BetaLocalFilesystemMemoryTool(str(folder))
    command = {"command": "insert", "path": "/memories/notes.md", "insert_line": 1}
    return lambda text: tool.call({**command, "insert_text": text})


SCENES: Mapping[str, Callable[[Path], Outcome]] = {
    "one page": one_page,
    "a tree that is splitting": splitting_tree,
    "with undo and hand edits": undo_and_hand_edits,
    "Claude's memory folder": claude_folder,
}


def _scene(
    folder: Path,
    threshold: int,
    open_memory: Callable[[Path], Write],
    writers: int,
    writes: int,
    beside: Sequence[Beside] = (),
) -> Outcome:
    notes = _race(partial(open_memory, folder), writers, writes, beside, threshold)
    storage = LocalStorage(folder)
    with Memory(storage, threshold=threshold) as memory:
        memory.history()  # records what was edited by hand after the last write
        past = past_of(storage)
        if past.overwritten:
            memory.checkup(apply=True)  # saving over a page may have unlinked others
        findings = errors_of(memory)
    damaged = (folder / ".metadata").glob("history-damaged-*")
    findings += [f"a damaged history was set aside: {file.name}" for file in damaged]
    pages = [lines_of(storage.read(path).data) for path in storage.list_files()]
    return _outcome(notes, pages, past, findings)


def _outcome(
    notes: Sequence[Note], pages: Sequence[Sequence[str]], past: Past, findings: Sequence[str] = ()
) -> Outcome:
    noted: dict[str, list[str]] = {kind: [] for kind in ("kept", "failed", "undone", BY_HAND)}
    for kind, text in notes:
        noted[kind].append(text)
    in_tree = Counter(line for page in pages for line in page)
    kept = noted["kept"]
    gone = [text for text in kept if text not in in_tree]
    excuses = {kind for kind, happened in ((UNDO, noted["undone"]), (OUTSIDE, noted[BY_HAND])) if happened}
    broken = {
        "lost": [text for text in gone if past.taken.get(text) not in excuses],
        "twice": [text for text in kept if in_tree[text] > 1 and past.doubled.get(text) != OUTSIDE],
        "failed": noted["failed"],
        "check": findings,
    }
    return Outcome(len(kept), len(kept) - len(gone), broken, len(noted["undone"]), len(noted[BY_HAND]))


# The processes


def _race(
    prepare: Callable[[], Write],
    writers: int,
    writes: int,
    beside: Sequence[Beside] = (),
    threshold: int = DEFAULT_THRESHOLD,
) -> list[Note]:
    """Runs each writer, and everything beside them, in its own process. Returns all notes."""
    context, count = multiprocessing.get_context("spawn"), writers + len(beside)
    done = context.Event()
    with ProcessPoolExecutor(count, context, _prepare, (context.Barrier(count), done, threshold)) as pool:
        try:
            writing = [pool.submit(_write_all, prepare, number, writes) for number in range(writers)]
            other = [pool.submit(_go_on, act) for act in beside]
            notes = [note for one in writing for note in one.result(MAX_SECONDS)]
            done.set()
            return [*notes, *(note for one in other for note in one.result(MAX_SECONDS))]
        except BaseException:
            for process in multiprocessing.active_children():
                process.kill()
            raise


def _prepare(gate: Barrier, done: Event, threshold: int) -> None:
    os.environ["SILICA_MEMORY_SIZE_THRESHOLD"] = str(threshold)
    _OF_PROCESS.append((gate, done))


def _write_all(prepare: Callable[[], Write], number: int, writes: int) -> list[Note]:
    """Writes texts one by one, and notes each as soon as it is acknowledged."""
    write, notes = prepare(), list[Note]()
    _OF_PROCESS[0][0].wait(MAX_SECONDS)
    for count in range(writes):
        text = text_of(f"worker {number} text {count}")
        try:
            write(text)
            notes.append(("kept", text))
        except Exception as error:  # noqa: BLE001 - whatever was raised: it is not acknowledged, and it is shown
            notes.append(_failed(error))
    return notes


def _go_on(act: Beside) -> list[Note]:
    gate, done = _OF_PROCESS[0]
    gate.wait(MAX_SECONDS)
    return list(act(done))


def _failed(error: Exception) -> Note:
    return "failed", f"{type(error).__name__}: {error}"


def _undo_now_and_then(folder: Path, done: Event) -> Iterator[Note]:
    """Undoes operations while others write. Many undos are refused, so it continues until one succeeds."""
    memory, undone, late = Memory.open(folder, "offline"), 0, 0
    while not done.wait(0.02) or (not undone and late < MAX_LATE_UNDOS):
        late += done.is_set()
        try:
            yield "undone", memory.undo().revision
            undone += 1
        except NotAllowed:  # as often, for others are faster
            continue
        except Exception as error:  # noqa: BLE001 - as above
            yield _failed(error)


def _edit_by_hand(folder: Path, done: Event) -> Iterator[Note]:
    """Saves lines as an editor does, unless the file has changed since it was opened. Between that check and the save,
    editor and program may overwrite each other."""
    chance, count = random.Random(0), 0
    temporary = folder / ".by-hand.tmp"
    while not done.wait(0.05):
        paths = LocalStorage(folder).list_files()
        line = text_of(f"{BY_HAND} {count}")
        with suppress(FileNotFoundError, IndexError):  # there is no page yet, or it was removed while it was open
            file = folder / f"{chance.choice(paths)}.md"
            opened = _identity(file)
            data = file.read_bytes() + f"{line}\n".encode()
            if len(data) > MIN_THRESHOLD:
                continue  # too large a page is a finding, but not a fault
            done.wait(0.02)
            temporary.write_bytes(data)
            if _identity(file) == opened:
                temporary.replace(file)
                count += 1
                yield BY_HAND, line


def _identity(file: Path) -> tuple[int, int, int]:
    info = file.stat()
    return info.st_ino, info.st_mtime_ns, info.st_size


def text_of(name: str) -> str:
    """One unique line."""
    return f"- {name}: {sentence(random.Random(name))}"


# What became of the texts


@dataclass
class Past:
    """What the history says about lines: for each that is gone, the kind of revision that removed it, and for each that
    was there twice, the kind that doubled it. `overwritten` tells whether an edit by hand overwrote a stored text."""

    taken: dict[str, str] = field(default_factory=dict)
    doubled: dict[str, str] = field(default_factory=dict)
    overwritten: bool = False


def past_of(storage: MemoryStorage, replaced: Iterable[str] = ()) -> Past:
    """Follows each line through the history. A write that replaced a page of `replaced` is a delete's equal."""
    history, past = storage.history, Past()
    pages: dict[str, list[str]] = {}
    in_tree: Counter[str] = Counter()
    for revision in reversed(list(history.revisions())):
        versions = {path: history.read(revision.id, path) for path in revision.paths}
        before = Counter(line for path in versions for line in pages.get(path, ()))
        after = Counter(line for data in versions.values() if data is not None for line in lines_of(data))
        in_tree += after
        in_tree -= before
        is_replace = revision.kind == "write" and not set(replaced).isdisjoint(revision.paths)
        gone = (line for line in before - after if not in_tree[line])
        past.taken |= dict.fromkeys(gone, "delete" if is_replace else revision.kind)
        past.doubled |= {line: revision.kind for line in after - before if in_tree[line] > 1}
        pages |= {path: lines_of(data) if data is not None else [] for path, data in versions.items()}
        past.overwritten |= revision.kind == OUTSIDE and any(line.startswith("- ") for line in before - after)
    past.taken = {line: kind for line, kind in past.taken.items() if not in_tree[line]}
    return past


def errors_of(memory: Memory) -> list[str]:
    """What `check` says is wrong."""
    return [f"{found.kind} {found.path}: {found.message}" for found in memory.check() if found.severity == "error"]


def lines_of(page: bytes) -> list[str]:
    """The lines of a page."""
    return page.decode("utf-8").splitlines()


if __name__ == "__main__":
    main()
