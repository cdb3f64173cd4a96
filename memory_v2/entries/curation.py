"""Keeping entries in order: what a plan about them is made from, how it is carried out, what is kept of one that a
model has made, and marks on one entry."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from memory_v2.agent.operation import operation
from memory_v2.entries.entry import Entry
from memory_v2.entries.entry_paths import place_of
from memory_v2.entries.file import EntryFile, Written
from memory_v2.entries.store import EntryStore
from memory_v2.errors import EntryNotFound, InvalidSetting, NotAllowed, StorageError
from memory_v2.operations.context import Context
from memory_v2.plan import Plan, Step, carry_out
from memory_v2.storage.base import PLANS, StateFiles
from memory_v2.text.amounts import counted
from memory_v2.trace.recording import Event, Trace
from memory_v2.validate import one_line

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stock:
    """The entries of a memory as they were read: the file of each by id, oldest first, and the paths of all files."""

    files: Mapping[str, EntryFile]
    paths: frozenset[str]

    @cached_property
    def entries(self) -> list[Entry]:
        """All entries that can be read."""
        return [file.entry for file in self.files.values() if file.entry is not None]

    @property
    def editable(self) -> Iterator[tuple[Entry, EntryFile]]:
        """The entries whose header can be changed, by id."""
        for _, file in sorted(self.files.items()):
            if file.entry is not None and file.has_header:
                yield file.entry, file

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all entries, also of those that cannot be read, and of those that share one."""
        return frozenset(place.id for path in self.paths if (place := place_of(path)))


def stock_of(files: Iterable[EntryFile]) -> Stock:
    """These files of entries. Those that share their id with another are left alone: it is unclear which is meant."""
    known: dict[str, EntryFile] = {}
    repeated: set[str] = set()
    paths = []
    for file in files:
        paths.append(file.path)
        if file.entry is not None and known.setdefault(file.entry.id, file) is not file:
            repeated.add(file.entry.id)
    if repeated:
        ids = counted(len(repeated), "id")
        logger.warning("several files of entries share %s, and are left alone; 'silica memory check' tells which", ids)
    return Stock({name: file for name, file in known.items() if name not in repeated}, frozenset(paths))


def carried_out(store: EntryStore, apply: bool, make: Callable[[Stock], Plan]) -> Plan:
    """Makes a plan about the entries, and with `apply` carries it out as one operation. Raises `StorageConflict`."""

    def commit(plan: Plan) -> str:
        names = dict.fromkeys(place.id for change in plan.changes if (place := place_of(change.path)))
        return store.commit(plan.kind, ", ".join(names), plan.changes)

    return carry_out(lambda: make(stock_of(store.files())), commit if apply else None)


# what a model has planned


@contextmanager
def part_of(context: Context) -> Iterator[Context]:
    """A context for one decision of several in an operation, with the limits for itself. What is decided goes into the
    operation's trace; what a dry run stores does not. A provider that has failed is not asked again."""
    whole = context.operation

    def forward(event: Event) -> None:
        if event["event"] != "commit":
            whole.trace.add(event["event"], **{key: value for key, value in event.items() if key != "event"})

    trace = Trace(listener=forward, reads=whole.trace.reads, keys=whole.trace.keys)
    part = whole.part(trace)
    try:
        yield replace(context, operation=part)
    finally:
        whole.abort_reason = part.abort_reason


def keep_planned(state: StateFiles, kind: str, asked: object, said: Mapping[str, Any]) -> None:
    """Keeps what a model has planned for what was asked, in the place of the last plan of this kind. A failure is only
    logged: it can be planned again."""
    try:
        state.write(f"{PLANS}/{kind}", json.dumps({"asked": asked, **said}, indent=1).encode())
    except StorageError as error:
        logger.warning("the plan could not be kept, so carrying it out plans anew: %s", error)


def planned(state: StateFiles, kind: str, asked: object) -> dict[str, Any]:
    """What was planned last of this kind; nothing if something else was asked, or it cannot be read."""
    try:
        kept = json.loads(state.read(f"{PLANS}/{kind}") or b"{}")
    except (ValueError, RecursionError):
        return {}
    return kept if isinstance(kept, dict) and kept.pop("asked", None) == asked else {}


# marks on one entry


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """An entry as it is now, and the id of the operation that changed it; `None` if it was so before."""

    entry: Entry
    revision: str | None = None


@operation("retract", changes="entries")
def retract(store: EntryStore, id: str, why: str, superseded_by: str | None = None) -> ChangedEntry:  # noqa: A002 - as in results
    """Closes an entry, with the reason, and names the entry that holds instead, if there is one. Raises
    `EntryNotFound`, `InvalidSetting`, `NotAllowed` for a header that cannot be read or an id that two files have, and
    `StorageError`."""
    place = store.find(id)
    keys: dict[str, Written] = {"status": "closed", "retracted": one_line("why", why)}
    if superseded_by is not None:
        keys["superseded_by"] = _of_space(store, superseded_by, place.space)
        if keys["superseded_by"] == place.id:
            raise InvalidSetting(f"{place.id} cannot be superseded by itself")
    return _marked(store, place.id, "retract", why, lambda _: keys)


@operation("verify", changes="entries")
def verify(store: EntryStore, id: str, by: str | None = None) -> ChangedEntry:  # noqa: A002 - as in results
    """Marks an entry as verified, `by` an agent or a person; without a name, the default agent. Raises
    `EntryNotFound`, `InvalidSetting`, `NotAllowed` for the agent whose entry it is, for a closed entry, a header that
    cannot be read or an id that two files have, and `StorageError`."""
    place = store.find(id)
    name = one_line("by", store.agent if by is None else by) or ""
    if name.casefold() == place.space.casefold():
        raise NotAllowed(f"{place.id} is {name}'s own: another agent or a person verifies it; say who with --by")

    def keys(entry: Entry) -> dict[str, Written]:
        if entry.status == "closed":
            raise NotAllowed(f"{place.id} is closed: it cannot be verified")
        return {"verified": True, "verified_by": tuple(dict.fromkeys((*entry.verified_by, name)))}

    return _marked(store, place.id, "verify", f"by {name}", keys)


def _marked(
    store: EntryStore, entry_id: str, kind: str, summary: str, keys: Callable[[Entry], Mapping[str, Written]]
) -> ChangedEntry:
    """Changes keys of an entry's header, as the entry is at that moment, in one operation."""
    paths = sorted(place.path for place in store.places() if place.id == entry_id)
    if len(paths) > 1:
        raise NotAllowed(f"{entry_id} is what {', '.join(paths)} are called; rename one of them first")

    def make() -> Plan:
        change = store.read(entry_id).with_header(**keys(store.entry(entry_id)))
        is_new = change.before != change.after
        return Plan(kind, steps=(Step(kind, entry_id, changes=(change,)),) if is_new else ())

    done = carry_out(make, lambda plan: store.commit(kind, f"{entry_id}: {summary}", plan.changes))
    return ChangedEntry(store.entry(entry_id), done.revision)


def _of_space(store: EntryStore, name: str, space: str) -> str:
    """The id of an entry; without a space, that of this space if there is one."""
    if "/" not in name:
        with suppress(EntryNotFound):
            return store.find(f"{space}/{name}").id
    return store.find(name).id
