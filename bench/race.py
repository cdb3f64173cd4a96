"""Concurrent writers: `python -m bench.race`. Every acknowledged text must be found again.

Each process records every text whose write has returned. At the end each of these texts is looked for in the tree, and
then in the history. It may be in the history only if an undo removed it, or if somebody saved an older page over it by
hand; a text removed by anything else is lost. The baseline is the folder for Claude's memory tool that comes with
`anthropic`.

Exits with status 1 if one of our texts is lost or duplicated, if one of our writes or undos fails, or if `check` finds
an error.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Barrier, Event
from pathlib import Path
from typing import TypeAlias

from memory_v2 import Memory
from memory_v2.errors import NotAllowed
from memory_v2.operations.history import UNDO
from memory_v2.settings import DEFAULT_THRESHOLD, MIN_THRESHOLD
from memory_v2.storage.history import EXTERNAL
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.local.walk import METADATA

WRITERS, WRITES = 8, 50
MAX_SECONDS = 600.0
"""Limits a process, in seconds: one that takes longer is taken to hang."""
BY_HAND = "by hand"
"""The prefix of lines that the editor writes, and the kind of its notes."""
MAX_LATE_UNDOS = 20
"""Limits how many undos are tried after the writers are done, if none succeeded before."""
MAX_SHOWN = 10
"""Limits how many problems of a scene are printed."""
COLUMNS = {
    "attempted": 11,
    "acknowledged": 14,
    "kept": 8,
    "in tree": 9,
    "history": 9,
    "lost": 6,
    "twice": 7,
    "failed": 8,
    "check": 7,
    "pages": 7,
    "seconds": 9,
}

_SUBJECTS = "the harbour|the night train|Ines|the third release|our auditor|the old index|Fjordbank|the kitchen"
_VERBS = "waits for|was moved by|depends on|is paid by|replaces|asked about|knows|closes before"
_OBJECTS = "the spring sale|a signed contract|staging|two engineers|Porto|the blue key|the May review|nobody"

Write: TypeAlias = Callable[[str], object]
Note: TypeAlias = tuple[str, str]
"""One note of a process: `kept`, `failed`, `undone`, `refused` or `by hand`, and the text or the error."""
Beside: TypeAlias = Callable[[Event], Iterator[Note]]
"""What an additional process does until the writers are done."""


@dataclass(frozen=True)
class Outcome:
    """What became of the texts of one scene. An editor takes no lock, so its saves (`by_hand`) may overwrite a text
    (`overwrote`) or be overwritten (`overwritten`). Neither is guaranteed against."""

    name: str
    attempted: int
    acknowledged: int
    in_tree: int
    in_history: int
    lost: tuple[str, ...]
    twice: tuple[str, ...]
    failures: tuple[str, ...]
    findings: tuple[str, ...]
    pages: int
    seconds: float
    undone: int
    refused: int
    by_hand: int
    overwrote: int
    overwritten: int

    @property
    def kept(self) -> float:
        """The share of the acknowledged texts that was found."""
        return (self.in_tree + self.in_history) / max(1, self.acknowledged)

    @property
    def problems(self) -> list[str]:
        """The guarantees that were broken."""
        kinds = {"lost": self.lost, "twice": self.twice, "failed": self.failures, "check": self.findings}
        return [f"{kind}: {text}" for kind, texts in kinds.items() for text in texts]


def main() -> None:
    """Prints the table. Exits with status 1 if a guarantee was broken."""
    print(f"{WRITERS} processes, {WRITES} writes each\n{'':26}" + _row(COLUMNS))
    well = True
    for scene in (one_page, splitting_tree, undo_and_hand_edits):
        with tempfile.TemporaryDirectory() as folder:
            outcome = scene(Path(folder))
        print(f"{outcome.name:26}{_row(_cells(outcome))}")
        print("".join(f"    {remark}\n" for remark in _remarks(outcome)), end="", flush=True)
        well = well and not outcome.problems
    with tempfile.TemporaryDirectory() as folder:
        outcome = claude_folder(Path(folder))
    print(f"{outcome.name:26}{_row(_cells(outcome))}")
    if not well:
        sys.exit(1)


def _row(cells: Iterable[object]) -> str:
    return "".join(f"{cell!s:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def _cells(outcome: Outcome) -> tuple[object, ...]:
    return (
        *(outcome.attempted, outcome.acknowledged, f"{outcome.kept:.1%}"),
        *(outcome.in_tree, outcome.in_history, len(outcome.lost), len(outcome.twice)),
        *(len(outcome.failures), len(outcome.findings), outcome.pages, f"{outcome.seconds:.1f}"),
    )


def _remarks(outcome: Outcome) -> Iterator[str]:
    if outcome.undone or outcome.refused:
        yield f"{outcome.undone} operations undone meanwhile, {outcome.refused} undos refused"
    if outcome.by_hand:
        yield (
            f"{outcome.by_hand} lines saved by hand; {outcome.overwrote} of them went over what was just being stored, "
            f"{outcome.overwritten} were overwritten so themselves"
        )
    for problem, times in Counter(outcome.problems).most_common(MAX_SHOWN):
        yield f"{problem} ({times} times)" if times > 1 else problem


# The scenes


def one_page(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """All processes append to one page, which is split when it grows too large."""
    return _scene("one page", folder, DEFAULT_THRESHOLD, _append, writers, writes)


def splitting_tree(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """All processes write without a path, and the threshold is so low that pages are split all the time."""
    return _scene("a tree that is splitting", folder, MIN_THRESHOLD, _place, writers, writes)


def undo_and_hand_edits(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """The same, while one process undoes operations and another edits pages by hand."""
    beside = (partial(_undo_now_and_then, folder), partial(_edit_by_hand, folder))
    return _scene("with undo and hand edits", folder, MIN_THRESHOLD, _place, writers, writes, beside)


def claude_folder(folder: Path, writers: int = WRITERS, writes: int = WRITES) -> Outcome:
    """All processes insert into one file of a `BetaLocalFilesystemMemoryTool`."""
    from anthropic.tools import BetaLocalFilesystemMemoryTool

    tool = BetaLocalFilesystemMemoryTool(str(folder))
    tool.call({"command": "create", "path": "/memories/notes.md", "file_text": "# Notes\n"})
    notes, seconds = _race(partial(_insert, folder), writers, writes)
    lines = (folder / "memories" / "notes.md").read_text("utf-8").splitlines()
    return _outcome("Claude's memory folder", writers * writes, notes, seconds, [lines])


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


def _scene(
    name: str,
    folder: Path,
    threshold: int,
    open_memory: Callable[[Path], Write],
    writers: int,
    writes: int,
    beside: Sequence[Beside] = (),
) -> Outcome:
    notes, seconds = _race(partial(open_memory, folder), writers, writes, beside, threshold)
    storage = LocalStorage(folder)
    with Memory(storage, threshold=threshold) as memory:
        memory.history()  # records what was edited by hand after the last write
        past = _read_past(storage)
        if past.overwritten:
            memory.checkup(apply=True)  # saving over a page may have unlinked others
        findings = [f"{f.kind} {f.path}: {f.message}" for f in memory.check() if f.severity == "error"]
    findings += [
        f"a damaged history was set aside: {file.name}" for file in (folder / METADATA).glob("history-damaged-*")
    ]
    pages = [_lines(storage.read(path).data) for path in storage.list_files()]
    return _outcome(name, writers * writes, notes, seconds, pages, past, findings)


# The processes


def _race(
    prepare: Callable[[], Write],
    writers: int,
    writes: int,
    beside: Sequence[Beside] = (),
    threshold: int = DEFAULT_THRESHOLD,
) -> tuple[list[Note], float]:
    """Runs each writer, and everything beside them, in its own process. Returns all notes, and how many seconds the
    writers took."""
    context = multiprocessing.get_context("spawn")
    gate, done = context.Barrier(writers + len(beside) + 1), context.Event()
    with tempfile.TemporaryDirectory() as place:
        logs = [Path(place) / str(number) for number in range(writers + len(beside))]
        writing = [
            context.Process(target=_write_all, args=(prepare, number, writes, threshold, gate, logs[number]))
            for number in range(writers)
        ]
        other = [
            context.Process(target=_go_on, args=(act, threshold, gate, done, log))
            for act, log in zip(beside, logs[writers:], strict=True)
        ]
        try:
            for process in (*writing, *other):
                process.start()
            gate.wait(MAX_SECONDS)
            began = time.perf_counter()
            _join(writing)
            seconds = time.perf_counter() - began
            done.set()
            _join(other)
        finally:
            for process in (*writing, *other):
                if process.is_alive():
                    process.kill()
                    process.join()
        return [note for log in logs for note in _read_notes(log)], seconds


def _join(processes: Iterable[SpawnProcess]) -> None:
    until = time.monotonic() + MAX_SECONDS
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
        if process.exitcode != 0:
            raise RuntimeError(f"a process of the race ended with {process.exitcode}")


def _write_all(
    prepare: Callable[[], Write], number: int, writes: int, threshold: int, gate: Barrier, log: Path
) -> None:
    """Writes texts one by one, and records each as soon as it is acknowledged."""
    os.environ["SILICA_MEMORY_SIZE_THRESHOLD"] = str(threshold)
    write = prepare()
    gate.wait(MAX_SECONDS)
    with log.open("w", encoding="utf-8") as notes:
        for count in range(writes):
            text = _text(f"worker {number} text {count}")
            try:
                write(text)
                note: Note = ("kept", text)
            except Exception as error:  # noqa: BLE001 - whatever was raised: it is not acknowledged, and it is shown
                note = _failed(error)
            print(json.dumps(note), file=notes, flush=True)


def _go_on(act: Beside, threshold: int, gate: Barrier, done: Event, log: Path) -> None:
    os.environ["SILICA_MEMORY_SIZE_THRESHOLD"] = str(threshold)
    gate.wait(MAX_SECONDS)
    with log.open("w", encoding="utf-8") as notes:
        for note in act(done):
            print(json.dumps(note), file=notes, flush=True)


def _read_notes(log: Path) -> Iterator[Note]:
    for line in log.read_text("utf-8").splitlines():
        kind, text = json.loads(line)
        yield kind, text


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
        except NotAllowed as refusal:
            yield "refused", str(refusal)
        except Exception as error:  # noqa: BLE001 - as above
            yield _failed(error)


def _edit_by_hand(folder: Path, done: Event) -> Iterator[Note]:
    """Saves lines as an editor does, unless the file has changed since it was opened. Between that check and the save,
    editor and program may overwrite each other."""
    chance, count = random.Random(0), 0
    temporary = folder / ".by-hand.tmp"
    while not done.wait(0.05):
        paths = LocalStorage(folder).list_files()
        line = _text(f"{BY_HAND} {count}")
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


def _text(name: str) -> str:
    """One unique line."""
    chance = random.Random(name)
    said = " ".join(chance.choice(words.split("|")) for words in (_SUBJECTS, _VERBS, _OBJECTS))
    return f"- {name}: {said}"


# What became of the texts


@dataclass(frozen=True)
class _Past:
    """What the history says about lines: for each that is gone, the kind of commit that removed it, and for each that
    is there twice, the kind that duplicated it. `overwritten` counts edits by hand that overwrote a stored text."""

    taken: Mapping[str, str]
    doubled: Mapping[str, str]
    overwritten: int


def _outcome(
    name: str,
    attempted: int,
    notes: Sequence[Note],
    seconds: float,
    pages: Sequence[Sequence[str]],
    past: _Past | None = None,
    findings: Sequence[str] = (),
) -> Outcome:
    told: dict[str, list[str]] = {kind: [] for kind in ("kept", "failed", "undone", "refused", BY_HAND)}
    for kind, text in notes:
        told[kind].append(text)
    past = past or _Past({}, {}, 0)
    standing = Counter(line for page in pages for line in page)
    kept = told["kept"]
    gone = [text for text in kept if text not in standing]
    excuses = {kind for kind, happened in ((UNDO, told["undone"]), (EXTERNAL, told[BY_HAND])) if happened}
    lost = tuple(text for text in gone if past.taken.get(text) not in excuses)
    return Outcome(
        name,
        attempted,
        acknowledged=len(kept),
        in_tree=len(kept) - len(gone),
        in_history=len(gone) - len(lost),
        lost=lost,
        twice=tuple(text for text in kept if standing[text] > 1 and past.doubled.get(text) != EXTERNAL),
        failures=tuple(told["failed"]),
        findings=tuple(findings),
        pages=len(pages),
        seconds=seconds,
        undone=len(told["undone"]),
        refused=len(told["refused"]),
        by_hand=len(told[BY_HAND]),
        overwrote=past.overwritten,
        overwritten=sum(text not in standing and text not in past.taken for text in told[BY_HAND]),
    )


def _read_past(storage: LocalStorage) -> _Past:
    history = storage.history
    assert history is not None
    pages: dict[str, list[str]] = {}
    standing: Counter[str] = Counter()
    taken: dict[str, str] = {}
    doubled: dict[str, str] = {}
    overwritten = 0
    for entry in reversed(list(history.revisions())):
        versions = {path: history.read(entry.id, path) for path in entry.paths}
        before = Counter(line for path in versions for line in pages.get(path, ()))
        after = Counter(line for data in versions.values() if data is not None for line in _lines(data))
        standing += after
        standing -= before
        taken |= dict.fromkeys(before, entry.kind)
        doubled |= {line: entry.kind for line in after - before if standing[line] > 1}
        pages |= {path: _lines(data) if data is not None else [] for path, data in versions.items()}
        overwritten += entry.kind == EXTERNAL and any(line.startswith("- ") for line in before - after)
    return _Past({line: kind for line, kind in taken.items() if not standing[line]}, doubled, overwritten)


def _lines(page: bytes) -> list[str]:
    return page.decode("utf-8").splitlines()


if __name__ == "__main__":
    main()
