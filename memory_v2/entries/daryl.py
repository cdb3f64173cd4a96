"""DARYL's shards: a JSON file per domain, with a list of transactions, read and written as its specification has them.

Its programs write two forms: `transaction_id` or `id`, and the shard's name and domain at the top or under `config`.
Both are read. An entry keeps the id of its transaction in `derived_from`, so that references to it go on leading there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from statistics import fmean
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from memory_v2.agent.operation import operation
from memory_v2.entries.domains import domains
from memory_v2.entries.entry import INBOX, Domain, Entry, Provenance, Reference, shard_id
from memory_v2.entries.entry_paths import entry_name
from memory_v2.entries.file import RELATED, day_or_moment
from memory_v2.entries.references import Targets, references_of
from memory_v2.entries.store import EntryStore
from memory_v2.errors import InvalidText
from memory_v2.text.amounts import counted
from memory_v2.tree.finding import Finding

DEFAULT_IMPORTANCE = 0.5
"""The importance of a transaction that does not say, in the specification; its programs cannot read one without."""


class _Transaction(BaseModel):
    """A transaction, as far as it is understood."""

    model_config = ConfigDict(extra="ignore")
    transaction_id: str | None = None
    id: str | None = None
    content: str
    timestamp: Annotated[Any, BeforeValidator(day_or_moment)]
    source: str | None = None
    importance: float | None = Field(default=None, ge=0, le=1)
    cross_refs: list[str] = []


@dataclass(frozen=True, slots=True)
class Shard:
    """What a shard file holds: its domain, its transactions as entries, and what could not be read, with the reason."""

    domain: Domain
    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...] = ()


def read_shard(text: str, file: str, agent: str, zone: tzinfo = UTC) -> Shard:
    """Reads a shard file. Its entries get names of the space of `agent` by their day, and `zone` is where its clock
    stood, since its program wrote moments without one. A transaction that cannot be read is told, and the others are
    read. Raises `InvalidText`, with file and line, if the file is no shard."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidText(f"{file}, line {error.lineno}: this is not valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise InvalidText(f"{file}: this is no shard: it is nested too deeply") from error
    listed = data.get("transactions") if isinstance(data, dict) else None
    if not isinstance(listed, list):
        raise InvalidText(f"{file}: this is no shard: it has no list of transactions")
    domain, numbers, naive = _domain(data, file), Counter[str](), 0
    entries: list[Entry] = []
    findings: list[Finding] = []
    for place, given in enumerate(listed, 1):
        try:
            read = _Transaction.model_validate(given)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            reason = f"transaction {place}: {'.'.join(map(str, first['loc'])) or 'the transaction'}: {first['msg']}"
            findings.append(Finding("unreadable-transaction", "error", file, 0, reason))
            continue
        observed: date | datetime = read.timestamp
        if isinstance(observed, datetime) and observed.tzinfo is None:
            observed, naive = observed.replace(tzinfo=zone), naive + 1
        day = observed.isoformat()[:10]
        numbers[day] += 1
        origin = read.transaction_id or read.id
        entries.append(
            Entry(
                id=f"{agent}/{entry_name(day, numbers[day])}",
                text=read.content,
                observed_at=observed,
                home=domain.name,
                importance=read.importance,
                source=Provenance(channel=read.source),
                references=tuple(Reference(RELATED, target) for target in dict.fromkeys(read.cross_refs)),
                derived_from=(origin,) if origin else (),
            )
        )
    if naive:
        message = f"{counted(naive, 'moment')} without a time zone: taken as those of {zone}"
        findings.append(Finding("no-zone", "notice", file, 0, message))
    return Shard(domain, tuple(entries), (*findings, *_repeated(entries, file)))


def _domain(data: Mapping[str, Any], file: str) -> Domain:
    given = data.get("config")
    config: Mapping[str, Any] = given if isinstance(given, dict) else {}
    said = data.get("domain") or config.get("domain") or data.get("shard_id")
    name = str(said or file.rpartition("/")[2].removesuffix(".json")).strip().casefold().removeprefix(shard_id(""))
    listed = config.get("keywords")
    keywords = tuple(filter(None, map(str, listed))) if isinstance(listed, list) else ()
    return Domain(name, str(config.get("name") or name.capitalize()), str(config.get("description") or ""), keywords)


def _repeated(entries: Iterable[Entry], file: str) -> Iterator[Finding]:
    counts = Counter(origin for entry in entries for origin in entry.derived_from)
    for origin, times in counts.items():
        if times > 1:
            yield Finding(
                "repeated-id", "notice", file, 0, f"{times} transactions have the id {origin!r}; all are read"
            )


