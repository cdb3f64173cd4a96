"""Many threads on one memory: `python -m bench.threads --runs 10 --on disk` (or `memory`, or `s3`).

16 threads do 25 mixed operations each on one `Memory`, while another thread edits pages behind the program's back. At
the end every acknowledged text, and every edit by hand, is looked for in the tree, and then in the history. A text may
be gone from the tree only if an undo, a delete or a replace removed it. `s3` needs `moto`, whose server runs in a
process of its own.

An edit by hand compares and swaps, on a disk under a lock that each write of a single page takes too: an editor cannot
do that, but so it is decided who was first, and nothing that is lost has an excuse. Between the pages of one change,
and between what an operation reads and what it writes, edits come at any moment.

Exits with status 1 if a text is lost or stands twice, if an operation fails for a reason other than a refusal, or if
`check` finds an error. An operation that takes 30 seconds is taken to hang: the stacks of all threads are printed.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import random
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from memory_v2 import Memory
from memory_v2.errors import NotAllowed, PageExists, PageNotFound, StorageConflict
from memory_v2.settings import MIN_THRESHOLD
from memory_v2.storage.base import ANY, Expected, MemoryStorage
from memory_v2.storage.local.storage import LocalStorage
from memory_v2.storage.volatile import VolatileStorage

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

THREADS = 16
MIX = {
    "write": 5,
    "write to a page": 3,
    "append": 2,
    "replace": 1,
    "search": 4,
    "read": 2,
    "list": 1,
    "split": 1,
    "rename": 1,
    "merge": 1,
    "delete": 1,
    "undo": 1,
    "check": 1,
    "history": 1,
}
"""How often each thread does what: 25 operations."""
THRESHOLD = 2 * MIN_THRESHOLD
"""Bytes of a page: so few that pages are split all the time."""
PAUSE = 0.3
"""Seconds between two edits by hand."""
HANG_SECONDS = 30.0
"""Seconds after which an operation is taken to hang: as many as the wait for a lock on a disk may take."""
GOAL_SECONDS = 5.0
"""Seconds that the longest operation may take."""
MAX_SHOWN = 10
"""Limits how many problems of a run are printed."""
REFUSALS = (NotAllowed, PageNotFound, PageExists, StorageConflict)
"""What an operation may say when others were faster."""
REMOVERS = {"undo", "delete", "restore"}
"""Kinds of revisions that may remove a text from the tree."""
PAGES = ("people", "projects", "projects/atlas", "places", "travel", "prices", "letters")
COLUMNS = {
    "operations": 11,
    "refused": 8,
    "kept": 6,
    "in tree": 8,
    "history": 8,
    "by hand": 8,
    "lost": 5,
    "twice": 6,
    "failed": 7,
    "check": 6,
    "pages": 6,
    "seconds": 8,
    "load": 6,
    "longest": 9,
}

_SUBJECTS = "the harbour|the night train|Ines|the third release|our auditor|the old index|Fjordbank|the kitchen"
_VERBS = "waits for|was moved by|depends on|is paid by|replaces|asked about|knows|closes before"
_OBJECTS = "the spring sale|a signed contract|staging|two engineers|Porto|the blue key|the May review|nobody"

HandEdit: TypeAlias = Callable[[str, Callable[[bytes], bytes]], bool]
"""Changes a page behind the program's back; tells whether nobody else was faster."""
Place: TypeAlias = Callable[[], AbstractContextManager[tuple[MemoryStorage, HandEdit]]]


@dataclass
class Log:
    """What the threads have done. `began` tells for each what it is doing, and since when."""

    acknowledged: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    replaced: set[str] = field(default_factory=set)
    took: list[tuple[float, str]] = field(default_factory=list)
    began: dict[str, tuple[float, str]] = field(default_factory=dict)
    paths: tuple[float, list[str]] = (0.0, [])
    """When the pages were listed, and all of them. To list a bucket for each operation takes longer than most do."""


@dataclass(frozen=True)
class Outcome:
    """What became of the texts of one run."""

    log: Log
    in_tree: int
    in_history: int
    lost: tuple[str, ...]
    twice: tuple[str, ...]
    findings: tuple[str, ...]
    pages: int
    seconds: float

    @property
    def longest(self) -> tuple[float, str]:
        """The operation that took longest, and its seconds."""
        return max(self.log.took)

    @property
    def problems(self) -> list[str]:
        """The guarantees that were broken."""
        kinds = {"lost": self.lost, "twice": self.twice, "failed": self.log.failed, "check": self.findings}
        return [f"{kind}: {text}" for kind, texts in kinds.items() for text in texts]


