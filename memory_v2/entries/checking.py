"""Checking the entries beside the tree. What was captured or edited by hand comes into the history on the way."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from memory_v2.entries.area import Area
from memory_v2.entries.consistency import inconsistencies
from memory_v2.entries.domains import DOMAINS_PAGE, Domain, domains
from memory_v2.entries.file import EntryFile
from memory_v2.entries.places import is_pack, is_stored_place, pack_of
from memory_v2.errors import InvalidSetting, PageNotFound, StorageError, Unreadable
from memory_v2.operations.check import Checkup
from memory_v2.operations.check import check as check_tree
from memory_v2.operations.context import Context
from memory_v2.operations.operation import operation
from memory_v2.operations.results import Finding
from memory_v2.tree.path import ENTRIES

_ABOUT_DOMAINS = ("unknown-home", "nowhere-reference")
"""The findings that may be about a domain."""

logger = logging.getLogger(__name__)


@operation("check", changes="tree", recorded="apply")
def check(context: Context, apply: bool = False) -> Checkup:
    """All findings of the tree and of the entries, errors first. With `apply` it repairs what it can of the tree; an
    entry is a person's to mend."""
    checkup = check_tree(context, apply)
    area = Area(context.storage, context.calendar)
    if not (findings := entry_findings(area)):
        return checkup
    found = tuple(sorted((*checkup.findings, *findings), key=lambda one: one.severity))
    return replace(checkup, findings=found, found=(*checkup.found, *findings))


def entry_findings(area: Area) -> list[Finding]:
    """What is wrong with the entries, with file and line."""
    stamps = [stamp.path for stamp in area.storage.stamps(ENTRIES)]
    ignored = area.storage.ignored_files(ENTRIES)
    if not stamps and not ignored:
        return []
    record_entries(area)
    files = list(area.read_files())
    return [
        *(area.stored.located(finding) for file in files for finding in file.findings),
        *map(area.stored.located, _inconsistencies(area, files)),
        *_same_ids(area),
        *(_hidden(path) for path in stamps if area.stored.is_hidden(path)),
        *(Finding("stray-file", "notice", name, 0, f"this file is no entry: {reason}") for name, reason in ignored),
        *_pack_findings(area, stamps),
        *(_stray(path) for path in stamps if not is_stored_place(path) and path != DOMAINS_PAGE),
    ]


def _inconsistencies(area: Area, files: Sequence[EntryFile]) -> Iterator[Finding]:
    known: Sequence[Domain] | None = None
    try:
        known = domains(area).domains
    except (InvalidSetting, StorageError) as error:
        yield Finding("bad-domains", "error", DOMAINS_PAGE, 0, str(error))
    for finding in inconsistencies(files, known or (), area.storage.list_files(), area.calendar):
        if known is not None or finding.kind not in _ABOUT_DOMAINS:  # nobody knows which there are
            yield finding


def record_entries(area: Area) -> None:
    """Brings what was captured or edited by hand into the history, if its disk can be written."""
    try:
        area.pick_up()
        history = area.storage.history
        known = history.paths(history.head, ENTRIES) if history.begun else set()
        area.storage.record_external_edits(known.union(stored_paths(area)), area.calendar.now())
    except StorageError as error:  # a read-only disk must not stop readers
        logger.info("captured entries could not be brought into the history: %s", error)


def stored_paths(area: Area) -> list[str]:
    """The paths of all entries, and of the domains if somebody has edited them."""
    there = (stamp.path for stamp in area.storage.stamps(ENTRIES))
    return [path for path in there if is_stored_place(path) or path == DOMAINS_PAGE]


def _pack_findings(area: Area, stamps: Sequence[str]) -> Iterator[Finding]:
    """What is wrong with the packs; one that cannot be read is told among the entries."""
    for path in filter(is_pack, stamps):
        with suppress(PageNotFound, Unreadable):
            yield from (Finding("bad-pack", "error", path, *problem) for problem in area.stored.pack(path).problems)


def _stray(path: str) -> Finding:
    message = "no entries are looked for here; they are in agents/NAME/memory/vault and in shared/observations"
    return Finding("stray-file", "notice", path, 0, message)


def _hidden(path: str) -> Finding:
    message = "a pack has an entry with the path of this file, so nothing reads the file; rename it"
    return Finding("hidden-entry", "error", path, 0, message)


def _same_ids(area: Area) -> Iterator[Finding]:
    places: dict[str, list[str]] = {}
    for place in area.places():
        places.setdefault(place.id, []).append(packed[0] if (packed := pack_of(place.path)) else place.path)
    for entry_id, paths in sorted(places.items()):
        for path in sorted(paths) if len(paths) > 1 else ():
            others = ", ".join(sorted(other for other in paths if other != path))
            message = f"{entry_id} is also what {others} is called; rename one of them"
            yield Finding("same-id", "error", path, 0, message)
