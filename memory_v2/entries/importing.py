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

from memory_v2.agent.operation import operation
from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.daryl import read_shard, status, when, write_shard
from memory_v2.entries.domains import domains, domains_page, with_domains
from memory_v2.entries.entry import SHARED, Domain, Entry, domain_named, shard_id
from memory_v2.entries.entry_paths import check_agent, entry_name, is_pack, path_named, path_of, place_named, read_pack
from memory_v2.entries.file import EntryFile, Header, entry_data, read_entry, read_header
from memory_v2.entries.references import Targets, reference_findings, references_of
from memory_v2.entries.store import DOMAINS_PAGE, EntryStore
from memory_v2.entries.upkeep import Copies
from memory_v2.errors import InvalidSetting, InvalidText
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted_entries
from memory_v2.tree.block import decode, encode
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
        shards = {name for name in files if name.endswith(".json") and not name.endswith(SUMMARY)}
        parts = list(_vault(store, stock, {name: data for name, data in files.items() if name not in shards}))
        taken = {*stock.ids, *(part.name for part in parts if isinstance(part, Step) and part.action != SKIP)}
        parts += _shards(store, stock, {name: files[name] for name in sorted(shards)}, space, taken)
        steps = sorted((part for part in parts if isinstance(part, Step)), key=lambda one: one.action == SKIP)
        known, others = (sum(step.reason == reason for step in steps) for reason in (KNOWN, NO_ENTRY))
        new = sum(step.action == "create" for step in steps)
        title = f"{counted_entries(new)} new, {known:,} known, {others:,} other files"
        return Plan("import", title, tuple(steps), tuple(part for part in parts if isinstance(part, Finding)))

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


def _vault(store: EntryStore, stock: Stock, files: Mapping[str, bytes]) -> Iterator[Step | Finding]:
    vault = read_vault(files)
    yield from vault.findings
    for one in vault.observed:
        known = stock.files.get(one.entry.id)
        if one.entry.id not in stock.ids:
            yield _new(one.entry.id, one.file, one.stored.path, one.stored.data)
        elif known is not None and store.data(known.path) == one.stored.data:
            yield Step(SKIP, one.file, reason=KNOWN)
        else:
            message = f"the memory has another entry {one.entry.id}; this one was not imported"
            yield Finding("taken-name", "error", one.file, 0, message)
    yield from (Step(SKIP, file, reason=NO_ENTRY) for file in vault.others)


def _shards(
    store: EntryStore, stock: Stock, files: Mapping[str, bytes], space: str, taken: set[str]
) -> Iterator[Step | Finding]:
    read: list[tuple[str, Entry]] = []
    known, added = domains(store), dict[str, Domain]()
    for file, data in files.items():
        try:
            shard = read_shard(data.decode("utf-8"), file, space, store.calendar.zone)
        except (InvalidText, UnicodeDecodeError) as error:
            reason = str(error) if isinstance(error, InvalidText) else f"{file} is not UTF-8: {error.reason}"
            yield Finding("no-shard", "error", file, 0, reason)
            yield Step(SKIP, file, reason=NO_ENTRY)
            continue
        yield from shard.findings
        if shard.domain.keywords and domain_named(shard.domain.name, known.domains) is None:
            added[shard.domain.name] = shard.domain
        read += ((file, entry) for entry in shard.entries)
    if added:
        try:
            page = encode(domains_page(with_domains(known.text, added.values())))
            change = PageChange(DOMAINS_PAGE, store.data(DOMAINS_PAGE), page)
            yield Step("add", "domains", ", ".join(added), "with the keywords of their shards", changes=(change,))
        except InvalidSetting as error:
            yield Finding("unknown-domain", "error", DOMAINS_PAGE, 0, f"the domains stay as they are: {error}")
    origins = {origin for entry in stock.entries for origin in entry.derived_from}
    said = {(entry.space, when(entry), entry.text.strip()) for entry in stock.entries}
    for file, entry in sorted(read, key=lambda one: (when(one[1]), one[0], one[1].id)):
        if origins.intersection(entry.derived_from) or (space, when(entry), entry.text.strip()) in said:
            yield Step(SKIP, next(iter(entry.derived_from), file), reason=KNOWN)
            continue
        day = store.calendar.written(entry.observed_at) or ""
        number = next(n for n in range(1, len(taken) + 2) if f"{space}/{entry_name(day, n)}" not in taken)
        name = entry_name(day, number)
        taken.add(f"{space}/{name}")
        yield _new(f"{space}/{name}", file, path_of(space, name), entry_data(entry))


def _new(entry_id: str, file: str, path: str, data: bytes) -> Step:
    return Step("create", entry_id, source=file, changes=(PageChange(path, None, data),))


# vaults


@dataclass(frozen=True, slots=True)
class VaultObservation:
    """An observation of a vault: the name of its file, its file in a memory, its front matter as it was written, and
    the entry that it is."""

    file: str
    stored: EntryFile
    header: Header
    entry: Entry


@dataclass(frozen=True, slots=True)
class Vault:
    """What a folder of vaults holds: its observations by file, everything that a person should look at, and the files
    that are no observations."""

    observed: tuple[VaultObservation, ...]
    findings: tuple[Finding, ...]
    others: tuple[str, ...]


