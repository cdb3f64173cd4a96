"""The engine of an open memory: what operations work with, and how one is run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from memory_v2 import entries, operations
from memory_v2.agent.operation import RunningOperations, asked_by, info
from memory_v2.errors import NotAllowed
from memory_v2.settings import DEFAULT_AGENT, DEFAULT_MODEL, Limits
from memory_v2.storage.pending import Recovery
from memory_v2.text.days import Calendar
from memory_v2.validate import checked_arguments

if TYPE_CHECKING:
    from memory_v2.entries.store import EntryStore
    from memory_v2.index.entries import EntryIndex
    from memory_v2.index.store import IndexStore
    from memory_v2.models.base import Model
    from memory_v2.operations.context import Context, Runner
    from memory_v2.operations.imports import ImportBatch, ImportResult
    from memory_v2.operations.replay import Replay
    from memory_v2.operations.results import SearchResults
    from memory_v2.storage.base import MemoryStorage
    from memory_v2.trace.recording import Event, Trace, Traces

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


@dataclass
class Engine:
    """Runs operations on one memory. `Memory` says what its settings mean. Rooms are imported when they are first used:
    reading a page must not wait for what writing one needs."""

    storage: MemoryStorage
    model: str | Model
    threshold: int
    limits: Limits
    calendar: Calendar
    traces: int
    prices: Path | None
    agent: str
    is_dense: bool
    on_event: Callable[[str, Event], object] | None
    running: RunningOperations = field(default_factory=RunningOperations)

    def __post_init__(self) -> None:
        self.recovery = Recovery(
            self.storage, lambda for_change: operations.recovery.recover(self.parts, self.runner.run, for_change)
        )

    @property
    def is_offline(self) -> bool:
        """Whether the offline planner decides."""
        return self.model == DEFAULT_MODEL

    @cached_property
    def parts(self) -> Context:
        """What operations work with, whether or not interrupted ones are finished."""
        context = operations.context.open_context(
            self.storage,
            self.model,
            self.prices,
            self.threshold,
            self.calendar,
            self.is_dense,
            self.index_store,
            lambda: self.store.index,
        )
        return replace(context, follow_edits=lambda own, edits: operations.commit.follow_edits(own, edits))

    @cached_property
    def store(self) -> EntryStore:
        """The entries."""

        def index() -> EntryIndex:
            return entries.files.open_index(self.storage, self.calendar, self.index_store)

        return entries.store.EntryStore(self.storage, index, self.calendar, self.agent)

    @cached_property
    def index_store(self) -> IndexStore:
        """The tables of the index, for pages and entries."""
        from memory_v2.index.store import IndexStore

        return IndexStore(self.storage.cache_folder)

    @property
    def context(self) -> Context:
        """What operations work with, after interrupted ones are finished that take no longer than a moment."""
        self.recovery.attempt()
        return self.parts

    @cached_property
    def runner(self) -> Runner:
        """What gives an operation its limits and its trace."""
        return operations.context.Runner(self.limits, lambda: self.kept_traces, self.running, self.on_event)

    @property
    def kept_traces(self) -> Traces | None:
        """The traces, if the memory has a folder and they are wanted."""
        from memory_v2.trace.recording import Traces

        folder = self.storage.cache_folder
        return Traces(folder / "traces", self.traces) if folder and self.traces else None

    def needed_traces(self) -> Traces:
        """The traces. Raises `NotAllowed` if none are kept."""
        self.recovery.attempt()
        if (traces := self.kept_traces) is None:
            raise NotAllowed(f"{self.storage.where} keeps no traces")
        return traces

    def with_model(self, model: Model, seconds: float, traces: int | None = None) -> Engine:
        """The same engine, where another model decides, with so many seconds for one operation."""
        other = copy(self)
        other.__dict__.pop("runner", None)
        other.model, other.limits = model, replace(self.limits, seconds=seconds)
        other.traces = self.traces if traces is None else traces
        other.__dict__["parts"] = replace(self.context, model=model)
        return other

    def run(self, operation: Callable[Concatenate[Context, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation on pages, with a trace if it is a recorded one."""
        arguments = checked_arguments(operation, *args, **kwargs)
        declared = info(operation)
        is_change = declared.changes in ("tree", "past") and declared.leaves_trace(arguments)
        self.recovery.attempt(for_change=declared.recovers and is_change)
        context = self.parts
        with self._in_own_name():
            if not declared.leaves_trace(arguments):
                return operation(context, *args, **kwargs)
            return self.runner.run(context, declared.name, lambda own: operation(own, *args, **kwargs), arguments)

    def run_on(self, parts: S, operation: Callable[Concatenate[S, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation that needs no index: on the storage alone, or on the entries."""
        checked_arguments(operation, *args, **kwargs)
        if info(operation).recovers:
            self.recovery.attempt()
        with self._in_own_name():
            return operation(parts, *args, **kwargs)

    def pick_up_last(self) -> None:
        """Brings what was captured last into the history, after what was interrupted, which else would be finished
        untold. Raises `StorageError`."""
        self.recovery.attempt()
        self.store.pick_up_last()

    def _in_own_name(self) -> AbstractContextManager[None]:
        """The history names the agent of the settings with what is done inside, if it has a name of its own."""
        return asked_by(self.agent if self.agent != DEFAULT_AGENT else "")

    def rehearse(self, operation: Callable[Concatenate[Context, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Runs an operation on pages so that nothing of it is stored."""
        arguments = checked_arguments(operation, *args, **kwargs)
        runner = replace(self.runner, traces=lambda: None)
        with operations.dry_run.dry_run(self.context) as context:
            return runner.run(context, info(operation).name, lambda own: operation(own, *args, **kwargs), arguments)

    def import_batch(self, batch: ImportBatch) -> ImportResult:
        """Runs the import of a batch, which says what it is called in traces, and with which arguments."""
        act = partial(operations.imports.import_batch, batch=batch)
        self.recovery.attempt(for_change=True)
        with self._in_own_name():
            return self.runner.run(self.parts, batch.operation, act, batch.arguments)

    def replay(self, trace: Trace) -> Replay:
        """Runs the operation of a trace again, in memory. Raises `NotAllowed`, `InvalidText`."""
        again: tuple[Callable[Concatenate[Context, ...], object], ...] = (
            operations.write.write,
            operations.overgrown.split_now,
            operations.arrange.merge,
            operations.arrange.rename,
            operations.arrange.delete,
            operations.exact.create,
            operations.exact.insert,
            operations.exact.replace_text,
            operations.exact.delete_folder,
            operations.exact.rename_folder,
            operations.exact.edit,
            entries.checking.check,
        )
        replayable = {info(operation).name: operation for operation in again} | {"search": _search}
        return operations.replay.replay(self.context, trace, self.needed_traces(), replayable)

    def close(self) -> None:
        """Closes the files of the index."""
        if "index_store" in self.__dict__:
            self.index_store.close()
        if "store" in self.__dict__:
            self.store.close()


def _search(context: Context, **asked: Any) -> SearchResults:
    """A search with the arguments that its trace names."""
    return entries.searching.search(context, operations.search_request.SearchRequest(**asked))