def main() -> None:
    """Prints a row for each run. Exits with status 1 if a guarantee was broken."""
    parser = argparse.ArgumentParser(description="Many threads on one memory.")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--on", choices=PLACES, default="disk")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    print(f"{THREADS} threads, {sum(MIX.values())} operations each, on {chosen.on}\nrun {_row(COLUMNS)}", flush=True)
    well, took = True, []
    for number in range(chosen.runs):
        with PLACES[chosen.on]() as (storage, edit):
            outcome = run(storage, edit, chosen.seed + number)
        took += outcome.log.took
        print(f"{number + 1:3} {_row(_cells(outcome))} {outcome.longest[1]}", flush=True)
        for problem in outcome.problems[:MAX_SHOWN]:
            print(f"    {problem}", flush=True)
        well = well and not outcome.problems
    _print_times(took)
    if not well:
        sys.exit(1)


def _row(cells: Any) -> str:
    return "".join(f"{cell!s:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


def _cells(outcome: Outcome) -> tuple[object, ...]:
    log = outcome.log
    return (
        *(len(log.took), log.refused.total(), len(log.acknowledged), outcome.in_tree, outcome.in_history),
        *(len(log.by_hand), len(outcome.lost), len(outcome.twice), len(log.failed), len(outcome.findings)),
        *(outcome.pages, f"{outcome.seconds:.1f}", f"{os.getloadavg()[0]:.1f}", f"{outcome.longest[0]:.2f} s"),
    )


def _print_times(took: list[tuple[float, str]]) -> None:
    print(f"\n{'seconds':18}{'times':>7}{'median':>9}{'p95':>9}{'longest':>9}")
    for name in MIX:
        times = sorted(seconds for seconds, kind in took if kind == name)
        if times:
            middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
            print(f"{name:18}{len(times):7}{middle:9.3f}{late:9.3f}{times[-1]:9.3f}")
    slow = sum(1 for seconds, _ in took if seconds > GOAL_SECONDS)
    print(f"{slow} of {len(took)} operations took more than {GOAL_SECONDS:.0f} s")


# The places


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


@contextmanager
def on_s3() -> Iterator[tuple[MemoryStorage, HandEdit]]:
    """A bucket of moto's server."""
    import boto3
    from botocore.exceptions import ClientError

    from memory_v2.storage.s3.storage import S3Storage

    os.environ |= {"AWS_ACCESS_KEY_ID": "nobody", "AWS_SECRET_ACCESS_KEY": "nothing", "NO_PROXY": "127.0.0.1"}
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there,), daemon=True)
    process.start()
    there.close()
    try:
        url = here.recv()
        name = f"memory-{uuid.uuid4().hex[:12]}"
        client = boto3.session.Session().client("s3", region_name="us-east-1", endpoint_url=url)
        client.create_bucket(Bucket=name)

        def edit(path: str, change: Callable[[bytes], bytes]) -> bool:
            try:
                found = client.get_object(Bucket=name, Key=f"p/{path}.md")
                data = change(found["Body"].read())
                client.put_object(Bucket=name, Key=f"p/{path}.md", Body=data, IfMatch=found["ETag"])
            except ClientError:  # removed, or changed
                return False
            return True

        with tempfile.TemporaryDirectory() as cache:
            yield S3Storage(name, "p", endpoint=url, cache=Path(cache)), edit
    finally:
        process.kill()
        process.join()


def _serve(pipe: Connection) -> None:
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    pipe.send(f"http://{host}:{port}")
    threading.Event().wait()


PLACES: dict[str, Place] = {"disk": on_disk, "memory": in_memory, "s3": on_s3}

# The threads


def run(
    storage: MemoryStorage, edit: HandEdit, seed: int, threads: int = THREADS, operations: int | None = None
) -> Outcome:
    """Lets the threads work, each on `operations` of the mix, or all, and judges what they leave."""
    log, done = Log(), threading.Event()
    with Memory(storage, threshold=THRESHOLD) as memory:
        for path in PAGES:
            memory.write(f"# {path.title()}\n\nWhat is known of {path}.", path)
        workers = [
            threading.Thread(target=_work, args=(memory, log, f"{seed}-{number}", operations), name=f"worker {number}")
            for number in range(threads)
        ]
        editor = threading.Thread(target=_edit_by_hand, args=(storage, edit, log, done, seed), name="editor")
        watchdog = threading.Thread(target=_watch, args=(log, done), daemon=True)
        began = time.perf_counter()
        for thread in (*workers, editor, watchdog):
            thread.start()
        for thread in workers:
            thread.join()
        seconds = time.perf_counter() - began
        done.set()
        editor.join()
        memory.history()  # records what was edited by hand after the last operation
        return _judged(memory, log, seconds)


