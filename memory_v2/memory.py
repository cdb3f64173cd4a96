"""What users hold: a memory. Each method is a few lines into a room below.

The rooms are imported when they are first used: reading a page must not wait for what writing one needs.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

from memory_v2.errors import InvalidSetting, NotAllowed, StorageError
from memory_v2.settings import DEFAULT_THRESHOLD, DEFAULT_TRACES, MIN_THRESHOLD, Limits, Settings, is_count
from memory_v2.storage.base import JOURNAL, PENDING
from memory_v2.storage.format import is_current
from memory_v2.storage.opened import open_storage
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.agent.limits import Cost
    from memory_v2.agent.trace import Trace
    from memory_v2.agent.traces import Traces
    from memory_v2.models.base import Model
    from memory_v2.operations.check import Checkup
    from memory_v2.operations.context import Context
    from memory_v2.operations.past import BlamedLine, PastOperation
    from memory_v2.operations.recovery import Recovered
    from memory_v2.operations.replay import Replay
    from memory_v2.operations.results import (
        Change,
        Finding,
        PageInfo,
        Result,
        SearchResults,
        SplitResult,
        WriteResult,
    )
    from memory_v2.storage.base import MemoryStorage
    from memory_v2.tree.graph import Graph


DONE_ALL_THE_SAME = "the change was being stored, so it is in the memory, or will be when that is used next"

logger = logging.getLogger(__name__)


def _same(moment: datetime) -> datetime:
    return moment


class _Result(Protocol):
    def with_cost(self, cost: Cost, trace: str) -> Self: ...


Told = TypeVar("Told", bound=_Result)


@dataclass(frozen=True, slots=True)
class Packed:
    """What came of packing the history: how many objects lay about, and the bytes on the disk before and after."""

    objects: int
    bytes_before: int
    bytes_after: int


class Memory:
    """A tree of Markdown pages that starts as one, `memory`, and grows by itself.

    Every method is whole or nothing: it returns a typed result, or raises a `SilicaError` and has changed nothing. A
    memory may be used by any number of threads and processes at once.
    """

    def __init__(
        self,
        storage: MemoryStorage,
        model: str | Model = "offline",
        *,
        threshold: int = DEFAULT_THRESHOLD,
        limits: Limits | None = None,
        now: Callable[[], datetime] | None = None,
        traces: int = DEFAULT_TRACES,
        prices: Path | None = None,
    ) -> None:
        """A memory on any storage. `model` is a name or a model of your own; `limits` are what an operation may take of
        it; `now` is the clock; `threshold` is the most bytes that a page may have; `traces` is how many records of
        operations are kept; `prices` is a file with prices of your own."""
        if not is_count(threshold, MIN_THRESHOLD):
            raise InvalidSetting(f"a page has a threshold of at least {MIN_THRESHOLD} bytes, not {threshold!r}")
        if not is_count(traces, 0):
            raise InvalidSetting(f"so many traces are kept, from 0, not {traces!r}")
        self.storage = storage
        self._model = model
        self._threshold = threshold
        self._limits = limits
        self._now = now
        self._traces = traces
        self._prices = prices
        self._look_again = 0.0
        self._recovered: list[Recovered] = []

    @classmethod
    def open(cls, path: str | Path | None = None, model: str | Model | None = None) -> Memory:
        """The memory in a folder: the arguments, else `SILICA_MEMORY_PATH` and `SILICA_MEMORY_MODEL`, else
        `~/.silica/memory_v2` and the offline planner. The folder is made by the first write. Without a `path`,
        `SILICA_MEMORY_BACKEND=s3` chooses a bucket instead."""
        name = model if isinstance(model, str) else None
        settings = Settings.from_environment(os.environ, path, name)
        chosen = settings.model if model is None or isinstance(model, str) else model
        return cls(
            open_storage(settings),
            chosen,
            threshold=settings.threshold,
            limits=settings.limits,
            traces=settings.traces,
            prices=settings.prices,
            now=partial(_same, settings.now) if settings.now else None,
        )

    @cached_property
    def _parts(self) -> Context:
        from memory_v2.index.full_text import FullTextIndex
        from memory_v2.models import OFFLINE, load_model
        from memory_v2.operations.context import Context, utc_now

        planner = load_model(OFFLINE)
        model = self._model if not isinstance(self._model, str) else None
        if model is None:
            model = planner if self._model == OFFLINE else load_model(str(self._model), self._prices)
        return Context(
            storage=self.storage,
            index=FullTextIndex(self.storage, self.storage.cache_folder),
            model=model,
            planner=planner,
            threshold=self._threshold,
            now=self._now or utc_now,
        )

    @property
    def _context(self) -> Context:
        """The parts, after what an interrupted run has left undone is finished."""
        self._recover()
        return self._parts

    def recover(self) -> list[Recovered]:
        """Finishes what an interrupted run has left undone, as all methods do before their own work; returns what this
        memory has finished since it was opened. What cannot be finished waits for the next time: nobody who only wants
        to read is kept from it. Raises `StorageError` for a store in a newer format."""
        self._recover()
        return self._recovered

    def _recover(self) -> None:
        notes, now = self.storage.notes, time.monotonic()
        if now < self._look_again:
            return
        is_current(notes)
        is_first, self._look_again = not self._look_again, now + notes.recovery_interval
        try:
            if is_left := notes.read(JOURNAL) is not None or bool(notes.names(PENDING)):
                from memory_v2.operations.recovery import recover

                self._recovered += recover(self._parts, self._do)
        except StorageError as error:
            logger.warning("what an interrupted run has left undone could not be finished: %s", error)
            return
        if is_first or is_left:
            notes.sweep()

    def _operate(self, operation: str, act: Callable[[Context], Told], **arguments: Any) -> Told:
        return self._do(self._context, operation, act, arguments)

    def _do(
        self,
        parts: Context,
        operation: str,
        act: Callable[[Context], Told],
        arguments: dict[str, Any],
        name: str = "",
    ) -> Told:
        """Does one operation: with a budget, a moment and a record of its own. The record is kept whatever happens.
        `name` is that of an operation which goes on."""
        from memory_v2.agent.operation import Operation
        from memory_v2.agent.trace import begin

        limits = self._limits or Limits()
        started = parts.now().astimezone(UTC)
        setting: dict[str, Any] = {"model": parts.model.name, "threshold": parts.threshold, "limits": asdict(limits)}
        if name:
            setting["goes_on"] = True
        trace = begin(operation, arguments, started, **setting)
        current = Operation(limits, trace, id=name) if name else Operation(limits, trace)
        kept_as = ""
        try:
            result = act(replace(parts, now=lambda: started, operation=current))
        except BaseException as error:
            current.trace.add("error", kind=type(error).__name__, message=str(error))
            if isinstance(error, KeyboardInterrupt) and (current.is_storing or current.trace.of("commit")):
                raise KeyboardInterrupt(DONE_ALL_THE_SAME) from error
            raise
        finally:
            current.trace.add("end", cost=asdict(current.cost), reads=current.trace.reads)
            if kept := self._kept_traces:  # asked for now: the first write has made the folder
                kept_as = kept.save(current.trace, operation, started, current.id)
        return result.with_cost(current.cost, kept_as)

    @property
    def _kept_traces(self) -> Traces | None:
        from memory_v2.agent.traces import Traces

        folder = self.storage.cache_folder
        return Traces(folder / "traces", self._traces) if folder and self._traces else None

    def read(self, path: str = ROOT) -> str:
        """The page, as it is stored. Raises `PageNotFound`, `InvalidPath`.

        Bytes that are not UTF-8 are shown as U+FFFD; they stay as they are on the disk.
        """
        self._recover()
        return self.storage.read(page_path(path or ROOT)).data.decode("utf-8", "replace")

    def write(
        self, text: str, path: str | None = None, mode: Literal["update", "append", "replace"] = "update"
    ) -> WriteResult:
        """Works new text into the tree: on the page `path`, or where it belongs. A page that grows too large is split.

        `append` puts the text below all else, `replace` in the place of the page's body, both to the letter. Raises
        `InvalidText`, `InvalidPath`, `StorageError`.
        """
        from memory_v2.operations.write import write

        return self._operate("write", lambda context: write(context, text, path, mode), text=text, path=path, mode=mode)

    def split(self, path: str = ROOT) -> SplitResult:
        """Divides a page into a page and its children, whatever its size. Raises `PageNotFound`."""
        from memory_v2.operations.settle import split_now

        return self._operate("split", lambda context: split_now(context, path or ROOT), path=path)

    def search(self, query: str, max_results: int = 10) -> SearchResults:
        """The best answers to a question, best first, each verbatim with page and lines."""
        from memory_v2.operations.search import search

        return self._operate(
            "search", lambda context: search(context, query, max_results), query=query, max_results=max_results
        )

    def list_files(self) -> list[PageInfo]:
        """Every page: path, title, size, when it was changed, what it links to and is linked from."""
        from memory_v2.operations.survey import list_pages

        return list_pages(self._context)

    def graph(self) -> Graph:
        """The pages and their links."""
        from memory_v2.operations.survey import graph

        return graph(self._context)

    def merge(self, path: str) -> Result:
        """Folds a page back into the page above it, to the letter. Raises `PageNotFound`, `NotAllowed`."""
        from memory_v2.operations.arrange import merge

        return self._operate("merge", lambda context: merge(context, path), path=path)

    def rename(self, old: str, new: str) -> Result:
        """Gives a page, and the pages below it, another path; links follow. Raises `PageNotFound`, `PageExists`."""
        from memory_v2.operations.arrange import rename

        return self._operate("rename", lambda context: rename(context, old, new), old=old, new=new)

    def delete(self, path: str) -> Result:
        """Takes a page away; what hung on it hangs on the page above. Raises `PageNotFound`, `NotAllowed`."""
        from memory_v2.operations.arrange import delete

        return self._operate("delete", lambda context: delete(context, path), path=path)

    def check(self) -> list[Finding]:
        """What does not hold, errors first, with page and line; empty when all is well."""
        return list(self.checkup().findings)

    def checkup(self, apply: bool = False) -> Checkup:
        """The findings; with `apply`, what can be mended is, and the findings are what is left."""
        from memory_v2.operations.check import check

        if not apply:
            return check(self._context)
        return self._operate("check", lambda context: check(context, apply=True), apply=True)

    def history(self, path: str | None = None) -> list[PastOperation]:
        """What was done, newest first, edits by hand among it; only what changed a page, if one is named. Raises
        `NotAllowed` where no history is kept."""
        from memory_v2.operations.past import history

        return history(self._context, path)

    def show(self, revision: str) -> tuple[PastOperation, Change]:
        """One operation of the history, and what it changed. Raises `NotAllowed` if there is none of this name."""
        from memory_v2.operations.past import changes

        return changes(self._context, revision)

    def diff(self, old: str, new: str | None = None) -> Change:
        """What differs between the trees after two operations; without the second, between then and now."""
        from memory_v2.operations.past import difference

        return difference(self._context, old, new)

    def blame(self, path: str = ROOT) -> list[BlamedLine]:
        """Every line of a page, with what brought it and when. Raises `PageNotFound`, `NotAllowed`."""
        from memory_v2.operations.past import blame

        return blame(self._context, path)

    def undo(self, revision: str | None = None) -> Result:
        """Takes the last operation back, or the one that is named: the pages are as before it, to the byte. Raises
        `NotAllowed` if what came later stands in its way; then nothing was changed."""
        from memory_v2.operations.past import undo

        return self._operate("undo", lambda context: undo(context, revision), revision=revision)

    def restore(self, revision: str, path: str | None = None) -> Result:
        """Brings a page, or the whole tree, back to what it was after an operation; what is there now stays in the
        history. Raises `NotAllowed`, `PageNotFound`."""
        from memory_v2.operations.past import restore

        return self._operate("restore", lambda context: restore(context, revision, path), revision=revision, path=path)

    def pack_history(self) -> Packed:
        """Packs what the history has on the disk: many small files become one, and nothing is lost. Raises `NotAllowed`
        where there is nothing to pack: in a bucket, and where no history is kept."""
        from memory_v2.storage.history import GitHistory

        self._recover()
        kept = self.storage.history
        if kept is None:
            raise NotAllowed(f"no history is kept of {self.storage.where}")
        if not isinstance(kept, GitHistory):
            raise NotAllowed(
                f"the history of {self.storage.where} is not packed: a bucket keeps each version by itself"
            )
        if not kept.begun or not (before := kept.size):  # in memory it has no size, and nothing to pack
            return Packed(0, 0, 0)
        with self.storage.lock():
            return Packed(kept.pack(), before, kept.size)

    def traces(self) -> list[str]:
        """The names of the records of what was done, oldest first."""
        self._recover()
        return kept.names() if (kept := self._kept_traces) else []

    def trace(self, name: str = "last") -> Trace:
        """The record of one operation: `name` is its name, a part of it, or `last`. Raises `NotAllowed`."""
        kept = self._traces_or_refusal()
        return kept.load(kept.find(name))

    def replay(self, name: str | Path = "last") -> Replay:
        """Does an operation again, on the tree as it was and with the answers that were given, without touching this
        memory; tells whether the same bytes come of it. `name` is that of a trace here, or a file that holds one.
        Raises `NotAllowed`, `InvalidText`."""
        from memory_v2.agent.traces import load_trace
        from memory_v2.operations.replay import replay

        kept = self._traces_or_refusal()
        trace = load_trace(name) if isinstance(name, Path) else kept.load(kept.find(name))
        return replay(self._context, trace, kept)

    def _traces_or_refusal(self) -> Traces:
        self._recover()
        if (kept := self._kept_traces) is None:
            raise NotAllowed(f"no traces are kept of {self.storage.where}")
        return kept

    def close(self) -> None:
        """Lets go of the index's file; the next use opens it again."""
        if "_parts" in self.__dict__:
            self._parts.index.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({readable(self.storage.where)!r})"
