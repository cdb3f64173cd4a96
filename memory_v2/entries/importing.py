"""Importing observations of Ocean's vaults, to the byte, and transactions of DARYL's shards, as one operation.

Importing the same again does nothing, and nothing in the memory is overwritten: what is in the way is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from memory_v2.entries.curation import Stock, carried_out
from memory_v2.entries.daryl import read_shard, status, when, write_shard
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import Entry, shard_id
from memory_v2.entries.entry_files import read_pack
from memory_v2.entries.file import entry_data
from memory_v2.entries.ocean import read_vault
from memory_v2.entries.places import check_agent, entry_name, is_pack, path_named, path_of
from memory_v2.entries.references import Targets
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidText
from memory_v2.operations.operation import operation
from memory_v2.plan import SKIP, Plan, Step
from memory_v2.storage.history import PageChange
from memory_v2.text.amounts import counted_entries
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
        steps = sorted((one for one in parts if isinstance(one, Step)), key=lambda one: one.action == SKIP)
        made = Plan("import", steps=tuple(steps), warnings=tuple(one for one in parts if isinstance(one, Finding)))
        known, others = (sum(one.reason == reason for one in steps) for reason in (KNOWN, NO_ENTRY))
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
        found |= {f"{name.removesuffix('.md')}/{one.name}.md": one.data for one in pack.entries.values()}
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
