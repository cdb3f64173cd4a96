"""Listing entries, and reading one."""

from __future__ import annotations

import logging

from memory_v2.agent.operation import operation
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import SHARED, Entry, Reference, home_named
from memory_v2.entries.entry_paths import check_agent, place_of
from memory_v2.entries.file import read_entry as read_file
from memory_v2.entries.references import Targets, incoming
from memory_v2.entries.store import EntryStore
from memory_v2.text.amounts import counted_entries

logger = logging.getLogger(__name__)


@operation("list_entries")
def list_entries(
    store: EntryStore,
    agent: str | None = None,
    tag: str | None = None,
    archived: bool = False,
    domain: str | None = None,
) -> list[Entry]:
    """The entries, oldest first: those of an agent or `shared`, with a tag, at home in a domain or on a page, or in the
    inbox; and with those in the archive if `archived`. Raises `InvalidSetting`."""
    space = agent if agent in (None, SHARED) else check_agent(agent)
    home = domain and home_named(domain, domains(store).domains)
    files = store.files()
    if unread := sum(file.entry is None for file in files):
        logger.warning("%s cannot be read; 'silica memory check' tells why", counted_entries(unread))
    return [
        entry
        for file in files
        if (entry := file.entry) is not None
        and space in (None, entry.space)
        and (archived or not entry.archived)
        and home in (None, entry.home or "")
        and (tag is None or tag.casefold() in map(str.casefold, entry.tags))
    ]


@operation("read_entry")
def read_entry(store: EntryStore, id: str) -> Entry:  # noqa: A002 - as it is called in the results
    """An entry by its id; without an agent's name, it is the default agent's or a shared one. Raises `EntryNotFound`,
    and `NotAllowed` for a file that does not say what an entry must."""
    return store.entry(id)


@operation("referred_to_by")
def referred_to_by(store: EntryStore, id: str) -> list[Reference]:  # noqa: A002 - as above
    """The entries that refer to an entry, each with how; from the index. Raises `EntryNotFound`."""
    of = store.read(id)
    place = place_of(of.path)
    assert place is not None, of.path
    store.index.refresh()
    origins = of.entry.derived_from if of.entry else ()
    names = [place.id.casefold(), place.name.casefold(), *map(str.casefold, origins)]
    namesakes = [
        *store.index.called([place.name.casefold()]),
        *(one for name in origins for one in store.index.holding(name)),
    ]
    files = dict([*store.index.naming(names), *namesakes])
    read = (read_file(there, data).entry for path, data in files.items() if (there := place_of(path)))
    known = [entry for entry in read if entry is not None]
    return list(incoming(known, Targets(known)).get(place.id, ()))
