"""Retracting: closing one entry that turned out to be wrong or old. Its text stays, and so do references to it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from memory_v2.entries.area import Area
from memory_v2.entries.entry import Entry
from memory_v2.entries.file import read_entry
from memory_v2.entries.header import Written, changed_header
from memory_v2.errors import EntryNotFound, InvalidSetting, NotAllowed, StorageConflict
from memory_v2.operations.operation import operation
from memory_v2.plan import MAX_PLANS
from memory_v2.storage.history import PageChange
from memory_v2.tree.block import decode, encode
from memory_v2.validate import one_line


@dataclass(frozen=True, slots=True)
class Retracted:
    """An entry that is closed, and the id of the operation that closed it; `None` if it was closed so before."""

    entry: Entry
    revision: str | None = None


@operation("retract", changes="entries")
def retract(area: Area, id: str, why: str, superseded_by: str | None = None) -> Retracted:  # noqa: A002 - as in results
    """Closes an entry, with the reason, and names the entry that holds instead, if there is one. Raises
    `EntryNotFound`, `InvalidSetting`, `NotAllowed` for a header that cannot be read or an id that two files have, and
    `StorageError`."""
    place = area.find(id)
    if others := [one.path for one in area.places() if one.id == place.id and one.path != place.path]:
        raise NotAllowed(f"{place.id} is also what {', '.join(others)} is called; rename one of them first")
    told: dict[str, Written] = {"status": "closed", "retracted": one_line("why", why)}
    if superseded_by is not None:
        other = _of_space(area, superseded_by, place.space)
        if other == place.id:
            raise InvalidSetting(f"{place.id} cannot be superseded by itself")
        told["superseded_by"] = other
    for attempt in range(1, MAX_PLANS + 1):
        if (before := area.data(place.path)) is None:
            raise EntryNotFound(id)
        after = encode(changed_header(decode(before), told))
        entry = read_entry(place, after).entry
        if entry is None:
            raise NotAllowed(f"{place.path}.md does not say what an entry must; 'silica memory check' tells why")
        if before == after:
            return Retracted(entry)
        try:
            made = area.commit("retract", f"{place.id}: {why}", [PageChange(place.path, before, after)])
        except StorageConflict:
            if attempt == MAX_PLANS:
                raise
            continue
        return Retracted(entry, made.revision.id[:12])
    raise AssertionError("the last attempt returns or raises")


def _of_space(area: Area, name: str, space: str) -> str:
    """The id of an entry; without a space, that of this space if there is one."""
    if "/" not in name:
        with suppress(EntryNotFound):
            return area.find(f"{space}/{name}").id
    return area.find(name).id
