"""What a person should look at in entries that can be read: what they refer to, where they belong, when they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memory_v2.entries.ageing import future_findings
from memory_v2.entries.domains import Domain, domain_named
from memory_v2.entries.entry import Entry
from memory_v2.entries.file import EntryFile
from memory_v2.entries.references import Targets, reference_findings
from memory_v2.entries.sharing import Copies
from memory_v2.operations.results import Finding
from memory_v2.text.calendar import Calendar


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
