"""The parts that every operation works with, how one is run with its own limits, time and trace, and when the index
must look at all pages again.

An open memory updates its index with what it changes itself. What others change is seen by a look at all pages, which
costs more the more pages there are. So it is made only if the last one is some time ago. If the history has moved
without this memory meanwhile, it says which pages were changed, and only these are looked at. The pages that an
operation changes are always read from the storage, never from the index.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeVar, runtime_checkable

from memory_v2.agent import load
from memory_v2.agent.operation import Cost, Operation, RunningOperation, RunningOperations, new_id
from memory_v2.errors import StorageError
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.store import IndexStore
from memory_v2.models.base import Model
from memory_v2.settings import Limits
from memory_v2.storage.base import MemoryStorage
from memory_v2.storage.history import FORGET, History
from memory_v2.storage.pending import PendingNote
from memory_v2.text.days import Calendar
from memory_v2.trace.recording import Event, Trace, Traces
from memory_v2.tree.graph import Graph
from memory_v2.tree.page import Page
from memory_v2.tree.path import fold, is_entry

if TYPE_CHECKING:
    from memory_v2.index.entries import EntryIndex

MAX_AGE = 1.0
"""How old, in seconds, the last look may be: a page edited by hand is noticed after this time at the latest."""
MAX_WAIT = 1.0
"""How long, in seconds, a thread waits for the look of another one before it looks itself: a disk may be slow."""
LOOKS_COST = 0.1
"""The share of the time that looks may take. In a small tree, where one takes a millisecond, edits are noticed after
ten; in a large one after `MAX_AGE`."""

WATCH_COST = 0.02
"""The share of the time that the looks of a watcher may take: it looks as long as somebody has the page open."""
WATCH_SECONDS = 10.0
"""How long, in seconds, a watcher leaves a large memory alone at most, and how long one that is late is waited for."""
QUICK_LOOK = 0.005
"""How long, in seconds, a look takes at most to be made also where the history could say which pages were changed: to
read that in the history takes as long."""
NO_PAGES: Final = frozenset[str]()

logger = logging.getLogger(__name__)


class Freshness:
    """How fresh the index of an open memory is. Any number of threads may use it."""

    def __init__(self) -> None:
        self._looking = threading.Lock()
        self._next_look = 0.0
        self._next_watch = float("-inf")
        self._took = 0.0
        """How long the last look at all pages took, in seconds."""
        self._seen: str | None = None
        """The stamp of the history as of the last look, and after each change that was made since by this memory."""
        self._is_committing = False
        self.misses_removals = False
        """Whether pages may have been removed by hand before the index was made, which the history has not recorded."""
        self.edits: list[str] = []
        """The revisions of edits by hand whose lines have not been looked at."""

    @contextmanager
    def look(self, history: History, even_if_fresh: bool = False) -> Iterator[Collection[str] | None]:
        """Wraps a look at pages; yields those to look at, `None` for all. Threads that wait for the look of another one
        need none of their own."""
        if not even_if_fresh and not self._is_due(history):
            yield NO_PAGES
            return
        is_mine = self._looking.acquire(timeout=MAX_WAIT)
        try:
            if not even_if_fresh and not self._is_due(history):
                yield NO_PAGES
                return
            stamp = _stamp(history)  # first, so that what is recorded meanwhile is looked at again
            pages = None if even_if_fresh else self._changed(history)
            began, next_look = time.monotonic(), self._next_look
            self._next_look, self._seen = 0.0, stamp
            yield pages
            if pages is None:
                self._took = time.monotonic() - began
                next_look = began + min(self._took / LOOKS_COST, MAX_AGE)
            self._next_look = next_look
        finally:
            if is_mine:
                self._looking.release()

    @contextmanager
    def committing(self, history: History) -> Iterator[None]:
        """Wraps a change whose pages are in the index at the end. Call it under the storage's lock."""
        before = _stamp(history)
        self._is_committing = True
        try:
            yield
            if self._seen == before:
                self._seen = _stamp(history)
        finally:
            self._is_committing = False

    def taken_edits(self) -> Iterator[str]:
        """Each of these `edits` for one thread only."""
        with suppress(IndexError):  # there is none, or another thread has taken the last one
            while True:
                yield self.edits.pop()

    def expire(self) -> None:
        """Makes a look due."""
        self._seen, self._next_look = None, 0.0

    def _is_due(self, history: History) -> bool:
        return self._is_all_due or (not self._is_committing and _stamp(history) != self._seen)

    @property
    def _is_all_due(self) -> bool:
        now = time.monotonic()
        return self._seen is None or now >= max(self._next_look, self._next_watch + WATCH_SECONDS)

    def is_watch_due(self) -> bool:
        """Whether a watcher is to look now; the next one is later."""
        now = time.monotonic()
        if now < self._next_watch:
            return False
        self._next_watch = now + min(max(self._took / WATCH_COST, MAX_AGE), WATCH_SECONDS)
        return True

    def _changed(self, history: History) -> Collection[str] | None:
        """The pages that the history says have changed since the last look; `None` if all have to be looked at."""
        seen = self._seen
        if seen is None or self._is_all_due or self._took <= QUICK_LOOK:
            return None
        try:
            changed = history.changed_since(seen)
        except StorageError:
            return None
        return None if changed is None else {path for path in changed if not is_entry(path)}


