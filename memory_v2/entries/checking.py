"""Checking the entries beside the tree. What was captured or edited by hand comes into the history on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from memory_v2.agent.operation import operation
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import Domain, Entry, domain_named
from memory_v2.entries.entry_paths import is_pack, is_stored_place, pack_of, place_of
from memory_v2.entries.file import EntryFile
from memory_v2.entries.references import Targets, reference_findings
from memory_v2.entries.store import DOMAINS_PAGE, EntryStore, entries_of
from memory_v2.entries.upkeep import Copies, future_findings
from memory_v2.errors import InvalidSetting, PageNotFound, StorageError, Unreadable
from memory_v2.operations.check import Checkup
from memory_v2.operations.check import check as check_tree
from memory_v2.operations.context import Context
from memory_v2.tree.finding import Finding
from memory_v2.tree.path import ENTRIES


@operation("check", changes="tree", recorded="apply")
def check(context: Context, apply: bool = False) -> Checkup:
    """All findings of the tree and of the entries, errors first. With `apply` it repairs what it can of the tree; an
    entry is a person's to mend."""
    checkup = check_tree(context, apply)
    if not (findings := entry_findings(entries_of(context))):
        return checkup
    found = tuple(sorted((*checkup.findings, *findings), key=lambda one: one.severity))
    return replace(checkup, findings=found, found=(*checkup.found, *findings))


def entry_findings(store: EntryStore) -> list[Finding]:
    """What is wrong with the entries, with file and line."""
    stamps = [stamp.path for stamp in store.storage.stamps(ENTRIES)]
    ignored = store.storage.ignored_files(ENTRIES)
    if not stamps and not ignored:
        return []
    store.record_all()
    files = list(store.read_files())
    return [
        *(store.stored.located(finding) for file in files for finding in file.findings),
        *map(store.stored.located, _inconsistencies(store, files)),
        *_same_ids(files),
        *(Finding("stray-file", "notice", name, 0, f"this file is no entry: {reason}") for name, reason in ignored),
        *(finding for path in stamps for finding in _misplaced(store, path)),
    ]


def _inconsistencies(store: EntryStore, files: Sequence[EntryFile]) -> Iterator[Finding]:
    """References that lead nowhere, to several entries or back; homes that are not there; entries of the future; copies
    whose original has changed or is not known."""
    known: Sequence[Domain] | None = None
    try:
        known = domains(store).domains
    except (InvalidSetting, StorageError) as error:
        yield Finding("bad-domains", "error", DOMAINS_PAGE, 0, str(error))
    paths = {file.entry.id: file.path for file in files if file.entry is not None}
    entries = [file.entry for file in files if file.entry is not None]
    targets = Targets(entries, known or (), store.storage.list_files())
    for finding in (
        *reference_findings(entries, targets),
        *_unknown_homes(entries, targets, known or ()),
        *future_findings(entries, store.calendar),
        *Copies(entries).findings(),
    ):
        is_about_domains = finding.kind in ("unknown-home", "nowhere-reference")
        if known is not None or not is_about_domains:  # else it is unknown which there are
            yield replace(finding, path=paths[finding.path])


def _unknown_homes(entries: Iterable[Entry], targets: Targets, known: Sequence[Domain]) -> Iterator[Finding]:
    for entry in entries:
        if entry.home and not domain_named(entry.home, known) and targets.lead(entry.home).kind != "page":
            message = (
                f"its home {entry.home!r} is neither a domain nor a page; 'silica memory domains' shows the domains"
            )
            yield Finding("unknown-home", "notice", entry.id, 0, message)


def _misplaced(store: EntryStore, path: str) -> Iterator[Finding]:
    """What is wrong with a file as such: it is where no entries are looked for, nothing reads it because of a pack, or
    it is a damaged pack. A pack that cannot be read is told among the entries."""
    if is_pack(path):
        with suppress(PageNotFound, Unreadable):
            yield from (Finding("bad-pack", "error", path, *problem) for problem in store.stored.pack(path).problems)
    elif store.stored.is_hidden(path):
        message = "a pack has an entry with the path of this file, so nothing reads the file; rename it"
        yield Finding("hidden-entry", "error", path, 0, message)
    elif not is_stored_place(path) and path != DOMAINS_PAGE:
        message = "no entries are looked for here; they are in agents/NAME/memory/vault and in shared/observations"
        yield Finding("stray-file", "notice", path, 0, message)


def _same_ids(files: Sequence[EntryFile]) -> Iterator[Finding]:
    places: dict[str, list[str]] = {}
    for file in files:
        if place := place_of(file.path):
            places.setdefault(place.id, []).append(packed[0] if (packed := pack_of(place.path)) else place.path)
    for entry_id, paths in sorted(places.items()):
        for path in sorted(paths) if len(paths) > 1 else ():
            others = ", ".join(sorted(other for other in paths if other != path))
            message = f"{entry_id} is also what {others} is called; rename one of them"
            yield Finding("same-id", "error", path, 0, message)
