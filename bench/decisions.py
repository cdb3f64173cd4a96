"""How often writers on one page ask their model: `python -m bench.decisions`.

1 to 64 threads write one line each to one page of one memory. The model is the offline planner behind a wait, so that
all of them think at once. The goal is 2 N decisions about writes for N writers at most; the column "splits" shows what
was asked about splits. Ends with status 1 if the goal is missed or a line is lost.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory_v2 import Memory
from memory_v2.errors import StorageError
from memory_v2.models.base import Conversation, Reply
from memory_v2.models.briefs import WriteBrief
from memory_v2.models.offline import OfflinePlanner
from memory_v2.settings import DEFAULT_THRESHOLD, MIN_THRESHOLD
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage

WRITERS = (1, 2, 4, 8, 16, 32, 64)
THINKING = 0.02
"""Seconds that the model takes for an answer."""
WORDS = "the harbour waits for a signed contract and for the spring sale of two engineers in Porto "
"""What makes a line long enough for 16 writers to fill a small page."""


class ThinkingModel:
    """The offline planner, which takes its time and counts what it is asked."""

    name = "thinking"

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._planner = OfflinePlanner()
        self._counting = threading.Lock()

    def respond(self, conversation: Conversation) -> Reply:
        """The planner's decision, after a while."""
        with self._counting:
            self.asked["write" if isinstance(conversation.brief, WriteBrief) else "split"] += 1
        time.sleep(THINKING)
        return self._planner.respond(conversation)


@dataclass(frozen=True)
class Outcome:
    """What a crowd of writers asked for, and what became of their lines."""

    writers: int
    writes: int
    splits: int
    degraded: int
    failed: int
    lost: int
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether every line is there once, and the goal was reached."""
        return self.failed == self.lost == 0 and self.writes <= 2 * self.writers


@contextmanager
def in_memory() -> Iterator[MemoryStorage]:
    """Pages in a dictionary."""
    yield VolatileStorage()


@contextmanager
def in_a_folder() -> Iterator[MemoryStorage]:
    """Pages on the disk, with their history."""
    with tempfile.TemporaryDirectory() as folder:
        yield LocalStorage(Path(folder))


def crowd(storage: MemoryStorage, writers: int, threshold: int, words: str = "") -> Outcome:
    """Lets the writers write at once."""
    model = ThinkingModel()
    memory = Memory(storage, model, threshold=threshold)
    memory.write("# Notes\n\nWhat was there.", "notes")
    model.asked.clear()
    gate = threading.Barrier(writers)
    degraded: list[str] = []
    failed: dict[str, StorageError] = {}

    def write(line: str) -> None:
        gate.wait()
        try:
            if memory.write(line, "notes").degraded:
                degraded.append(line)
        except StorageError as error:
            failed[line] = error

    lines = [f"- Fact {number} is known: {words}{number}." for number in range(writers)]
    threads = [threading.Thread(target=write, args=(line,)) for line in lines]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    pages = [storage.read(path).data.decode().splitlines() for path in storage.list_files()]
    lost = sum(1 for line in lines if line not in failed and sum(page.count(line) for page in pages) != 1)
    memory.close()
    for line, error in failed.items():
        print(f"  {line[:20]}… failed: {error}")
    asked = model.asked
    return Outcome(writers, asked["write"], asked["split"], len(degraded), len(failed), lost, seconds)


def table(
    name: str, place: Callable[[], AbstractContextManager[MemoryStorage]], threshold: int, words: str = ""
) -> bool:
    """Prints a row for each number of writers; tells whether all is well."""
    columns = {
        "writers": 9,
        "decisions": 11,
        "per writer": 12,
        "splits": 8,
        "degraded": 10,
        "failed": 8,
        "lost": 6,
        "seconds": 9,
    }
    print(f"\n{name}\n{''.join(title.rjust(width) for title, width in columns.items())}")
    good = True
    for writers in WRITERS:
        with place() as storage:
            one = crowd(storage, writers, threshold, words)
        share = one.writes / writers
        print(
            f"{writers:9}{one.writes:11}{share:12.2f}{one.splits:8}{one.degraded:10}{one.failed:8}{one.lost:6}{one.seconds:9.2f}"
        )
        good = good and one.is_good
    return good


def main() -> None:
    """Measures, prints, and says whether the goal is reached."""
    good = [
        table("in memory", in_memory, DEFAULT_THRESHOLD),
        table("in a folder", in_a_folder, DEFAULT_THRESHOLD),
        table("in memory, a page that is split", in_memory, MIN_THRESHOLD, WORDS),
    ]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
