"""Ocean's vaults: which files are observations, and everything about them that can be read in two ways.

Nothing is guessed: a name that several agents use leads nowhere, a file stays with the agent in whose folder it is
whatever its `source` says, and every folder below `agents/` is an agent, since the lists in Ocean's scripts lack some.
What its scripts count and cache (`refs`, `ref_by`, `promoted`) is compared with what the observations say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memory_v2.entries.entry import SHARED, Entry
from memory_v2.entries.file import read_entry
from memory_v2.entries.header import Value, read_header
from memory_v2.entries.places import place_named
from memory_v2.entries.references import Targets, reference_findings, references_of
from memory_v2.entries.sharing import Copies
from memory_v2.operations.results import Finding
from memory_v2.tree.block import decode

_NAME = re.compile(r"(?:.*-)?obs-(\d{4}-\d{2}-\d{2})-\d+")


@dataclass(frozen=True, slots=True)
class Observed:
    """An observation of a vault: its file, its path in a memory, its front matter as it was written, and the
    entry that it is."""

    file: str
    path: str
    header: Mapping[str, Value]
    entry: Entry


@dataclass(frozen=True, slots=True)
class Vault:
    """What a folder of vaults holds: its observations by file, everything that a person should look at, and the files
    that are no observations."""

    observed: tuple[Observed, ...]
    findings: tuple[Finding, ...]
    others: tuple[str, ...]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The observations as entries."""
        return tuple(one.entry for one in self.observed)


def read_vault(files: Mapping[str, bytes]) -> Vault:
    """Reads a folder of vaults, given as its files with their bytes. A file that cannot be read as an observation is
    told, and the others are read."""
    observed: list[Observed] = []
    findings: list[Finding] = []
    others: list[str] = []
    for file in sorted(files):
        if (place := place_named(file) if file.endswith(".md") else None) is None:
            others.append(file)
            continue
        found = read_entry(place, files[file])
        findings += (replace(finding, path=file) for finding in found.findings)
        if found.entry is not None:
            observed.append(Observed(file, place.path, read_header(decode(files[file])).values, found.entry))
    return Vault(tuple(observed), (*findings, *vault_findings(observed)), tuple(others))


def vault_findings(observed: Sequence[Observed]) -> list[Finding]:
    """Everything about a vault that can be read in two ways, by file."""
    entries = [one.entry for one in observed]
    by_id = {entry.id: entry for entry in entries}
    targets = Targets(entries)
    files = {one.entry.id: one.file for one in observed}
    of_entries = [*reference_findings(entries, targets), *Copies(entries).findings()]
    found = [Finding(one.kind, one.severity, files[one.path], one.line, one.message) for one in of_entries]
    found += _repeated_ids(observed)
    shared = {one.entry.promoted_from for one in observed if one.entry.space == SHARED}
    for one in observed:
        found += [*_source(one), *_name(one), *_lifetimes(one), *_counts(one), *_promoted(one, shared)]
        found += _cached(one, targets, by_id)
    return sorted(found, key=lambda finding: (finding.path, finding.kind, finding.message))


def _repeated_ids(observed: Iterable[Observed]) -> Iterator[Finding]:
    counts = Counter(one.entry.id.casefold() for one in observed)
    for one in observed:
        if counts[one.entry.id.casefold()] > 1:
            yield Finding("repeated-id", "error", one.file, 0, f"{one.entry.id} stands in several files")


def _source(one: Observed) -> Iterator[Finding]:
    author, space = one.entry.source.author, one.entry.space
    if author is None or space in (SHARED, author):
        return
    if author.casefold() == space.casefold():
        message = f"its source is spelled {author!r} and its folder {space!r}; they are taken for the same agent"
        yield Finding("spelling-of-source", "notice", one.file, _line(one, "source"), message)
    else:
        message = f"its source is {author!r}, but it stands in the folder of {space!r}; it stays with {space!r}"
        yield Finding("foreign-source", "notice", one.file, _line(one, "source"), message)


def _name(one: Observed) -> Iterator[Finding]:
    day = one.entry.observed_at.isoformat()[:10]
    if (found := _NAME.fullmatch(one.entry.name)) is None:
        yield Finding("unusual-name", "notice", one.file, 0, "its name is not obs-YYYY-MM-DD-NNN")
    elif found[1] != day:
        yield Finding(
            "two-days", "notice", one.file, _line(one, "created"), f"its name says {found[1]}, its front matter {day}"
        )


def _lifetimes(one: Observed) -> Iterator[Finding]:
    if "decay" in one.header and "max_age" in one.header:
        message = f"it has both decay and max_age; {one.entry.decay} counts"
        yield Finding("two-lifetimes", "notice", one.file, _line(one, "max_age"), message)


def _counts(one: Observed) -> Iterator[Finding]:
    count, names = _texts(one, "refs"), _texts(one, "ref_by")
    if len(count) == 1 and count[0].isdecimal() and int(count[0]) != len(names):
        message = f"refs says {count[0]}, ref_by has {len(names)}"
        yield Finding("wrong-count", "notice", one.file, _line(one, "refs"), message)


def _promoted(one: Observed, shared: Iterable[str | None]) -> Iterator[Finding]:
    says = _texts(one, "promoted") == ("true",) and one.entry.space != SHARED
    if says and not {one.entry.id, one.entry.space}.intersection(shared):
        message = "it says that it is promoted, but no shared copy says that it came from here"
        yield Finding("unknown-promotion", "notice", one.file, _line(one, "promoted"), message)


def _cached(one: Observed, targets: Targets, by_id: Mapping[str, Entry]) -> Iterator[Finding]:
    """What `ref_by` says, compared with what the observations name themselves."""
    for name in _texts(one, "ref_by"):
        lead = targets.lead(name, one.entry.id)
        if lead.kind == "nowhere":
            message = f"ref_by has {name!r}, which leads to no observation"
        elif lead.kind == "ambiguous":
            message = f"ref_by has {name!r}, which is ambiguous: {', '.join(lead.targets)}"
        elif lead.kind == "entry" and not _names_it(by_id[lead.targets[0]], one.entry, targets):
            message = f"ref_by has {name!r}, which does not name this observation for certain"
        else:
            continue
        yield Finding("unconfirmed-incoming", "notice", one.file, _line(one, "ref_by"), message)


def _names_it(entry: Entry, other: Entry, targets: Targets) -> bool:
    leads = (targets.lead(reference.target, entry.id) for reference in references_of(entry))
    return any(lead.targets == (other.id,) for lead in leads)


def _texts(one: Observed, key: str) -> tuple[str, ...]:
    return one.header[key].texts if key in one.header else ()


def _line(one: Observed, key: str) -> int:
    return one.header[key].line if key in one.header else 0
