"""Checking the entries beside the tree. What was captured or edited by hand comes into the history on the way."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from memory_v2.entries.domains import DOMAINS_PAGE, domains
from memory_v2.entries.entry import Domain, Entry, domain_named
from memory_v2.entries.file import EntryFile
from memory_v2.entries.places import is_pack, is_stored_place, pack_of
from memory_v2.entries.references import Targets, reference_findings
from memory_v2.entries.sharing import Copies
from memory_v2.entries.store import EntryStore
from memory_v2.entries.upkeep import future_findings
from memory_v2.errors import InvalidSetting, PageNotFound, StorageError, Unreadable
from memory_v2.operations.check import Checkup
from memory_v2.operations.check import check as check_tree
from memory_v2.operations.context import Context
from memory_v2.operations.operation import operation
from memory_v2.operations.results import Finding
from memory_v2.text.calendar import Calendar
from memory_v2.tree.path import ENTRIES

_ABOUT_DOMAINS = ("unknown-home", "nowhere-reference")
"""The findings that may be about a domain."""

logger = logging.getLogger(__name__)


@operation("check", changes="tree", recorded="apply")
def check(context: Context, apply: bool = False) -> Checkup:
    """All findings of the tree and of the entries, errors first. With `apply` it repairs what it can of the tree; an
    entry is a person's to mend."""
    checkup = check_tree(context, apply)
    store = EntryStore(context.storage, context.calendar)
    if not (findings := entry_findings(store)):
        return checkup
    found = tuple(sorted((*checkup.findings, *findings), key=lambda one: one.severity))
    return replace(checkup, findings=found, found=(*checkup.found, *findings))


def entry_findings(store: EntryStore) -> list[Finding]:
    """What is wrong with the entries, with file and line."""
    stamps = [stamp.path for stamp in store.storage.stamps(ENTRIES)]
    ignored = store.storage.ignored_files(ENTRIES)
    if not stamps and not ignored:
        return []
    record_entries(store)
    files = list(store.read_files())
    return [
        *(store.stored.located(finding) for file in files for finding in file.findings),
        *map(store.stored.located, _inconsistencies(store, files)),
        *_same_ids(store),
        *(_hidden(path) for path in stamps if store.stored.is_hidden(path)),
        *(Finding("stray-file", "notice", name, 0, f"this file is no entry: {reason}") for name, reason in ignored),
        *_pack_findings(store, stamps),
        *(_stray(path) for path in stamps if not is_stored_place(path) and path != DOMAINS_PAGE),
    ]


def _inconsistencies(store: EntryStore, files: Sequence[EntryFile]) -> Iterator[Finding]:
    known: Sequence[Domain] | None = None
    try:
        known = domains(store).domains
    except (InvalidSetting, StorageError) as error:
        yield Finding("bad-domains", "error", DOMAINS_PAGE, 0, str(error))
    for finding in inconsistencies(files, known or (), store.storage.list_files(), store.calendar):
        if known is not None or finding.kind not in _ABOUT_DOMAINS:  # it is unknown which there are
            yield finding


def inconsistencies(
    files: Sequence[EntryFile], domains: Sequence[Domain], pages: Sequence[str], calendar: Calendar
) -> Iterator[Finding]:
    """References that lead nowhere, to several entries or back; homes that are not there; entries of the future; copies
    whose original has changed or is not known."""
    entries = [file.entry for file in files if file.entry is not None]
    paths = {file.entry.id: file.path for file in files if file.entry is not None}
    targets = Targets(entries, domains, pages)
    for finding in (
        *reference_findings(entries, targets),
        *_unknown_homes(entries, targets, domains),
        *future_findings(entries, calendar),
        *Copies(entries).findings(),
    ):
        yield replace(finding, path=paths[finding.path])


def _unknown_homes(entries: Sequence[Entry], targets: Targets, domains: Sequence[Domain]) -> Iterator[Finding]:
    for entry in entries:
        if entry.home is None or domain_named(entry.home, domains) or targets.lead(entry.home).kind == "page":
            continue
        message = f"its home {entry.home!r} is neither a domain nor a page; 'silica memory domains' shows the domains"
        yield Finding("unknown-home", "notice", entry.id, 0, message)


def record_entries(store: EntryStore) -> None:
    """Brings what was captured or edited by hand into the history, if its disk can be written."""
    try:
        store.pick_up()
        history = store.storage.history
        known = history.paths(history.head, ENTRIES) if history.begun else set()
        store.storage.record_external_edits(known.union(stored_paths(store)), store.calendar.now())
    except StorageError as error:  # a read-only disk must not stop readers
        logger.info("captured entries could not be brought into the history: %s", error)


def stored_paths(store: EntryStore) -> list[str]:
    """The paths of all entries, and of the domains if they were edited."""
    there = (stamp.path for stamp in store.storage.stamps(ENTRIES))
    return [path for path in there if is_stored_place(path) or path == DOMAINS_PAGE]


def _pack_findings(store: EntryStore, stamps: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the packs; one that cannot be read is told among the entries."""
    for path in filter(is_pack, stamps):
        with suppress(PageNotFound, Unreadable):
            yield from (Finding("bad-pack", "error", path, *problem) for problem in store.stored.pack(path).problems)


def _stray(path: str) -> Finding:
    message = "no entries are looked for here; they are in agents/NAME/memory/vault and in shared/observations"
    return Finding("stray-file", "notice", path, 0, message)


def _hidden(path: str) -> Finding:
    message = "a pack has an entry with the path of this file, so nothing reads the file; rename it"
    return Finding("hidden-entry", "error", path, 0, message)


def _same_ids(store: EntryStore) -> Iterator[Finding]:
    places: dict[str, list[str]] = {}
    for place in store.places():
        places.setdefault(place.id, []).append(packed[0] if (packed := pack_of(place.path)) else place.path)
    for entry_id, paths in sorted(places.items()):
        for path in sorted(paths) if len(paths) > 1 else ():
            others = ", ".join(sorted(other for other in paths if other != path))
            message = f"{entry_id} is also what {others} is called; rename one of them"
            yield Finding("same-id", "error", path, 0, message)
