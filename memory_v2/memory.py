"""What users hold: a memory. Each method is a row of the table, run.

The rooms are imported when they are first used: reading a page must not wait for what writing one needs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from memory_v2.entries import rows as entry_rows
from memory_v2.entries.search_row import ALWAYS_TOLD, SEARCH
from memory_v2.errors import NotAllowed
from memory_v2.given import check_given, require, tag_list
from memory_v2.operations import rows
from memory_v2.operations.running import RunningOperation, RunningOperations
from memory_v2.recovering import Recovery
from memory_v2.settings import DEFAULT_AGENT, DEFAULT_MODEL, DEFAULT_THRESHOLD, DEFAULT_TRACES, Limits, Settings
from memory_v2.storage.opened import open_storage
from memory_v2.table import TABLE
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from memory_v2.checkpoints.checkpoints import Checkpoints
    from memory_v2.entries.entries import Entries
    from memory_v2.index.store import Store
    from memory_v2.models.base import Model
    from memory_v2.operations.check import Checkup
    from memory_v2.operations.context import Context
    from memory_v2.operations.forget import Forgotten
    from memory_v2.operations.gc import Packed
    from memory_v2.operations.history import BlamedLine, PastOperation
    from memory_v2.operations.imports import Batch, ImportResult
    from memory_v2.operations.replay import Replay
    from memory_v2.operations.results import (
        DeleteResult,
        Finding,
        PageInfo,
        Result,
        SearchResults,
        SplitResult,
        WriteResult,
    )
    from memory_v2.operations.row import Row
    from memory_v2.operations.run import Runner
    from memory_v2.operations.session_start import SessionContext
    from memory_v2.recovery import Recovered
    from memory_v2.storage.base import MemoryStorage
    from memory_v2.storage.history import Change
    from memory_v2.trace.files import Traces
    from memory_v2.trace.recording import Event, Trace
    from memory_v2.tree.graph import Graph

T = TypeVar("T")


class Memory:
    """A tree of Markdown pages that starts as one page, `memory`, and grows by itself.

    Every method either succeeds and returns a typed result, or raises a `SilicaError` and changes nothing. Any number
    of threads and processes may use a memory at the same time.
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
        timezone: tzinfo = UTC,
        agent: str = DEFAULT_AGENT,
        dense: bool = False,
        on_event: Callable[[str, Event], object] | None = None,
    ) -> None:
        """A memory on any storage. `model` is the name of a model, or a model of your own; `limits` is how much of it
        one operation may use; `now` is the clock; `threshold` is the maximum size of a page in bytes; `traces` is how
        many traces to keep; `prices` is a JSON file with your own prices; `timezone` says which day a moment falls on;
        `agent` is whose entries are captured; `dense` is whether search goes by meaning too; `on_event` is called in
        the thread of an operation, with its id and each event of its trace as it happens, from `begin` to `end`."""
        check_given(storage, model, threshold, limits, now, traces, prices, timezone, agent, dense, on_event)
        self.storage = storage
        self._model = model
        self._threshold = threshold
        self._limits = limits
        self._now = now
        self._traces = traces
        self.prices = prices
        self._timezone = timezone
        self._agent = agent
        self._is_dense = dense
        self._on_event = on_event
        self._running = RunningOperations()
        self._recovery = Recovery(storage, now, self._finish)

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        model: str | Model | None = None,
        *,
        dense: bool | None = None,
        on_event: Callable[[str, Event], object] | None = None,
    ) -> Memory:
        """Opens the memory in a folder. `path` defaults to `SILICA_MEMORY_PATH`, then `silica.toml`, then
        `~/.silica/memory_v2`; `model` to `SILICA_MEMORY_MODEL`, then the file, then the offline planner; `dense` to
        `SILICA_MEMORY_DENSE`, then the file, then `False`. The first write creates the folder. Without a `path`,
        `SILICA_MEMORY_BACKEND=s3` selects a bucket instead. The others are as for a memory on any storage."""
        settings = Settings.from_environment(os.environ, path, model if isinstance(model, str) else None)
        return cls(
            open_storage(settings),
            settings.model if model is None or isinstance(model, str) else model,
            threshold=settings.threshold,
            limits=settings.limits,
            traces=settings.traces,
            prices=settings.prices,
            now=settings.clock,
            timezone=settings.timezone,
            agent=settings.agent,
            dense=settings.dense if dense is None else dense,
            on_event=on_event,
        )

    @cached_property
    def _parts(self) -> Context:
        from memory_v2.operations.opening import open_context
        from memory_v2.text.calendar import Calendar, utc_now

        calendar = Calendar(self._timezone, self._now or utc_now)
        return open_context(
            self.storage,
            self._model,
            self.prices,
            self._threshold,
            calendar,
            self._is_dense,
            self._index_store,
            lambda: self.entries.area.index,
        )

    @cached_property
    def _index_store(self) -> Store:
        """The tables of the index, of pages and entries."""
        from memory_v2.index.store import Store

        return Store(self.storage.cache_folder)

    @property
    def today(self) -> date:
        """The current day, in the time zone of this memory."""
        return self._parts.calendar.today

    @property
    def _context(self) -> Context:
        """What operations work with, after interrupted operations are finished."""
        self._recover()
        return self._parts

    @property
    def model_name(self) -> str:
        """The model that decides: `offline`, `anthropic:<model>`."""
        return self._parts.model.name

    @property
    def is_offline(self) -> bool:
        """Whether the offline planner decides, so that nothing is paid."""
        return self._model == DEFAULT_MODEL

    @property
    def threshold(self) -> int:
        """The maximum size of a page, in bytes."""
        return self._threshold

    @cached_property
    def entries(self) -> Entries:
        """The entries: short, dated observations beside the pages."""
        from memory_v2.entries.area import Area
        from memory_v2.entries.entries import Entries
        from memory_v2.text.calendar import Calendar, utc_now

        calendar = Calendar(self._timezone, self._now or utc_now)
        area = Area(self.storage, calendar, self._agent, lambda: self._index_store)
        return Entries(area, self._recover, self._act, self.is_offline)

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints: named points of the history, with all pages and entries."""
        from memory_v2.checkpoints.checkpoints import Checkpoints

        return Checkpoints(self._run)

    def recover(self) -> list[Recovered]:
        """Finishes interrupted operations and returns those finished since this memory was opened. Every method does
        this first. What cannot be finished now is tried again later and does not block other operations. Raises
        `StorageError` for a store in a newer format."""
        self._recover()
        return self._recovery.done

    def _recover(self) -> None:
        self._recovery.attempt()

    def _finish(self) -> list[Recovered]:
        from memory_v2.recovery import recover

        return recover(self._parts, self._runner.run)

    @cached_property
    def _runner(self) -> Runner:
        from memory_v2.operations.run import Runner

        return Runner(self._limits or Limits(), lambda: self._kept_traces, self._running, self._on_event)

    def _run(self, row: Row[T], /, **arguments: Any) -> T:
        if row.works_on == "storage":
            self._recover()
            return row.load()(self.storage, **arguments)
        return self._act(row, lambda context: row.load()(context, **arguments), arguments)

    def _act(self, row: Row[T], act: Callable[[Context], Any], arguments: dict[str, Any]) -> T:
        context, is_traced = self._context, row.leaves_trace(arguments)
        result: T = self._runner.run(context, row.name, act, arguments) if is_traced else act(context)
        return result

    @property
    def _kept_traces(self) -> Traces | None:
        from memory_v2.trace.files import Traces

        folder = self.storage.cache_folder
        return Traces(folder / "traces", self._traces) if folder and self._traces else None

    def with_model(self, model: Model, seconds: float) -> Memory:
        """The same memory, where another model decides, with so many seconds for one operation; it shares the index."""
        other = copy(self)
        for own in ("_runner", "entries"):
            other.__dict__.pop(own, None)
        other._model, other._limits = model, replace(self._limits or Limits(), seconds=seconds)
        other.__dict__["_parts"] = replace(self._context, model=model)
        return other

    def read(self, path: str = ROOT) -> str:
        """Returns a page as it is stored. Raises `PageNotFound`, `InvalidPath`.

        Bytes that are not UTF-8 appear as U+FFFD; on disk they stay as they are.
        """
        return self._run(rows.READ, path=path)

    def write(
        self,
        text: str,
        path: str | None = None,
        mode: Literal["update", "append", "replace"] = "update",
        *,
        source: str | None = None,
        date: date | str | None = None,
    ) -> WriteResult:
        """Writes a text: on the page `path`, or where it belongs. A page that grows too large is split.

        `update` works the text into the page; `append` adds it at the end and `replace` replaces the page's text, both
        verbatim. `source` says where the text came from, and `date` the day it was said, such as `2026-02-03`; without
        it, a day in the name of the source counts. Raises `InvalidText`, `InvalidPath`, `InvalidSetting`,
        `StorageError`.
        """
        return self._run(rows.WRITE, text=text, path=path, mode=mode, **self._said(source, date))

    def _said(self, source: str | None, day: date | str | None) -> dict[str, str]:
        said = {"source": source, "date": self._parts.calendar.written(day)}
        return {key: value for key, value in said.items() if value is not None}

    def rehearse(
        self,
        text: str,
        path: str | None = None,
        mode: Literal["update", "append", "replace"] = "update",
        *,
        source: str | None = None,
        date: date | str | None = None,
    ) -> WriteResult:
        """Returns what `write` would do, with the splits that would follow, and changes nothing. A model is asked as in
        a write, and may decide otherwise the next time."""
        from memory_v2.operations.dry_run import dry_run

        with dry_run(self._context) as context:
            runner = replace(self._runner, traces=lambda: None)
            arguments = {"text": text, "path": path, "mode": mode, **self._said(source, date)}
            return runner.carry_out(context, rows.WRITE, arguments)

    def split(self, path: str = ROOT) -> SplitResult:
        """Divides a page into a page and its children, whatever its size. Raises `PageNotFound`."""
        return self._run(rows.SPLIT, path=path)

    def search(
        self,
        query: str,
        max_results: int = 10,
        max_tokens: int | None = None,
        *,
        under: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        source: str | None = None,
        near: str | None = None,
        steps: int = 1,
        regex: bool = False,
        only: Literal["pages", "entries"] | None = None,
        agent: str | None = None,
        domain: str | None = None,
        tags: Iterable[str] = (),
        min_confidence: float | None = None,
        cross: bool = False,
        archived: bool = False,
    ) -> SearchResults:
        """Returns the best answers of pages and entries to a question, best first, each verbatim with its page and
        lines, or its entry. With `max_tokens` as many as fit into so many tokens, by an estimate, whatever
        `max_results` is: `.text` is ready for a prompt.

        The others narrow it: to a page and those below it (`under`), to what was said on some days, to a `source` by
        a part of its name, to the pages at most `steps` links from the page `near`. With `regex` the query is a Python
        regular expression, and the lines that match come in the order of pages.

        `only` is `pages` or `entries`. An `agent`, a `domain`, `tags` and `min_confidence` are what entries have; with
        `cross`, entries that references join to what is found come too, and with `archived` those in the archive.
        Raises `InvalidText`, `InvalidSetting`, `InvalidPattern`, `InvalidPath`, `PageNotFound`.
        """
        given = {name: value for name, value in locals().items() if name != "self"}
        written = self._parts.calendar.written
        given |= {"since": written(since), "until": written(until), "tags": tag_list(tags) or ()}
        told = {
            name: value
            for name, value in given.items()
            if name in ALWAYS_TOLD or value is not SEARCH.argument(name).default
        }
        return self._run(SEARCH, **told)

    def list_files(self) -> list[PageInfo]:
        """Lists all pages: path, title, size, date, and the links to and from each."""
        return self._run(rows.LIST_FILES)

    def graph(self) -> Graph:
        """Returns the pages and the links between them."""
        return self._run(rows.GRAPH)

    def merge(self, path: str) -> Result:
        """Folds a page back into its parent, verbatim. Raises `PageNotFound`, `NotAllowed`."""
        return self._run(rows.MERGE, path=path)

    def rename(self, old: str, new: str) -> Result:
        """Moves a page, and the pages below it, to another path; links follow. Raises `PageNotFound`, `PageExists`."""
        return self._run(rows.RENAME, old=old, new=new)

    def delete(self, path: str) -> DeleteResult:
        """Deletes a page. Its children move to its parent. Raises `PageNotFound`, `NotAllowed`."""
        return self._run(rows.DELETE, path=path)

    def create(self, path: str, text: str) -> Result:
        """Creates a page with exactly this text; no model is asked. Raises `PageExists`, `InvalidText`."""
        return self._run(rows.CREATE, path=path, text=text)

    def insert(self, path: str, line: int, text: str) -> Result:
        """Inserts a text after so many lines of a page, 0 for the top; no model is asked. The sections that the program
        writes are not counted. Raises `PageNotFound`, `NotAllowed`."""
        return self._run(rows.INSERT, path=path, line=line, text=text)

    def replace_text(
        self, path: str, old: str, new: str, *, source: str | None = None, date: date | str | None = None
    ) -> Result:
        """Replaces a part of a page's text, to the character; no model is asked. `source` and `date` say of the new
        words what they say for `write`. Raises `PageNotFound`, `InvalidSetting`, and `NotAllowed` unless the part
        occurs exactly once."""
        return self._run(rows.REPLACE_TEXT, path=path, old=old, new=new, **self._said(source, date))

    def delete_folder(self, path: str) -> Result:
        """Deletes all pages below a path; the page of this path stays. Raises `PageNotFound` if there are none."""
        return self._run(rows.DELETE_FOLDER, path=path)

    def rename_folder(self, old: str, new: str) -> Result:
        """Moves all pages below a path to another path; links follow. Raises `PageNotFound` if there are none,
        `PageExists`, `NotAllowed`."""
        return self._run(rows.RENAME_FOLDER, old=old, new=new)

    def edit(self, path: str, text: str, was: str) -> Result:
        """Replaces a page, as it is stored, by the text that an editor has made of it; `was` is what `read` gave the
        editor. Raises `PageNotFound`, `InvalidText`, and `StorageConflict` if the page has changed meanwhile."""
        return self._run(rows.EDIT, path=path, text=text, was=was)

    def check(self) -> list[Finding]:
        """Lists the problems of the tree with page and line, errors first; empty if there are none."""
        return list(self.checkup().findings)

    def checkup(self, apply: bool = False) -> Checkup:
        """Checks the tree for problems; with `apply`, repairs what can be repaired and returns what is left."""
        return self._run(entry_rows.CHECK, apply=apply)

    def history(self, path: str | None = None) -> list[PastOperation]:
        """Lists past operations, newest first, edits by hand included; with `path`, only those that changed that page.
        Raises `NotAllowed` if no history is kept."""
        return self._run(rows.HISTORY, path=path)

    def show(self, revision: str) -> tuple[PastOperation, Change]:
        """Returns a past operation and what it changed. Raises `NotAllowed` if there is no such operation."""
        return self._run(rows.SHOW, revision=revision)

    def diff(self, old: str, new: str | None = None) -> Change:
        """Returns what changed from after the operation `old` to after the operation `new`, or until now."""
        return self._run(rows.DIFF, old=old, new=new)

    def blame(self, path: str = ROOT) -> list[BlamedLine]:
        """Lists every line of a page with the operation that brought it. Raises `PageNotFound`, `NotAllowed`."""
        return self._run(rows.BLAME, path=path)

    def undo(self, revision: str | None = None) -> Result:
        """Undoes an operation, or the newest one: its pages are as before it, byte for byte. Raises `NotAllowed`,
        changing nothing, if later changes depend on it."""
        self.entries.pick_up()  # what was captured last may be the newest
        return self._run(rows.UNDO, revision=revision)

    def restore(self, revision: str, path: str | None = None) -> Result:
        """Restores a page, or all pages, to the state after an operation; the present state stays in the history.
        Raises `NotAllowed`, `PageNotFound`."""
        return self._run(rows.RESTORE, revision=revision, path=path)

    def pack_history(self) -> Packed:
        """Packs the files of the history into one. Raises `NotAllowed` for a bucket, and where no history is kept."""
        self.entries.pick_up()
        return self._run(rows.PACK_HISTORY)

    def context(self, max_tokens: int = 2_000, project: str | None = None) -> SessionContext:
        """Returns what a session begins with: the root page and the pages about a project, framed as data and cut to
        `max_tokens`. Interrupted operations are left alone, for finishing them may take a model."""
        return rows.CONTEXT.load()(self.storage, max_tokens=max_tokens, project=project)

    def forget(
        self, text: str | None = None, path: str | None = None, lines: str | None = None, apply: bool = False
    ) -> Forgotten:
        """Takes something out of the pages, the history, traces, pending notes, the index, leftovers and old versions
        in a bucket, for good: a `text`, to the letter; a page `path`; or `lines` of it, such as `3-5`. Without `apply`
        it changes nothing and tells where it stands. The history says that something was forgotten, not what.

        Revisions since the first that held it get new ids. Raises `InvalidText`, `InvalidSetting`, `NotAllowed`,
        `PageNotFound`, `StorageError`.
        """
        return self._run(rows.FORGET, text=text, path=path, lines=lines, apply=apply)

    def import_batch(self, batch: Batch) -> ImportResult:
        """Brings in documents, each as a page of its own, in one operation; `memory_v2.migrate` makes the batches.
        Raises `InvalidSetting`, `StorageError`; then nothing was changed."""
        require(hasattr(batch, "documents"), "a batch must be one that memory_v2.migrate makes", batch)
        act = partial(rows.IMPORT.load(), batch=batch)
        return self._runner.run(self._context, batch.operation, act, batch.arguments)

    def running(self) -> list[RunningOperation]:
        """Lists the operations of this object that are running now in any thread, oldest first: those that leave a
        trace."""
        return list(self._running)

    def cancel(self, id: str) -> bool:  # noqa: A002 - as it is called in the history
        """Cancels a running operation, which raises `Cancelled` at once if it waits for a model. Returns whether it
        ends with nothing stored; if its change is stored already, only the splits that follow are put off. Raises
        `NotAllowed` if the id is not a string."""
        return self._running.cancel(id)

    def traces(self) -> list[str]:
        """Lists the names of the traces, oldest first."""
        self._recover()
        return kept.names() if (kept := self._kept_traces) else []

    def trace(self, name: str = "last") -> Trace:
        """Returns the trace of an operation: `name` is its name, a part of it, or `last`. Raises `NotAllowed`."""
        kept = self._traces_or_refusal()
        return kept.load(kept.find(name))

    def replay(self, name: str | Path = "last") -> Replay:
        """Runs an operation again, on the tree as it was and with the recorded answers, and tells whether the result is
        the same, byte for byte. This memory is not changed. `name` names a trace, or is a file that holds one. Raises
        `NotAllowed`, `InvalidText`."""
        from memory_v2.operations.replay import replay
        from memory_v2.trace.files import load_trace

        kept = self._traces_or_refusal()
        return replay(self._context, load_trace(name) if isinstance(name, Path) else self.trace(name), kept, TABLE)

    def _traces_or_refusal(self) -> Traces:
        self._recover()
        if (kept := self._kept_traces) is None:
            raise NotAllowed(f"{self.storage.where} keeps no traces")
        return kept

    def close(self) -> None:
        """Closes the index's file; the next use opens it again."""
        if "_index_store" in self.__dict__:
            self._index_store.close()
        if "entries" in self.__dict__:
            self.entries.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({readable(self.storage.where)!r})"
