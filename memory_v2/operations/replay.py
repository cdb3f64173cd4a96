"""Replaying an operation from its trace: on the tree as it was, with the recorded answers. Nothing is stored."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from itertools import dropwhile
from typing import Any, Concatenate

from memory_v2.agent.operation import Operation
from memory_v2.errors import InvalidText, NotAllowed, NotRecorded, PageNotFound, SilicaError, StorageError
from memory_v2.index.dense.chosen import Dense
from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.line_dates import Past
from memory_v2.index.store import IndexStore
from memory_v2.models.base import Model
from memory_v2.operations.context import Context, Freshness
from memory_v2.settings import Limits
from memory_v2.storage.history import History, PageChange, Revision
from memory_v2.storage.overlay import OverlayStorage
from memory_v2.trace.recorded import RecordedModel
from memory_v2.trace.recording import Event, Trace, Traces, digest
from memory_v2.tree.block import encode

logger = logging.getLogger(__name__)

NOT_AGAIN = ("KeyboardInterrupt", "Cancelled", "SystemExit", "InvalidSetting", "NotRecorded")
"""The errors of operations that cannot be replayed, since their cause is not in the trace: an interrupt, or a wrong
setting."""


@dataclass(frozen=True)
class Replay:
    """The outcome of a replay. `differences` are one sentence each. There are none if all pages have the same bytes and
    a search found the same lines."""

    trace: str
    operation: str
    pages: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether the replay had the recorded outcome."""
        return not self.differences

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it."""
        return {**asdict(self), "agrees": self.agrees}


def replay(
    context: Context,
    trace: Trace,
    traces: Traces,
    operations: Mapping[str, Callable[Concatenate[Context, ...], object]],
) -> Replay:
    """Runs the operation of a trace again, if it is one of these `operations`, given by name. The tree before it is
    reconstructed from the stored pages by taking back the changes of this and all later traces. Raises `NotAllowed` if
    a page that the operation read cannot be reconstructed. A page that was added by hand since then stays in the tree,
    and may cause a difference."""
    first = trace.of("begin")[0]
    if (operation := operations.get(first["operation"])) is None:
        raise NotAllowed(f"{trace.name} tells of {first['operation']!r}, which cannot be replayed")
    if ended := next((event for event in trace.of("error") if event["kind"] in NOT_AGAIN), None):
        raise NotAllowed(f"{trace.name} ended in {ended['kind']}, which does not come again by itself")
    if any(event.get("cancelled") for event in trace.of("end")):
        raise NotAllowed(f"{trace.name} was cancelled, which does not come again by itself")
    if trace.of("conflict"):
        raise NotAllowed(f"{trace.name} met another writer in its middle, so it cannot be done again alone")
    past = _Past(context.storage.history, _head_before(context.storage.history, trace, traces))
    again = _again(context, trace, _rewound(context, trace, traces), past)
    failed_now = ""
    problems: list[str] = []
    try:
        operation(again, **first["arguments"])
    except NotRecorded as error:
        problems.append(f"the model was asked for something else: {error}")
    except SilicaError as error:
        failed_now = f"{type(error).__name__}: {error}"
    except (TypeError, ValueError, LookupError) as error:
        raise InvalidText(f"{trace.name} tells of something that cannot be done ({type(error).__name__})") from error
    failed_then = next((f"{event['kind']}: {event['message']}" for event in trace.of("error")), "")
    if failed_now != failed_then and not problems:
        problems.append(f"it {_ended(failed_now)} now, and {_ended(failed_then)} then")
    now, before = _outcome(again.operation.trace), _outcome(trace)
    problems += [
        f"{what} is not what it was" if what in now and what in before else f"{what} was changed only {when}"
        for what in sorted(now.keys() | before.keys())
        if now.get(what) != before.get(what)
        for when in ["now" if what in now else "then"]
    ]
    return Replay(trace.name, first["operation"], tuple(sorted(before)), tuple(problems))


def _ended(failed: str) -> str:
    return f"fails ({failed})" if failed else "succeeds"


def _again(context: Context, trace: Trace, storage: OverlayStorage, past: Past) -> Context:
    first = trace.of("begin")[0]
    started = datetime.fromisoformat(first["started"])
    calendar = replace(context.calendar, now=lambda: started)
    store = IndexStore(None)
    model: Model = context.planner
    if any(event["model"] != context.planner.name for event in trace.of("ask")):
        model = RecordedModel(trace.events, first["model"])
    return replace(
        context,
        storage=storage,
        index=FullTextIndex(
            storage,
            None,
            past,
            calendar,
            Dense() if first.get("dense") else None,
            store=store,
            entries=lambda: context.index.entries.over(storage, store),
        ),
        model=model,
        threshold=first["threshold"],
        calendar=calendar,
        operation=Operation(replace(Limits(**first["limits"]), seconds=float("inf")), Trace()),
        freshness=Freshness(),
    )


def _rewound(context: Context, trace: Trace, traces: Traces) -> OverlayStorage:
    """The tree before the operation."""
    pages: dict[str, bytes | None] = {}
    for one in [*reversed(list(_later(trace, traces))), trace]:
        for commit in reversed(one.of("commit")):
            for change in commit["pages"]:
                pages[change["path"]] = None if change["before"] is None else encode(change["before"])
    started = datetime.fromisoformat(trace.of("begin")[0]["started"])
    storage = OverlayStorage(context.storage, pages, lambda: started)
    for path, known in trace.reads.items():
        if _digest(storage, path) != known:
            raise NotAllowed(
                f"the tree as it was before {trace.name} cannot be had any more: "
                f"{path} was changed by something that left no trace, or by another operation at the same time"
            )
    return storage


def _later(trace: Trace, traces: Traces) -> Iterator[Trace]:
    """The traces that were saved after this one, which may be a copy under another name."""
    names = traces.names()
    if trace.name in names:
        yield from (traces.load(name) for name in names if name > trace.name)
        return
    begin = trace.of("begin")[0]
    others = [traces.load(name) for name in names]
    own = next((number for number, one in enumerate(others) if one.of("begin")[0] == begin), None)
    if own is None:
        raise NotAllowed(f"{trace.name} is not among the traces of this memory, so nobody knows what came after it")
    yield from others[own + 1 :]


@dataclass(frozen=True)
class _Past:
    """A history up to an earlier `head`, for when the lines of the tree were written."""

    history: History
    head: str

    def before(self, revision: str) -> str:
        return self.history.before(revision)

    def revisions(self) -> Iterator[Revision]:
        return dropwhile(lambda revision: revision.id != self.head, self.history.revisions())

    def changed_by(self, revisions: Sequence[Revision]) -> Iterator[tuple[PageChange, ...]]:
        return self.history.changed_by(revisions)


def _head_before(history: History, trace: Trace, traces: Traces) -> str:
    """The newest revision before this trace: the one before its first commit, or before the first one after it."""
    commits = (event["revision"] for one in (trace, *_later(trace, traces)) for event in one.of("commit"))
    first = next(filter(None, commits), "")
    try:
        if not first:
            return history.head if history.begun else ""
        return next(
            (history.before(revision.id) for revision in history.revisions() if revision.id.startswith(first)), ""
        )
    except StorageError as error:
        logger.info("the replay does not know when lines were written: %s", error)
        return ""


def _digest(storage: OverlayStorage, path: str) -> str:
    try:
        return digest(storage.read(path).data)
    except PageNotFound:
        return ""


def _outcome(trace: Trace) -> dict[str, Any]:
    """The outcome of an operation: the last text of each page that it changed, and the places that it found."""
    pages = {change["path"]: change["after"] for commit in trace.of("commit") for change in commit["pages"]}
    found: list[Event] = trace.of("found")
    return pages | ({"what was found": found[-1]["places"]} if found else {})
