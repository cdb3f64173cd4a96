"""Many threads on one memory: `python -m bench.threads --runs 10 --on disk` (or `memory`).

16 threads do 25 mixed operations each on one `Memory`, while another thread edits pages behind the program's back. At
the end every acknowledged text, and every edit by hand, is looked for in the tree, and then in the history. A text may
be gone from the tree only if an undo, a delete or a replace removed it.

An edit by hand compares and swaps, on a disk under a lock that each write of a single page takes too: an editor cannot
do that, but so it is decided who was first, and nothing that is lost has an excuse. A run that takes ten minutes is
taken to hang: the stacks of all threads are printed. Exits with status 1 as `bench.race` does.
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias
from zlib import crc32

from bench.race import MAX_SECONDS, Outcome, errors_of, is_well, lines_of, past_of, text_of
from bench.tables import Figures, table
from memory_v2 import Memory
from memory_v2.errors import NotAllowed, PageExists, PageNotFound, StorageConflict
from memory_v2.settings import MIN_THRESHOLD
from memory_v2.storage.base import ANY, Expected, MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage

THREADS = 16

Act: TypeAlias = Callable[[Memory, str, str], object]
"""What is done with a path and a text."""
WRITES: Mapping[str, tuple[int, Act]] = {
    "write": (5, lambda memory, _, text: memory.write(text)),
    "write to a page": (3, lambda memory, path, text: memory.write(text, path)),
    "append": (2, lambda memory, path, text: memory.write(text, path, "append")),
    "replace": (1, lambda memory, path, text: memory.write(text, path, "replace")),
}
ACTS: Mapping[str, tuple[int, Act]] = {
    **WRITES,
    "search": (4, lambda memory, _, text: memory.search(text.partition(": ")[2])),
    "read": (2, lambda memory, path, _: memory.read(path)),
    "list": (1, lambda memory, *_: memory.list_files()),
    "split": (1, lambda memory, path, _: memory.split(path)),
    "rename": (1, lambda memory, path, text: memory.rename(path, f"moved/{crc32(text.encode()):x}")),
    "merge": (1, lambda memory, path, _: memory.merge(path)),
    "delete": (1, lambda memory, path, _: memory.delete(path)),
    "undo": (1, lambda memory, *_: memory.undo()),
    "check": (1, lambda memory, *_: memory.check()),
    "history": (1, lambda memory, path, _: memory.history(path)),
}
"""What each thread does, and how often: 25 operations."""
THRESHOLD = 2 * MIN_THRESHOLD
"""Bytes of a page: so few that pages are split all the time."""
PAUSE = 0.3
"""Seconds between two edits by hand."""
REFUSALS = (NotAllowed, PageNotFound, PageExists, StorageConflict)
"""What an operation may say when others were faster."""
REMOVERS = {"undo", "delete", "restore"}
"""Kinds of revisions that may remove a text from the tree."""
PAGES = ("people", "projects", "projects/atlas", "places", "travel", "prices", "letters")


HandEdit: TypeAlias = Callable[[str, Callable[[bytes], bytes]], bool]
"""Changes a page behind the program's back; tells whether nobody else was faster."""
Place: TypeAlias = Callable[[], AbstractContextManager[tuple[MemoryStorage, HandEdit]]]


@dataclass
class Log:
    """What the threads have done."""

    acknowledged: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)
    took: list[tuple[float, str]] = field(default_factory=list)
    paths: tuple[float, list[str]] = (0.0, [])
    """When the pages were listed, and all of them."""


def main() -> None:
    """Prints a row for each run. Exits with status 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(description="Many threads on one memory.")
    parser.add_argument("--on", choices=PLACES, default="disk")
    parser.add_argument("--runs", type=int, default=1)
    chosen = parser.parse_args()
    rows, well = dict[str, Figures](), True
    for number in range(chosen.runs):
        with PLACES[chosen.on]() as (storage, edit):
            outcome, log = run(storage, edit, number)
        rows[f"run {number + 1}"] = {**outcome.figures, "longest s": max(log.took)[0]}
        well &= is_well(outcome)
    print(
        f"{THREADS} threads, {sum(times for times, _ in ACTS.values())} operations each, on {chosen.on}\n{table(rows)}"
    )
    sys.exit(not well)


@contextmanager
def on_disk() -> Iterator[tuple[MemoryStorage, HandEdit]]:
    """Files in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        storage = _Swapping(Path(folder))

        def edit(path: str, change: Callable[[bytes], bytes]) -> bool:
            file, temporary = Path(folder) / f"{path}.md", Path(folder) / ".by-hand.tmp"
            with storage.swapping:
                temporary.write_bytes(change(file.read_bytes()))
                temporary.replace(file)
            return True

        yield storage, edit


