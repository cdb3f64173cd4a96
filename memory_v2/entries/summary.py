"""How many entries each domain has, and how important they are: as a value, and in DARYL's schema of a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from memory_v2.entries.daryl import importance_score, when
from memory_v2.entries.domains import INBOX, Domain, domains, shard_id
from memory_v2.entries.entry import Entry
from memory_v2.entries.store import EntryStore
from memory_v2.operations.operation import operation


@dataclass(frozen=True, slots=True)
class HomeStatus:
    """The entries of one home: how many, the mean of their importance, and when the last one was observed."""

    home: str
    title: str
    entries: int
    importance: float
    last_updated: str | None


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
            "shards_status": [_shard_status(home) for home in self.homes],
            "other_homes": {home.home: home.entries for home in self.others},
            "archived": self.archived,
        }


@operation("status")
def status(store: EntryStore) -> Summary:
    """Counts the entries of each domain. Raises `InvalidSetting`, `StorageError`."""
    return summarize(store.entries(), domains(store).domains, store.calendar.now())


def summarize(entries: Iterable[Entry], domains: Sequence[Domain], now: datetime) -> Summary:
    """Counts the entries by home, as they are now."""
    everything = list(entries)
    by_home: dict[str, list[Entry]] = {domain.name: [] for domain in domains}
    for entry in everything:
        if not entry.archived:
            by_home.setdefault(entry.home or INBOX, []).append(entry)
    titles = {domain.name: domain.title for domain in domains}
    homes = [_status(home, titles.get(home, home), found) for home, found in by_home.items()]
    return Summary(
        now,
        tuple(homes[: len(domains)]),
        tuple(sorted(homes[len(domains) :], key=lambda one: (one.home != INBOX, one.home))),
        sum(entry.archived for entry in everything),
    )


def _status(home: str, title: str, entries: Sequence[Entry]) -> HomeStatus:
    last = max(map(when, entries), default=None)
    return HomeStatus(home, title, len(entries), importance_score(entries), last)


def _shard_status(home: HomeStatus) -> dict[str, Any]:
    return {
        "shard_id": shard_id(home.home),
        "domain": home.home,
        "name": home.title,
        "transactions_count": home.entries,
        "importance_score": home.importance,
        "last_updated": home.last_updated,
    }
