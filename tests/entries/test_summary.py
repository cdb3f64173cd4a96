"""The summary counts every entry once, by home, also in DARYL's schema."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from memory_v2.entries.daryl import summarize
from memory_v2.entries.domains import default_domains
from tests.entries.made import made

NOW = datetime(2026, 2, 6, 3, tzinfo=UTC)
ENTRIES = [
    made("hawk/a", home="technical", importance=0.2, observed_at=datetime(2026, 2, 16, 9, tzinfo=UTC)),
    made("hawk/b", home="technical", importance=0.8),
    made("hawk/c", home="technical"),
    made("hawk/d", home="technical", importance=0.0, archived=True),
    made("hawk/e", importance=0.9),
    made("hawk/f", home="projects/silica"),
]


def test_every_entry_is_counted_once() -> None:
    summary = summarize(ENTRIES, default_domains().domains, NOW)
    assert [(one.home, one.entries) for one in summary.homes] == [
        ("projects", 0),
        ("insights", 0),
        ("people", 0),
        ("technical", 3),
        ("strategy", 0),
    ]
    technical = summary.homes[3]
    assert (technical.importance, technical.last_updated) == (0.5, "2026-02-16T09:00:00Z")
    assert [(one.home, one.entries) for one in summary.others] == [("inbox", 1), ("projects/silica", 1)]
    assert (summary.entries, summary.archived) == (5, 1)


def test_the_summary_has_the_schema_of_the_specification() -> None:
    written = summarize(ENTRIES, default_domains().domains, NOW).to_dict()
    keys = ["exported_at", "total_shards", "total_transactions", "domains_count", "shards_status"]
    assert list(written)[:5] == keys
    assert [written[key] for key in keys[:4]] == ["2026-02-06T03:00:00Z", 5, 3, 5]
    assert written["shards_status"][3] == {
        "shard_id": "shard_technical",
        "domain": "technical",
        "name": "Technical",
        "transactions_count": 3,
        "importance_score": 0.5,
        "last_updated": "2026-02-16T09:00:00Z",
    }
    assert written["other_homes"] == {"inbox": 1, "projects/silica": 1}


def test_a_memory_without_entries_has_a_summary() -> None:
    assert summarize([], default_domains().domains, NOW).entries == 0


def test_a_moment_at_the_end_of_time_is_told_as_it_is_written() -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12)))
    summary = summarize([made("hawk/a", observed_at=last)], default_domains().domains, NOW)
    assert summary.others[0].last_updated == "9999-12-31T23:00:00-12:00"
