"""What users hold: a memory. Each method is an operation, run by the engine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from memory_v2 import entries, operations
from memory_v2.agent.operation import RunningOperation
from memory_v2.engine import Engine
from memory_v2.errors import StorageError
from memory_v2.settings import DEFAULT_AGENT, DEFAULT_THRESHOLD, DEFAULT_TRACES, Limits, Settings
from memory_v2.storage.opened import open_storage
from memory_v2.text.days import Calendar, utc_now
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT
from memory_v2.validate import check_given, require, tag_list

if TYPE_CHECKING:
    from memory_v2.memory_checkpoints import Checkpoints
    from memory_v2.memory_entries import Entries
    from memory_v2.models.base import Model
    from memory_v2.operations.check import Checkup
    from memory_v2.operations.history import BlamedLine, PackResult, PastOperation
    from memory_v2.operations.imports import ImportBatch, ImportResult
    from memory_v2.operations.recovery import Recovered
    from memory_v2.operations.replay import Replay
    from memory_v2.operations.results import (
        DatedLines,
        DeleteResult,
        Finding,
        PageInfo,
        Result,
        SearchResults,
        SimilarLine,
        SplitResult,
        WriteResult,
    )
    from memory_v2.operations.session_start import SessionContext
    from memory_v2.plan import Plan
    from memory_v2.storage.base import MemoryStorage
    from memory_v2.storage.history import Change
    from memory_v2.trace.recording import Event, Trace
    from memory_v2.tree.graph import Graph

PagePath = Annotated[str, "The page."]
PageOrRoot = Annotated[str, "The page; the root if none is given."]
Title = Annotated[str | None, "Its new title; the old one stays if none is given."]


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
        dense: bool = True,
        on_event: Callable[[str, Event], object] | None = None,
    ) -> None:
        """A memory on any storage. `model` is the name of a model, or a model of your own; `limits` is how much of it
        one operation may use; `now` is the clock; `threshold` is the maximum size of a page in bytes; `traces` is how
        many traces to keep; `prices` is a JSON file with your own prices; `timezone` says which day a moment falls on;
        `agent` is whose entries are captured; `dense` is whether search goes by meaning too, where the extra is
        installed; `on_event` is called in the thread of an operation, with its id and each event of its trace as it
        happens, from `begin` to `end`."""
        check_given(storage, model, threshold, limits, now, traces, prices, timezone, agent, dense, on_event)
        self.storage, self.prices = storage, prices
        self._engine = Engine(
            storage,
            model,
            threshold=threshold,
            limits=limits or Limits(),
            calendar=Calendar(timezone, now or utc_now),
            traces=traces,
            prices=prices,
            agent=agent,
            is_dense=dense,
            on_event=on_event,
        )

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
        `SILICA_MEMORY_DENSE`, then the file, then `True`. The first write creates the folder. Without a `path`,
        `SILICA_MEMORY_BACKEND=s3` selects a bucket instead."""
        settings = Settings.from_environment(os.environ, path, model if isinstance(model, str) else None)
        settings = settings if dense is None else replace(settings, dense=dense)
        return cls.from_settings(settings, model, on_event)

    @classmethod
    def from_settings(cls, settings: Settings, model: str | Model | None = None, on_event: Any = None) -> Memory:
        """Opens the memory that settings describe; `model` is used instead of theirs."""
        return cls(
            open_storage(settings),
            settings.model if model is None else model,
            threshold=settings.threshold,
            limits=settings.limits,
            traces=settings.traces,
            prices=settings.prices,
            now=settings.clock,
            timezone=settings.timezone,
            agent=settings.agent,
            dense=settings.dense,
            on_event=on_event,
        )

    @property
    def today(self) -> date:
        """The current day, in the time zone of this memory."""
        return self._engine.calendar.today

    @property
    def model_name(self) -> str:
        """The model that decides: `offline`, `anthropic:<model>`."""
        return self._engine.parts.model.name

    @property
    def is_offline(self) -> bool:
        """Whether the offline planner decides, so that nothing is paid."""
        return self._engine.is_offline

    @property
    def threshold(self) -> int:
        """The maximum size of a page, in bytes."""
        return self._engine.threshold

    @cached_property
    def entries(self) -> Entries:
        """The entries: short, dated observations beside the pages."""
        from memory_v2.memory_entries import Entries

        return Entries(self._engine)

    @property
    def checkpoints(self) -> Checkpoints:
        """The checkpoints: named points of the history, with all pages and entries."""
        from memory_v2.memory_checkpoints import Checkpoints

        return Checkpoints(self._engine)

    def recover(self) -> list[Recovered]:
        """Finishes interrupted operations, as every method does first, and returns those finished since then. What
        takes long is left to the next change, and told by `waiting`. Raises `StorageError` for a newer format."""
        self._engine.recovery.attempt()
        return self._engine.recovery.done

    def waiting(self) -> list[str]:
        """Tells, in a sentence each, which interrupted operations are large, so that the next change finishes them."""
        self._engine.recovery.attempt()
        return self._engine.recovery.waiting

    def watch(self) -> None:
        """Looks for edits by hand, if it is time. Called every second, it saves all other methods such a look."""
        self._engine.run(operations.survey.watch)

    def with_model(self, model: Model, seconds: float, traces: int | None = None) -> Memory:
        """The same memory, with the same index; another model decides, with so many seconds for one operation."""
        other = copy(self)
        other.__dict__.pop("entries", None)
        other._engine = self._engine.with_model(model, seconds, traces)
        return other

    def read(self, path: PageOrRoot = ROOT) -> str:
        """Returns a page as it is stored, bytes that are no UTF-8 as U+FFFD. Raises `PageNotFound`, `InvalidPath`."""
        return self._engine.run_on(self.storage, operations.read.read, path)

    def write(
        self,
        text: Annotated[str, "The text, in Markdown."],
        path: Annotated[
            str | None, "The page to write to, created if missing. Default: where the text belongs."
        ] = None,
        mode: Annotated[
            Literal["update", "append", "replace"],
            "update works the text into the page; append adds it at the end; replace replaces the page's text.",
        ] = "update",
        *,
        source: Annotated[
            str | None, "Where the text came from: a file, a URL, a session, an author. Kept with it."
        ] = None,
        date: Annotated[
            date | str | None,
            "The day the text was said, such as 2026-02-03. Default: the day in the name of the source, if any.",
        ] = None,
    ) -> WriteResult:
        """Writes a text: on the page `path`, or where it belongs. A page that grows too large is split.

        `update` works the text into the page; `append` adds it at the end and `replace` replaces the page's text, both
        verbatim. `source` says where the text came from, and `date` the day it was said, such as `2026-02-03`; without
        it, a day in the name of the source counts. Raises `InvalidText`, `InvalidPath`, `InvalidSetting`,
        `StorageError`.
        """
        return self._engine.run(operations.write.write, text, path, mode, source, self._day_as_text(date))

    def _day_as_text(self, day: date | str | None) -> str | None:
        return self._engine.calendar.written(day)

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
        return self._engine.rehearse(operations.write.write, text, path, mode, source, self._day_as_text(date))

    def split(self, path: PageOrRoot = ROOT) -> SplitResult:
        """Divides a page into a page and its children, a small one only along its parts. Raises `PageNotFound`."""
        return self._engine.run(operations.overgrown.split_now, path)

    def search(
        self,
        query: Annotated[str, "The question."],
        max_results: Annotated[int, "The maximum number of answers."] = 10,
        max_tokens: Annotated[
            int | None, "As many answers as fit into this many tokens, instead, for a prompt."
        ] = None,
        *,
        under: Annotated[str | None, "Only this page and those below it."] = None,
        since: Annotated[date | str | None, "Only what was said on this day or later, such as 2026-02-03."] = None,
        until: Annotated[date | str | None, "Only what was said on this day or before."] = None,
        source: Annotated[str | None, "Only what came from a source with this in its name."] = None,
        near: Annotated[str | None, "Only this page and those that links join to it."] = None,
        steps: Annotated[int, "How many links away from the page that is near."] = 1,
        regex: Annotated[
            bool, "The query is a regular expression: find the lines that match, in the order of pages."
        ] = False,
        only: Annotated[Literal["pages", "entries"] | None, "Only pages, or only entries."] = None,
        agent: Annotated[str | None, "Only entries of this agent, or shared ones."] = None,
        domain: Annotated[str | None, "Only entries whose home is this domain or page; or inbox."] = None,
        tags: Annotated[Iterable[str], "Only entries with all these tags, in any case: a,b, or repeated."] = (),
        min_confidence: Annotated[float | None, "Only entries with at least this confidence, from 0 to 1."] = None,
        cross: Annotated[bool, "Entries that references join to what is found, too, one step either way."] = False,
        archived: Annotated[bool, "Entries in the archive, too."] = False,
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
        asked = operations.search_request.SearchRequest(
            query,
            max_results,
            max_tokens,
            under=under,
            since=self._day_as_text(since),
            until=self._day_as_text(until),
            source=source,
            near=near,
            steps=steps,
            regex=regex,
            only=only,
            agent=agent,
            domain=domain,
            tags=tuple(tag_list(tags)),
            min_confidence=min_confidence,
            cross=cross,
            archived=archived,
        )
        return self._engine.run(entries.searching.search, asked)

    def similar(self, text: Annotated[str, "The text."]) -> list[SimilarLine]:
        """Lists the lines that say most of what a text says, best first, without a model: an older statement of it."""
        return self._engine.run(operations.similar.similar, text)

    def list_files(self) -> list[PageInfo]:
        """Lists all pages: path, title, size, date, and the links to and from each."""
        return self._engine.run(operations.survey.list_pages)

    def days(self, path: PageOrRoot = ROOT) -> list[DatedLines]:
        """Lists the blocks of a page: their lines, the day they were said, and their source. Raises `PageNotFound`."""
        return self._engine.run(operations.survey.days, path)

    def graph(self) -> Graph:
        """Returns the pages and the links between them."""
        return self._engine.run(operations.survey.graph)

    def merge(self, path: PagePath) -> Result:
        """Folds a page back into its parent, verbatim. Raises `PageNotFound`, `NotAllowed`."""
        return self._engine.run(operations.arrange.merge, path)

    def rename(self, old: PagePath, new: Annotated[str, "Its new path."], title: Title = None) -> Result:
        """Moves a page, and the pages below it, to another path; links follow. Raises `PageNotFound`, `PageExists`."""
        return self._engine.run(operations.arrange.rename, old, new, title)

    def delete(self, path: PagePath) -> DeleteResult:
        """Deletes a page. Its children move to its parent. Raises `PageNotFound`, `NotAllowed`."""
        return self._engine.run(operations.arrange.delete, path)

    def create(self, path: PagePath, text: Annotated[str, "The text, in Markdown."]) -> Result:
        """Creates a page with exactly this text; no model is asked. Raises `PageExists`, `InvalidText`."""
        return self._engine.run(operations.exact.create, path, text)

    def insert(
        self,
        path: PagePath,
        line: Annotated[int, "The number of lines before the text; 0 is the top of the page."],
        text: Annotated[str, "The text, in Markdown."],
    ) -> Result:
        """Inserts a text after so many lines of a page, 0 for the top; no model is asked. The sections that the program
        writes are not counted. Raises `PageNotFound`, `NotAllowed`."""
        return self._engine.run(operations.exact.insert, path, line, text)

    def replace_text(
        self,
        path: PagePath,
        old: Annotated[str, "The part, which occurs exactly once."],
        new: Annotated[str, "What stands there instead."],
        *,
        source: Annotated[str | None, "Where the new words came from. Kept with them."] = None,
        date: Annotated[date | str | None, "The day they were said, such as 2026-02-03."] = None,
    ) -> Result:
        """Replaces a part of a page's text, to the character; no model is asked. `source` and `date` say of the new
        words what they say for `write`. Raises `PageNotFound`, `InvalidSetting`, and `NotAllowed` unless the part
        occurs exactly once."""
        return self._engine.run(operations.exact.replace_text, path, old, new, source, self._day_as_text(date))

    def delete_folder(self, path: Annotated[str, "The path; the page of this path stays."]) -> Result:
        """Deletes all pages below a path; the page of this path stays. Raises `PageNotFound` if there are none."""
        return self._engine.run(operations.exact.delete_folder, path)

    def rename_folder(self, old: Annotated[str, "The path."], new: Annotated[str, "The other path."]) -> Result:
        """Moves all pages below a path to another path; links follow. Raises `PageNotFound` if there are none,
        `PageExists`, `NotAllowed`."""
        return self._engine.run(operations.exact.rename_folder, old, new)

    def edit(
        self,
        path: PagePath,
        text: Annotated[str, "The whole page as it is to be stored."],
        was: Annotated[str, "The whole page as the editor was given it."],
    ) -> Result:
        """Replaces a page, as it is stored, by the text that an editor has made of it; `was` is what `read` gave the
        editor. Raises `PageNotFound`, `InvalidText`, and `StorageConflict` if the page has changed meanwhile."""
        return self._engine.run(operations.exact.edit, path, text, was)

    def check(self) -> list[Finding]:
        """Lists the problems of the tree with page and line, errors first; empty if there are none."""
        return list(self.checkup().findings)

    def checkup(self, apply: Annotated[bool, "Repair what can be repaired."] = False) -> Checkup:
        """Checks the tree for problems; with `apply`, repairs what can be repaired and returns what is left."""
        return self._engine.run(entries.checking.check, apply)

    def history(
        self, path: Annotated[str | None, "Only operations that changed this page."] = None
    ) -> list[PastOperation]:
        """Lists past operations, newest first, edits by hand included; with `path`, only those that changed that page.
        The first one is what `undo` takes back, unless it is an undo. Raises `PageNotFound` for one that never was."""
        with suppress(StorageError):  # a read-only disk must not stop readers
            self._engine.pick_up_last()
        return self._engine.run(operations.history.history, path)

    def show(self, revision: Annotated[str, "The operation's id, or its beginning."]) -> tuple[PastOperation, Change]:
        """Returns a past operation and what it changed. Raises `NotAllowed` if there is no such operation."""
        return self._engine.run(operations.history.changes, revision)

    def diff(
        self,
        old: Annotated[str, "Compare the pages as they were after this operation"],
        new: Annotated[str | None, "with the pages as they were after this one; else as they are now."] = None,
    ) -> Change:
        """Returns what changed from after the operation `old` to after the operation `new`, or until now."""
        return self._engine.run(operations.history.difference, old, new)

    def blame(self, path: PageOrRoot = ROOT) -> list[BlamedLine]:
        """Lists every line of a page with the operation that brought it. Raises `PageNotFound`, `NotAllowed`."""
        return self._engine.run(operations.history.blame, path)

    def undo(
        self, revision: Annotated[str | None, "The operation's id; else the newest that is not undone."] = None
    ) -> Result:
        """Undoes an operation, or the newest one: its pages are as before it, byte for byte. Raises `NotAllowed`,
        changing nothing, if later changes depend on it."""
        self._engine.recovery.attempt()
        self._engine.store.pick_up_last()
        return self._engine.run(operations.history.undo, revision)

    def restore(
        self,
        revision: Annotated[str, "The id of the operation after which the pages were as wanted."],
        path: Annotated[str | None, "The page; all pages if none is given."] = None,
    ) -> Result:
        """Restores a page, or all pages, to the state after an operation; the present state stays in the history.
        Raises `NotAllowed`, `PageNotFound`."""
        return self._engine.run(operations.history.restore, revision, path)

    def pack_history(self) -> PackResult:
        """Packs the files of the history into one. Raises `NotAllowed` for a bucket, and where no history is kept."""
        self.entries.pick_up()
        return self._engine.run_on(self.storage, operations.history.pack)

    def context(
        self,
        max_tokens: Annotated[int, "The maximum number of tokens, by an estimate."] = 2_000,
        project: Annotated[str | None, "The name of the project."] = None,
    ) -> SessionContext:
        """Returns what a session begins with: the root page and the pages about a project, framed as data and cut to
        `max_tokens`. Interrupted operations are left alone, for finishing them may take a model."""
        return self._engine.run_on(self.storage, operations.session_start.context, max_tokens, project)

    def forget(
        self,
        text: Annotated[str | None, "The text, to the letter, wherever it stands."] = None,
        path: Annotated[str | None, "The page, with its past and each line that stands on it alone."] = None,
        lines: Annotated[str | None, "Only these lines of the page, such as 3-5, wherever they stand."] = None,
        apply: Annotated[bool, "Do it; otherwise only say where it stands."] = False,
    ) -> Plan:
        """Takes something out of the pages, the history, traces, pending notes, the index, leftovers and old versions
        in a bucket, for good: a `text`, to the letter; a page `path`; or `lines` of it, such as `3-5`. Without `apply`
        it changes nothing and tells where it is. The history says that something was forgotten, not what. Revisions
        since the first that held it get new ids. Raises `InvalidText`, `InvalidSetting`, `NotAllowed`, `PageNotFound`,
        `StorageError`."""
        if apply:
            self.entries.pick_up()
        return self._engine.run(operations.forget.forget, text, path, lines, apply)

    def import_batch(self, batch: ImportBatch) -> ImportResult:
        """Brings in documents, each as a page of its own, in one operation; `memory_v2.migrate` makes the batches.
        Raises `InvalidSetting`, `StorageError`; then nothing was changed."""
        require(hasattr(batch, "documents"), "a batch must be one that memory_v2.migrate makes", batch)
        return self._engine.import_batch(batch)

    def running(self) -> list[RunningOperation]:
        """Lists the operations of this object that run now in any thread and leave a trace, oldest first."""
        return list(self._engine.running)

    def cancel(self, id: str) -> bool:  # noqa: A002 - as it is called in the history
        """Cancels a running operation, which raises `Cancelled`. Returns whether it stores nothing; if its change is
        stored already, only the splits after it are put off. Raises `NotAllowed`."""
        return self._engine.running.cancel(id)

    def traces(self) -> list[str]:
        """Lists the names of the traces, oldest first."""
        self._engine.recovery.attempt()
        return kept.names() if (kept := self._engine.kept_traces) else []

    def trace(self, name: str = "last") -> Trace:
        """Returns the trace of an operation: `name` is its name, a part of it, or `last`. Raises `NotAllowed`."""
        kept = self._engine.needed_traces()
        return kept.load(kept.find(name))

    def replay(self, name: str | Path = "last") -> Replay:
        """Runs an operation again, on the tree as it was and with the recorded answers, and tells whether the result is
        the same to the byte. `name` is a trace, or a file that holds one. Raises `NotAllowed`, `InvalidText`."""
        from memory_v2.trace.recording import load_trace

        return self._engine.replay(load_trace(name) if isinstance(name, Path) else self.trace(name))

    def close(self) -> None:
        """Closes the files of the index; the next use opens them again."""
        self._engine.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({readable(self.storage.where)!r})"