def refresh(context: Context, even_if_fresh: bool = False) -> None:
    """Records external edits in the history and brings the index up to date, if that is due. Lines that quote what an
    edited page no longer says are replaced."""
    look(context, even_if_fresh)
    for edits in context.freshness.taken_edits():
        context.follow_edits(context, edits)


def look(context: Context, even_if_fresh: bool = False) -> None:
    """Refreshes, but changes no line: for an operation that is about to store its own change."""

    def record(paths: Collection[str]) -> bool:
        storage, freshness = context.storage, context.freshness
        freshness.misses_removals |= context.index.is_new
        try:
            with storage.lock(wait=False), freshness.committing(storage.history):
                removed = _removed(storage) if freshness.misses_removals else set()
                if edits := storage.record_external_edits({*paths, *removed}, context.now()):
                    freshness.edits.append(edits)
            freshness.misses_removals = False
            return True
        except StorageError as error:  # a read-only disk must not stop readers
            logger.info("external edits could not be recorded in the history: %s", error)
            return False

    with context.freshness.look(context.storage.history, even_if_fresh) as pages:
        if pages is None or pages:
            context.index.refresh(record, pages, but=context.note.overgrown)  # it divides these next


def _removed(storage: MemoryStorage) -> set[str]:
    """The pages of the newest revision that are gone. It reads them all: do so only if the index is new."""
    history = storage.history
    try:
        known = history.pages(history.head) if history.begun else {}
    except StorageError as error:
        logger.warning("the history cannot tell which pages were removed by hand: %s", error)
        return set()
    gone = known.keys() - set(storage.list_files())
    hidden = tuple(storage.unlisted_folders())
    return {path for path in gone if not path.startswith(hidden)}


def _stamp(history: History) -> str | None:
    try:
        return history.stamp
    except StorageError:  # damaged, or not readable: the pages are
        return None


MAX_CHILDREN = 32
"""How many children a split may make, or leave when it groups links. A page without groups may list as many as fit in
its bytes."""
LEAST_GROUPS = 5
"""How many groups a page lists at least whose links are grouped."""


def overgrown(page: Page, threshold: int, graph: Graph) -> bool:
    """Whether a page must be split: it has too many bytes, whether they are text or links; or its links are grouped,
    and so many more have come that the groups are hard to see among them."""
    return page.size > threshold or has_loose_links(page, graph)


def has_loose_links(page: Page, graph: Graph) -> bool:
    """Whether a page that lists groups lists more than a reader looks through."""
    if len(page.children) <= MAX_CHILDREN:
        return False
    return sum(graph.lists_only(graph.known.get(fold(link.target), "")) for link in page.children) >= LEAST_GROUPS


@dataclass(frozen=True)
class Context:
    """The parts that an operation works with. `model` decides, and `planner` takes over if it fails; `threshold` is the
    size of a page, in bytes, above which it is split; `calendar` says what day it is, and on which day a moment falls;
    `operation` is the one that is running; `freshness` tells whether the index is up to date; `follow_edits` replaces
    lines that quote what an edit by hand has removed, given its revision."""

    storage: MemoryStorage
    index: FullTextIndex
    model: Model
    planner: Model
    threshold: int
    calendar: Calendar
    operation: Operation = field(default_factory=Operation)
    freshness: Freshness = field(default_factory=Freshness)
    follow_edits: Callable[[Context, str], object] = lambda context, edits: None

    def now(self) -> datetime:
        """The current moment: of an operation that is running, the one at which it began."""
        return self.calendar.now()

    @property
    def note(self) -> PendingNote:
        """The operation's pending note."""
        if self.operation.note is None:
            self.operation.note = PendingNote(self.storage.state, self.operation.id)
        return self.operation.note

    @property
    def models(self) -> tuple[Model, ...]:
        """The models that decide, in order: the next one is asked if one fails."""
        return (self.model,) if self.model is self.planner else (self.model, self.planner)