def _work(memory: Memory, log: Log, name: str, operations: int | None) -> None:
    chance = random.Random(name)
    acts = [act for act, times in MIX.items() for _ in range(times)]
    chance.shuffle(acts)
    for number, act in enumerate(acts[:operations]):
        text = _text(f"worker {name} text {number}")
        began = time.perf_counter()
        log.began[name] = began, act
        try:
            if _do(memory, log, act, text, chance):
                log.acknowledged.append(text)
        except REFUSALS as refusal:
            log.refused[f"{act}: {type(refusal).__name__}"] += 1
        except Exception as error:  # noqa: BLE001 - whatever was raised: it is shown
            log.failed.append(f"{act}: {type(error).__name__}: {error}")
        log.took.append((time.perf_counter() - began, act))
        del log.began[name]


def _do(memory: Memory, log: Log, act: str, text: str, chance: random.Random) -> bool:
    """Does one operation; tells whether it was a write of the text."""
    if time.monotonic() > log.paths[0] + PAUSE:
        log.paths = time.monotonic(), memory.storage.list_files()
    path = chance.choice(log.paths[1])
    match act:
        case "write":
            memory.write(text)
        case "write to a page":
            memory.write(text, path)
        case "append":
            memory.write(text, path, "append")
        case "replace":
            path = chance.choice([path, *PAGES[1:]])
            log.replaced.add(path)
            memory.write(text, path, "replace")
        case "search":
            memory.search(text.partition(": ")[2])
        case "read":
            memory.read(path)
        case "list":
            memory.list_files()
        case "split":
            memory.split(path)
        case "rename":
            memory.rename(path, f"moved/{chance.getrandbits(32):x}")
        case "merge":
            memory.merge(path)
        case "delete":
            memory.delete(path)
        case "undo":
            memory.undo()
        case "check":
            memory.check()
        case "history":
            memory.history(path)
    return act in ("write", "write to a page", "append", "replace")


def _edit_by_hand(storage: MemoryStorage, edit: HandEdit, log: Log, done: threading.Event, seed: int) -> None:
    chance, count = random.Random(seed), 0
    while not done.wait(PAUSE):
        line = f"{_text(f'by hand {seed} {count}')}\n".encode()
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


def _watch(log: Log, done: threading.Event) -> None:
    """Ends the program, with the stacks of all threads, if an operation hangs."""
    while not done.wait(1):
        for name, (began, act) in list(log.began.items()):
            if time.perf_counter() - began > HANG_SECONDS:
                print(f"{name}: {act} takes more than {HANG_SECONDS:.0f} seconds", flush=True)
                faulthandler.dump_traceback(all_threads=True)
                os._exit(1)


def _text(name: str) -> str:
    """One unique line."""
    chance = random.Random(name)
    said = " ".join(chance.choice(words.split("|")) for words in (_SUBJECTS, _VERBS, _OBJECTS))
    return f"- {name}: {said}"


# What became of the texts


def _judged(memory: Memory, log: Log, seconds: float) -> Outcome:
    storage = memory.storage
    findings = tuple(f"{f.kind} {f.path}: {f.message}" for f in memory.check() if f.severity == "error")
    standing = Counter(line for path in storage.list_files() for line in _lines(storage.read(path).data))
    taken, doubled = _read_past(storage, log.replaced)
    texts = [*log.acknowledged, *log.by_hand]
    gone = [text for text in texts if text not in standing]
    lost = [f"{text}: {taken.get(text, 'nowhere')}" for text in gone if taken.get(text) not in REMOVERS]
    return Outcome(
        log,
        in_tree=len(texts) - len(gone),
        in_history=len(gone) - len(lost),
        lost=tuple(lost),
        twice=tuple(f"{text}: {doubled.get(text)}" for text in texts if standing[text] > 1),
        findings=findings,
        pages=len(storage.list_files()),
        seconds=seconds,
    )


def _read_past(storage: MemoryStorage, replaced: set[str]) -> tuple[dict[str, str], dict[str, str]]:
    """For each line that was removed, and each that was there twice, the kind of the revision that did it. A write that
    replaced the page is an undo's equal."""
    history = storage.history
    pages: dict[str, list[str]] = {}
    standing: Counter[str] = Counter()
    taken: dict[str, str] = {}
    doubled: dict[str, str] = {}
    for revision in reversed(list(history.revisions())):
        versions = {path: history.read(revision.id, path) for path in revision.paths}
        before = Counter(line for path in versions for line in pages.get(path, ()))
        after = Counter(line for data in versions.values() if data is not None for line in _lines(data))
        standing += after
        standing -= before
        is_replace = revision.kind == "write" and not replaced.isdisjoint(revision.paths)
        for line in before - after:
            if not standing[line]:
                taken[line] = "delete" if is_replace else revision.kind
        doubled |= {line: revision.kind for line in after - before if standing[line] > 1}
        pages |= {path: _lines(data) if data is not None else [] for path, data in versions.items()}
    return taken, doubled


def _lines(page: bytes) -> list[str]:
    return page.decode("utf-8").splitlines()


if __name__ == "__main__":
    main()
