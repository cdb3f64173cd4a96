"""Importing observations of Ocean's vaults, to the byte, and transactions of DARYL's shards, as one operation.

Importing the same again does nothing, and nothing in the memory is overwritten: what is in the way is told.

Of a vault nothing is guessed: a name that several agents use leads nowhere, a file stays with the agent in whose folder
it is whatever its `source` says, and every folder below `agents/` is an agent, since the lists in Ocean's scripts lack
some. What its scripts count and cache (`refs`, `ref_by`, `promoted`) is compared with what the observations say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.daryl import read_shard, status, when, write_shard
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import SHARED, Entry, shard_id
from memory_v2.entries.file import Value, entry_data, read_entry, read_header
from memory_v2.entries.places import check_agent, entry_name, is_pack, path_named, path_of, place_named, read_pack
from memory_v2.entries.references import Targets, reference_findings, references_of
from memory_v2.entries.sharing import Copies
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidText
from memory_v2.operations.operation import operation
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted_entries
from memory_v2.tree.block import decode
from memory_v2.tree.finding import Finding

SUMMARY = "shards_summary.json"
"""A file beside the shards that holds no transactions."""
KNOWN = "the memory has it"
"""The reason of a step for a file, or a transaction, that is there already."""
NO_ENTRY = "it holds no entry"
"""The reason of a step for another file."""


@operation("import_files", changes="entries")
def import_files(store: EntryStore, files: Mapping[str, bytes], agent: str | None = None, apply: bool = False) -> Plan:
    """Finds the entries in these files, given by name, and with `apply` brings in those that are new. Transactions of
    shards, which have no author, become those of `agent`. Raises `InvalidSetting`, `StorageError`."""
    space = check_agent(store.agent if agent is None else agent)

    def plan(stock: Stock) -> Plan:
        loose, damaged = _unpacked(files)
        shards = {name for name in files if name.endswith(".json") and not name.endswith(SUMMARY)}
        parts: list[Step | Finding] = [
            *damaged,
            *_vault(stock, {name: data for name, data in loose.items() if name not in shards}),
        ]
        taken = {*stock.ids, *(part.name for part in parts if isinstance(part, Step) and part.action != SKIP)}
        parts += _shards(store, stock, {name: files[name] for name in sorted(shards)}, space, taken)
        steps = sorted((part for part in parts if isinstance(part, Step)), key=lambda one: one.action == SKIP)
        made = Plan("import", steps=tuple(steps), warnings=tuple(part for part in parts if isinstance(part, Finding)))
        known, others = (sum(step.reason == reason for step in steps) for reason in (KNOWN, NO_ENTRY))
        return replace(made, title=f"{counted_entries(len(made.planned))} new, {known:,} known, {others:,} other files")

    return carried_out(store, apply, plan)


@operation("export_shards")
def export_shards(store: EntryStore) -> dict[str, Any]:
    """The domains as DARYL's shards, and their summary, by the names of their files. Raises `InvalidSetting`,
    `StorageError`."""
    known, everything = domains(store).domains, store.entries()
    entries = [entry for entry in everything if not entry.archived]
    targets = Targets(everything, known, store.storage.list_files())
    shards = {f"{shard_id(one.name)}.json": write_shard(one, entries, targets) for one in known}
    return {**shards, SUMMARY: status(store).to_dict()}


def _unpacked(files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[Finding]]:
    """The files with each pack as the entries in it, and what is wrong with the packs."""
    found: dict[str, bytes] = {}
    findings: list[Finding] = []
    for name, data in files.items():
        path = path_named(name) if name.endswith(".md") else None
        if path is None or not is_pack(path):
            found[name] = data
            continue
        pack = read_pack(data)
        found |= {f"{name.removesuffix('.md')}/{entry.name}.md": entry.data for entry in pack.entries.values()}
        findings += (Finding("bad-pack", "error", name, *problem) for problem in pack.problems)
    return found, findings


def _vault(stock: Stock, files: Mapping[str, bytes]) -> Iterator[Step | Finding]:
    vault = read_vault(files)
    yield from vault.findings
    for one in vault.observed:
        if one.entry.id not in stock.ids:
            yield _new(one.entry.id, one.file, one.path, files[one.file])
        elif stock.current(one.entry.id) == files[one.file]:
            yield Step(SKIP, one.file, reason=KNOWN)
        else:
            message = f"the memory has another entry {one.entry.id}; this one was not imported"
            yield Finding("taken-name", "error", one.file, 0, message)
    yield from (Step(SKIP, file, reason=NO_ENTRY) for file in vault.others)


def _shards(
    store: EntryStore, stock: Stock, files: Mapping[str, bytes], space: str, taken: set[str]
) -> Iterator[Step | Finding]:
    read: list[tuple[str, Entry]] = []
    for file, data in files.items():
        try:
            shard = read_shard(data.decode("utf-8"), file, space, store.calendar.zone)
        except (InvalidText, UnicodeDecodeError) as error:
            reason = str(error) if isinstance(error, InvalidText) else f"{file} is not UTF-8: {error.reason}"
            yield Finding("no-shard", "error", file, 0, reason)
            yield Step(SKIP, file, reason=NO_ENTRY)
            continue
        yield from shard.findings
        read += ((file, entry) for entry in shard.entries)
    origins = {origin for entry in stock.entries for origin in entry.derived_from}
    said = {(entry.space, when(entry), entry.text.strip()) for entry in stock.entries}
    for file, entry in sorted(read, key=lambda one: (when(one[1]), one[0], one[1].id)):
        if origins.intersection(entry.derived_from) or (space, when(entry), entry.text.strip()) in said:
            yield Step(SKIP, next(iter(entry.derived_from), file), reason=KNOWN)
            continue
        numbered = replace(entry, id=_free_id(store, entry, taken))
        taken.add(numbered.id)
        yield _new(numbered.id, file, path_of(space, numbered.name), entry_data(numbered))


def _new(entry_id: str, file: str, path: str, data: bytes) -> Step:
    return Step("create", entry_id, source=file, changes=(PageChange(path, None, data),))


def _free_id(store: EntryStore, entry: Entry, taken: set[str]) -> str:
    day = store.calendar.written(entry.observed_at) or ""
    number = 1
    while (name := f"{entry.space}/{entry_name(day, number)}") in taken:
        number += 1
    return name


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
    found = [Finding(entry.kind, entry.severity, files[entry.path], entry.line, entry.message) for entry in of_entries]
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