def open_context(
    storage: MemoryStorage,
    model: str | Model,
    prices: Path | None,
    threshold: int,
    calendar: Calendar,
    is_dense: bool,
    store: IndexStore,
    entries: Callable[[], EntryIndex],
) -> Context:
    """The parts for the operations of a memory: its index is opened, with its `entries` in the same `store`, and
    its model is loaded by its name. Raises `InvalidSetting`, `ModelError`."""
    planner = load.load_model(load.OFFLINE)
    decides = model
    if isinstance(decides, str):
        decides = planner if decides == load.OFFLINE else load.load_model(decides, prices)
    return Context(
        storage=storage,
        index=FullTextIndex(
            storage, None, storage.history, calendar, Dense() if is_dense else None, store=store, entries=entries
        ),
        model=decides,
        planner=planner,
        threshold=threshold,
        calendar=calendar,
    )


STORED_ANYWAY = "the change was already being stored: it is in the memory, or will be finished on next use"

MAX_NEWER = 50
"""How many of the newest revisions are searched for an interrupted operation: far more than others can add within the
moment of an interrupt."""


R = TypeVar("R")


@runtime_checkable
class _HasCost(Protocol):
    def with_cost(self, cost: Cost, trace: str) -> Self: ...


@dataclass(frozen=True)
class Runner:
    """Runs operations within the limits. `traces` is called after an operation, because the first write creates the
    folder for traces. `running` lists the operations while they run. `on_event` is called with an operation's id and
    each event of its trace."""

    limits: Limits
    traces: Callable[[], Traces | None]
    running: RunningOperations = field(default_factory=RunningOperations)
    on_event: Callable[[str, Event], object] | None = None

    def run(
        self,
        context: Context,
        operation: str,
        act: Callable[[Context], R],
        arguments: dict[str, Any],
        id: str = "",  # noqa: A002 - as it is called in the history
    ) -> R:
        """Runs one operation and returns its result with cost and trace. The trace is saved even if the operation
        fails. `id` is the id of an interrupted operation that is continued. Raises `Cancelled`."""
        started = context.now().astimezone(UTC)
        setting: dict[str, Any] = {
            "model": context.model.name,
            "threshold": context.threshold,
            "limits": asdict(self.limits),
        }
        if context.index.is_dense:
            setting["dense"] = True
        if id:
            setting["goes_on"] = True
        id = id or new_id()  # noqa: A001 - as above
        trace = Trace(listener=partial(self.on_event, id) if self.on_event else None)
        current = Operation(self.limits, trace, id=id)
        with self.running.added(RunningOperation(id, operation, started), current.cancellation):
            trace.began(operation, arguments, started, **setting)
            calendar = replace(context.calendar, now=lambda: started)
            return self._recorded(replace(context, calendar=calendar, operation=current), operation, act)

    def _recorded(self, context: Context, operation: str, act: Callable[[Context], R]) -> R:
        current, trace, cancellation = context.operation, context.operation.trace, context.operation.cancellation
        kept_as = ""
        try:
            result = act(context)
            cancellation.end()
        except BaseException as error:
            trace.add("error", kind=type(error).__name__, message=str(error))
            if isinstance(error, KeyboardInterrupt) and (trace.of("commit") or _is_recorded(context.storage, current)):
                raise KeyboardInterrupt(STORED_ANYWAY) from error
            raise
        finally:
            told = {"cancelled": True} if cancellation.is_cancelled else {}
            trace.add("end", cost=asdict(current.cost), reads=trace.reads, **told)
            if traces := self.traces():
                kept_as = traces.save(trace, operation, context.now(), current.id)
                if _is_forgotten_since(context.storage, current):
                    traces.remove([kept_as])
                    kept_as = ""
        return result.with_cost(current.cost, kept_as) if isinstance(result, _HasCost) else result


def _is_forgotten_since(storage: MemoryStorage, operation: Operation) -> bool:
    """Whether something was forgotten after this operation was recorded: its trace, saved later, may hold that."""
    commits = operation.trace.of("commit")
    with suppress(StorageError):
        if not commits or storage.history.head.startswith(commits[-1]["revision"]):  # nothing is newer
            return False
        newest = islice(storage.history.revisions(), MAX_NEWER)
        newer = list(takewhile(lambda revision: revision.operation != operation.id, newest))
        return len(newer) < MAX_NEWER and any(revision.kind == FORGET for revision in newer)
    return False


def _is_recorded(storage: MemoryStorage, operation: Operation) -> bool:
    """Whether the operation is in the history: its change is then in the memory or will be completed."""
    newest = islice(storage.history.revisions(), MAX_NEWER)
    return any(revision.operation == operation.id for revision in newest)