def write_shard(domain: Domain, entries: Iterable[Entry], targets: Targets) -> dict[str, Any]:
    """The shard of a domain with these entries, in the specification's schema. References stay as they were written,
    but those to domains, which are shards there."""
    own = sorted((entry for entry in entries if entry.home == domain.name), key=lambda entry: (when(entry), entry.id))
    moments = [when(entry) for entry in own]
    return {
        "shard_id": shard_id(domain.name),
        "domain": domain.name,
        "config": {"name": domain.title, "description": domain.description, "keywords": list(domain.keywords)},
        "transactions": [_transaction(entry, domain, targets) for entry in own],
        "metadata": {
            "created_at": min(moments, default=None),
            "last_updated": max(moments, default=None),
            "importance_score": importance_score(own),
        },
    }


def importance_score(entries: Sequence[Entry]) -> float:
    """The importance of a shard: the mean of that of its entries, 0 if it has none."""
    return round(fmean(map(_importance, entries)), 4) if entries else 0.0


def _importance(entry: Entry) -> float:
    return DEFAULT_IMPORTANCE if entry.importance is None else entry.importance


def _transaction(entry: Entry, domain: Domain, targets: Targets) -> dict[str, Any]:
    return {
        "transaction_id": entry.derived_from[0] if entry.derived_from else entry.id,
        "content": entry.text.removesuffix("\n"),  # a file needs one, a field has none
        "timestamp": when(entry),
        "source": entry.source.channel or entry.source.author or "manual",
        "importance": _importance(entry),
        "cross_refs": [_target(reference, entry, targets) for reference in references_of(entry)],
        "shard_id": shard_id(domain.name),
        "shard_name": domain.title,
    }


def _target(reference: Reference, entry: Entry, targets: Targets) -> str:
    lead = targets.lead(reference.target, entry.id)
    return shard_id(lead.targets[0]) if lead.kind == "domain" else reference.target


def when(entry: Entry) -> str:
    """When it was observed, in UTC, to the precision in which that is known."""
    observed = entry.observed_at
    if isinstance(observed, datetime):
        with suppress(OverflowError):  # at either end of time
            observed = observed.astimezone(UTC)
    return observed.isoformat().replace("+00:00", "Z")


# how many entries each domain has, and how important they are


@dataclass(frozen=True, slots=True)
class HomeStatus:
    """The entries of one home: how many, the mean of their importance, and when the last one was observed."""

    home: str
    title: str
    entries: int
    importance: float
    last_updated: str | None

    def to_dict(self) -> dict[str, Any]:
        """As the status of a shard, in DARYL's schema."""
        return {
            "shard_id": shard_id(self.home),
            "domain": self.home,
            "name": self.title,
            "transactions_count": self.entries,
            "importance_score": self.importance,
            "last_updated": self.last_updated,
        }


@dataclass(frozen=True, slots=True)
class Summary:
    """The domains in the order of their file; then the inbox, and pages and former domains that are homes, if they have
    entries. Entries in the archive count nowhere else."""

    at: datetime
    homes: tuple[HomeStatus, ...]
    others: tuple[HomeStatus, ...]
    archived: int

    @property
    def entries(self) -> int:
        """How many entries there are outside the archive."""
        return sum(home.entries for home in (*self.homes, *self.others))

    @property
    def importance(self) -> dict[str, float]:
        """The importance of each home."""
        return {home.home: home.importance for home in (*self.homes, *self.others)}

    def to_dict(self) -> dict[str, Any]:
        """In DARYL's schema, with the domains as shards; what else is a home is named beside them."""
        return {
            "exported_at": self.at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "total_shards": len(self.homes),
            "total_transactions": sum(home.entries for home in self.homes),
            "domains_count": len(self.homes),
            "shards_status": [home.to_dict() for home in self.homes],
            "other_homes": {home.home: home.entries for home in self.others},
            "archived": self.archived,
        }


@operation("status")
def status(store: EntryStore) -> Summary:
    """Counts the entries of each domain. Raises `InvalidSetting`, `StorageError`."""
    return summarize(store.entries(), domains(store).domains, store.calendar.now())


def summarize(entries: Sequence[Entry], domains: Sequence[Domain], now: datetime) -> Summary:
    """Counts the entries by home, as they are now."""
    by_home: dict[str, list[Entry]] = {domain.name: [] for domain in domains}
    for entry in entries:
        if not entry.archived:
            by_home.setdefault(entry.home or INBOX, []).append(entry)
    titles = {domain.name: domain.title for domain in domains}
    homes = []
    for home, found in by_home.items():
        last = max(map(when, found), default=None)
        homes.append(HomeStatus(home, titles.get(home, home), len(found), importance_score(found), last))
    others = sorted(homes[len(domains) :], key=lambda one: (one.home != INBOX, one.home))
    return Summary(now, tuple(homes[: len(domains)]), tuple(others), sum(entry.archived for entry in entries))
