"""What keeping entries in order works with: the entries as they were read, and how a plan about them is carried out."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from memory_v2.entries.entry import Entry
from memory_v2.entries.file import EntryFile, Written, changed_header, read_entry
from memory_v2.entries.places import Place, moved_to, place_of
from memory_v2.entries.store import EntryStore
from memory_v2.errors import EntryNotFound, InvalidSetting, NotAllowed, StorageConflict, StorageError
from memory_v2.operations.context import Context
from memory_v2.operations.operation import operation
from memory_v2.plan import MAX_PLANS, Plan, carry_out
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted
from memory_v2.trace.recording import Event, Trace
from memory_v2.tree.block import decode, encode
from memory_v2.validate import one_line

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class CurationContext:
    """The entries, and what an operation that asks a model works with."""

    store: EntryStore
    context: Context


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


@dataclass(frozen=True)
class Stock:
    """The entries of a memory, as they were read: the file of each by id, and the paths of all files."""

    store: EntryStore
    files: dict[str, EntryFile]
    paths: frozenset[str]

    @cached_property
    def entries(self) -> list[Entry]:
        """All entries that can be read."""
        return [file.entry for file in self.files.values() if file.entry is not None]

    @cached_property
    def ids(self) -> frozenset[str]:
        """The ids of all entries, also of those that cannot be read, and of those that share one."""
        return frozenset(place.id for path in self.paths if (place := place_of(path)))

    def entry(self, entry_id: str) -> Entry:
        """An entry by its id."""
        entry = self.files[entry_id].entry
        assert entry is not None
        return entry

    def data(self, entry_id: str) -> bytes:
        """The bytes of an entry's file. Raises `StorageConflict` if they say something else than they did."""
        file = self.files[entry_id]
        data, place = self.store.data(file.path), place_of(file.path)
        if data is None or place is None or read_entry(place, data).entry != file.entry:
            raise StorageConflict(f"the entry {entry_id} was changed by somebody else meanwhile")
        return data

    def is_editable(self, entry: Entry) -> bool:
        """Whether the header of an entry can be changed: it can be read."""
        return not any(finding.kind == "broken-header" for finding in self.files[entry.id].findings)

    def archive_path(self, entry_id: str) -> str:
        """The path of an entry's file in the archive; there may be another file."""
        return moved_to(self.files[entry_id].path, archived=True)

    def current(self, entry_id: str) -> bytes | None:
        """The bytes of an entry's file now; `None` if it cannot be told which file that is."""
        return self.store.data(self.files[entry_id].path) if entry_id in self.files else None

    def with_header(self, entry_id: str, **keys: Written) -> PageChange:
        """The change that sets these keys in an entry's header."""
        before = self.data(entry_id)
        return PageChange(self.files[entry_id].path, before, encode(changed_header(decode(before), keys)))

    def moved(self, entry_id: str, path: str, **keys: Written) -> tuple[PageChange, PageChange]:
        """The changes that move an entry's file to a path, where there is none, and set these keys in its header."""
        before = self.data(entry_id)
        after = encode(changed_header(decode(before), keys)) if keys else before
        return PageChange(path, None, after), PageChange(self.files[entry_id].path, before, None)


def carried_out(store: EntryStore, apply: bool, plan: Callable[[Stock], Plan]) -> Plan:
    """Makes a plan about the entries, and with `apply` carries it out as one operation. Raises `StorageConflict`."""

    def commit(made: Plan) -> str:
        store.make_ready()
        names = ", ".join(dict.fromkeys(place.id for change in made.changes if (place := place_of(change.path))))
        return store.commit(made.kind, names, made.changes).revision.id[:12]

    return carry_out(lambda: plan(stock_of(store)), commit if apply else None)


def stock_of(store: EntryStore) -> Stock:
    """All entries. Those that share their id with another are left alone, since it is unclear which is meant."""
    files: dict[str, EntryFile] = {}
    repeated: set[str] = set()
    paths = []
    for file in store.files():
        paths.append(file.path)
        if file.entry is not None and files.setdefault(file.entry.id, file) is not file:
            repeated.add(file.entry.id)
    if repeated:
        ids = counted(len(repeated), "id")
        logger.warning("several files of entries share %s, and are left alone; 'silica memory check' tells which", ids)
    return Stock(store, {name: file for name, file in files.items() if name not in repeated}, frozenset(paths))


def read_note(store: EntryStore, name: str) -> Mapping[str, Any]:
    """What a note of the program says; nothing if it is not there, or is no JSON object."""
    try:
        noted = json.loads(store.storage.state.read(name) or b"{}")
    except ValueError:
        return {}
    return noted if isinstance(noted, dict) else {}


def keep_note(store: EntryStore, name: str, said: Mapping[str, Any]) -> None:
    """Keeps what a model has decided, in the place of what was kept before. A failure is only logged: it can be decided
    again."""
    try:
        store.storage.state.write(name, json.dumps(said, indent=1).encode())
    except StorageError as error:
        logger.warning("the plan could not be kept, so carrying it out plans anew: %s", error)


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
        other = _of_space(store, superseded_by, place.space)
        if other == place.id:
            raise InvalidSetting(f"{place.id} cannot be superseded by itself")
        keys["superseded_by"] = other
    return _changed(store, place, "retract", why, lambda _: keys)


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

    return _changed(store, place, "verify", f"by {name}", keys)


def _changed(
    store: EntryStore, place: Place, kind: str, summary: str, keys: Callable[[Entry], Mapping[str, Written]]
) -> ChangedEntry:
    """Changes keys of an entry's header, as the entry is at that moment, in one operation."""
    if others := [one.path for one in store.places() if one.id == place.id and one.path != place.path]:
        raise NotAllowed(f"{place.id} is also what {', '.join(others)} is called; rename one of them first")
    for attempt in range(1, MAX_PLANS + 1):
        if (before := store.data(place.path)) is None:
            raise EntryNotFound(place.id)
        if (entry := read_entry(place, before).entry) is None:
            raise NotAllowed(f"{place.path}.md does not say what an entry must; 'silica memory check' tells why")
        after = encode(changed_header(decode(before), keys(entry)))
        if before == after:
            return ChangedEntry(entry)
        if (entry := read_entry(place, after).entry) is None:
            raise NotAllowed(f"{place.path}.md does not say what an entry must; 'silica memory check' tells why")
        try:
            made = store.commit(kind, f"{place.id}: {summary}", [PageChange(place.path, before, after)])
        except StorageConflict:
            if attempt == MAX_PLANS:
                raise
            continue
        return ChangedEntry(entry, made.revision.id[:12])
    raise AssertionError("the last attempt returns or raises")


def _of_space(store: EntryStore, name: str, space: str) -> str:
    """The id of an entry; without a space, that of this space if there is one."""
    if "/" not in name:
        with suppress(EntryNotFound):
            return store.find(f"{space}/{name}").id
    return store.find(name).id