class _Swapping(LocalStorage):
    """A local storage on which comparing a page with what is expected, and replacing it, is one step for this process,
    as it is in a bucket."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.swapping = threading.Lock()

    def write(self, path: str, data: bytes, expected: Expected = ANY) -> str:
        with self.swapping:
            return super().write(path, data, expected)

    def delete(self, path: str, expected: Expected = ANY) -> None:
        with self.swapping:
            super().delete(path, expected)


@contextmanager
def in_memory() -> Iterator[tuple[MemoryStorage, HandEdit]]:
    """Pages in a dictionary."""
    storage = VolatileStorage()

    def edit(path: str, change: Callable[[bytes], bytes]) -> bool:
        found = storage.read(path)
        try:
            storage.write(path, change(found.data), found.version)
        except StorageConflict:
            return False
        return True

    yield storage, edit


PLACES: dict[str, Place] = {"disk": on_disk, "memory": in_memory}


def run(
    storage: MemoryStorage, edit: HandEdit, seed: int, threads: int = THREADS, operations: int | None = None
) -> tuple[Outcome, Log]:
    """Lets the threads work, each on `operations` of the mix, or all, and judges what they leave."""
    log, done = Log(), threading.Event()
    with Memory(storage, threshold=THRESHOLD) as memory:
        for path in PAGES:
            memory.write(f"# {path.title()}\n\nWhat is known of {path}.", path)
        workers = [
            threading.Thread(target=_work, args=(memory, log, f"{seed}-{number}", operations), name=f"worker {number}")
            for number in range(threads)
        ]
        editor = threading.Thread(target=_edit_behind, args=(storage, edit, log, done, seed), name="editor")
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        for thread in (*workers, editor):
            thread.start()
        for thread in workers:
            thread.join()
        done.set()
        editor.join()
        faulthandler.cancel_dump_traceback_later()
        memory.history()  # records what was edited by hand after the last operation
        return _judged(memory, log), log


def _work(memory: Memory, log: Log, name: str, operations: int | None) -> None:
    chance = random.Random(name)
    acts = [act for act, (times, _) in ACTS.items() for _ in range(times)]
    chance.shuffle(acts)
    for number, act in enumerate(acts[:operations]):
        text = text_of(f"worker {name} text {number}")
        began = time.perf_counter()
        try:
            if time.monotonic() > log.paths[0] + PAUSE:
                log.paths = time.monotonic(), memory.storage.list_files()
            path = chance.choice(log.paths[1])
            if act == "replace":
                path = chance.choice([path, *PAGES[1:]])
                log.replaced.add(path)
            ACTS[act][1](memory, path, text)
            if act in WRITES:
                log.acknowledged.append(text)
        except REFUSALS:
            pass
        except Exception as error:  # noqa: BLE001 - whatever was raised: it is shown
            log.failed.append(f"{act}: {type(error).__name__}: {error}")
        log.took.append((time.perf_counter() - began, act))


def _edit_behind(storage: MemoryStorage, edit: HandEdit, log: Log, done: threading.Event, seed: int) -> None:
    chance, count = random.Random(seed), 0
    while not done.wait(PAUSE):
        line = f"{text_of(f'by hand {seed} {count}')}\n".encode()
        count += 1

        def change(data: bytes, line: bytes = line, in_text: bool = chance.random() < 0.5) -> bytes:
            if len(data) + len(line) > THRESHOLD - 200:  # too large a page is a finding, but not a fault
                raise _TooLargeError
            title, blank, rest = data.partition(b"\n\n")
            return title + blank + line + b"\n" + rest if in_text and blank else data + line

        with suppress(FileNotFoundError, IndexError, PageNotFound, _TooLargeError):
            if edit(chance.choice(storage.list_files()), change):
                log.by_hand.append(line.decode().strip())


class _TooLargeError(Exception):
    pass


def _judged(memory: Memory, log: Log) -> Outcome:
    pages = [lines_of(memory.storage.read(path).data) for path in memory.storage.list_files()]
    in_tree, past = Counter(line for page in pages for line in page), past_of(memory.storage, log.replaced)
    texts = [*log.acknowledged, *log.by_hand]
    gone = [text for text in texts if text not in in_tree]
    broken = {
        "lost": [f"{text}: {past.taken.get(text, 'nowhere')}" for text in gone if past.taken.get(text) not in REMOVERS],
        "twice": [f"{text}: {past.doubled.get(text)}" for text in texts if in_tree[text] > 1],
        "failed": log.failed,
        "check": errors_of(memory),
    }
    return Outcome(len(texts), len(texts) - len(gone), broken, by_hand=len(log.by_hand))


if __name__ == "__main__":
    main()