def read_vault(files: Mapping[str, bytes]) -> Vault:
    """Reads a folder of vaults, given as its files with their bytes. A file that cannot be read as an observation is
    told, and the others are read."""
    observed: list[VaultObservation] = []
    findings: list[Finding] = []
    others: list[str] = []
    for file, data in sorted(_unpacked(files, findings)):
        if (place := place_named(file) if file.endswith(".md") else None) is None:
            others.append(file)
            continue
        found = read_entry(place, data)
        findings += (replace(finding, path=file) for finding in found.findings)
        if found.entry is not None:
            observed.append(VaultObservation(file, found, read_header(decode(data)), found.entry))
    return Vault(tuple(observed), (*findings, *_vault_findings(observed)), tuple(others))


def _unpacked(files: Mapping[str, bytes], findings: list[Finding]) -> Iterator[tuple[str, bytes]]:
    """The files with each pack as the entries in it; what is wrong with the packs is added to the findings."""
    for name, data in files.items():
        path = path_named(name) if name.endswith(".md") else None
        if path is None or not is_pack(path):
            yield name, data
            continue
        pack = read_pack(data)
        findings += (Finding("bad-pack", "error", name, *problem) for problem in pack.problems)
        yield from ((f"{name.removesuffix('.md')}/{entry.name}.md", entry.data) for entry in pack.entries.values())


_NAME = re.compile(r"(?:.*-)?obs-(\d{4}-\d{2}-\d{2})-\d+")


def _vault_findings(observed: Sequence[VaultObservation]) -> list[Finding]:
    """Everything about a vault that can be read in two ways, by file."""
    by_id = {one.entry.id: one.entry for one in observed}
    entries = [one.entry for one in observed]
    targets = Targets(entries)
    files = {one.entry.id: one.file for one in observed}
    of_entries = [*reference_findings(entries, targets), *Copies(entries).findings()]
    found = [replace(finding, path=files[finding.path]) for finding in of_entries]
    ids = Counter(entry_id.casefold() for entry_id in (one.entry.id for one in observed))
    shared = {one.entry.promoted_from for one in observed if one.entry.space == SHARED}
    for one in observed:
        if ids[one.entry.id.casefold()] > 1:
            message = f"{one.entry.id} stands in several files"
            found.append(Finding("repeated-id", "error", one.file, 0, message))
        notices = (*_ambiguous(one), *_miscounted(one, shared), *_cached(one, targets, by_id))
        found += (Finding(kind, "notice", one.file, one.header.line_of(key), message) for kind, key, message in notices)
    return sorted(found, key=lambda finding: (finding.path, finding.kind, finding.message))


Notice = tuple[str, str, str]
"""The kind of a finding, the key of the header that it is about, and the message."""


def _ambiguous(one: VaultObservation) -> Iterator[Notice]:
    """What the folder, the name and the front matter of a file say of the same in two ways."""
    entry, author, space = one.entry, one.entry.source.author, one.entry.space
    if author is not None and space not in (SHARED, author):
        if author.casefold() == space.casefold():
            message = f"its source is spelled {author!r} and its folder {space!r}; they are taken for the same agent"
            yield "spelling-of-source", "source", message
        else:
            message = f"its source is {author!r}, but it stands in the folder of {space!r}; it stays with {space!r}"
            yield "foreign-source", "source", message
    day = entry.observed_at.isoformat()[:10]
    if (found := _NAME.fullmatch(entry.name)) is None:
        yield "unusual-name", "", "its name is not obs-YYYY-MM-DD-NNN"
    elif found[1] != day:
        yield "two-days", "created", f"its name says {found[1]}, its front matter {day}"
    if one.header.texts("decay") and one.header.texts("max_age"):
        yield "two-lifetimes", "max_age", f"it has both decay and max_age; {entry.decay} counts"


def _miscounted(one: VaultObservation, shared: Iterable[str | None]) -> Iterator[Notice]:
    """What a file counts, or says of its copy, and is not so."""
    counted, names = one.header.texts("refs"), one.header.texts("ref_by")
    if len(counted) == 1 and counted[0].isdecimal() and int(counted[0]) != len(names):
        yield "wrong-count", "refs", f"refs says {counted[0]}, ref_by has {len(names)}"
    is_promoted = one.header.texts("promoted") == ("true",) and one.entry.space != SHARED
    if is_promoted and not {one.entry.id, one.entry.space}.intersection(shared):
        message = "it says that it is promoted, but no shared copy says that it came from here"
        yield "unknown-promotion", "promoted", message


def _cached(one: VaultObservation, targets: Targets, by_id: Mapping[str, Entry]) -> Iterator[Notice]:
    """What `ref_by` says, compared with what the observations name themselves."""
    for name in one.header.texts("ref_by"):
        lead = targets.lead(name, one.entry.id)
        if lead.kind == "nowhere":
            message = f"ref_by has {name!r}, which leads to no observation"
        elif lead.kind == "ambiguous":
            message = f"ref_by has {name!r}, which is ambiguous: {', '.join(lead.targets)}"
        elif lead.kind == "entry" and not _names_it(by_id[lead.targets[0]], one.entry, targets):
            message = f"ref_by has {name!r}, which does not name this observation for certain"
        else:
            continue
        yield "unconfirmed-incoming", "ref_by", message


def _names_it(entry: Entry, other: Entry, targets: Targets) -> bool:
    leads = (targets.lead(reference.target, entry.id) for reference in references_of(entry))
    return any(lead.targets == (other.id,) for lead in leads)
