"""Shards are read in both forms that DARYL's programs write, and written as its specification has them."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_v2.entries.daryl import read_shard, write_shard
from memory_v2.entries.domains import default_domains
from memory_v2.entries.entry import Reference, Source
from memory_v2.entries.references import Targets, incoming
from memory_v2.errors import InvalidText
from tests.entries.made import made

SPECIFIED = {
    "shard_id": "shard_technical",
    "domain": "technical",
    "config": {"name": "Technique et Architecture", "description": "Architecture, code", "keywords": ["code"]},
    "transactions": [
        {
            "transaction_id": "shard_technical_0_1730346428.08987",
            "content": "Lesson learned: The Coordination Gap occurs when agents don't share explicit handshakes.",
            "timestamp": "2026-02-06T03:00:00Z",
            "source": "moltbook",
            "importance": 0.8,
            "cross_refs": ["shard_projects", "shard_insights"],
            "shard_id": "shard_technical",
            "shard_name": "Technique et Architecture",
        }
    ],
    "metadata": {"created_at": "2026-02-05T18:56:36Z", "importance_score": 0.50},
}
OF_THE_PROGRAM = {
    "config": {"id": "shard_people", "name": "Personnes", "domain": "people", "keywords": ["@"]},
    "transactions": [
        {"id": "shard_people_0_1", "content": "Zoë\n", "timestamp": "2026-02-05T18:56:36.5", "source": "manual"},
        {"id": "shard_people_1_2", "content": "Ana", "timestamp": "2026-02-05", "cross_refs": ["shard_people_0_1"]},
    ],
    "metadata": {"version": "2.0"},
}


def test_a_shard_of_the_specification_is_read() -> None:
    shard = read_shard(json.dumps(SPECIFIED), "shard_technical.json", "daryl")
    (entry,) = shard.entries
    assert not shard.findings
    assert (shard.domain.name, entry.home, entry.importance, entry.confidence) == ("technical", "technical", 0.8, None)
    assert entry.id == "daryl/obs-2026-02-06-001"
    assert entry.observed_at == datetime(2026, 2, 6, 3, tzinfo=UTC)
    assert entry.source == Source(channel="moltbook")
    assert entry.references == (Reference("related", "shard_projects"), Reference("related", "shard_insights"))


def test_a_shard_of_the_program_is_read_and_its_ids_lead_to_the_entries() -> None:
    text = json.dumps(OF_THE_PROGRAM)
    shard = read_shard(text, "x/shard_people.json", "daryl", ZoneInfo("Europe/Paris"))
    first, second = shard.entries
    assert [one.message for one in shard.findings] == ["1 moment without a time zone: taken as those of Europe/Paris"]
    assert first.observed_at == datetime(2026, 2, 5, 17, 56, 36, 500_000, tzinfo=UTC)
    assert second.observed_at == date(2026, 2, 5)
    assert (first.home, first.importance, first.text) == ("people", None, "Zoë\n")
    back = incoming([first, second], Targets([first, second]))
    assert back == {first.id: (Reference("related", second.id),)}


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"content": 3}, "content"),
        ({"timestamp": "soon"}, "timestamp"),
        ({"importance": 7}, "importance"),
        ({"cross_refs": "shard_projects"}, "cross_refs"),
    ],
)
def test_a_transaction_that_cannot_be_read_is_told_and_the_others_are_read(broken: dict[str, Any], said: str) -> None:
    good = {"id": "a", "content": "Good", "timestamp": "2026-02-05"}
    data = {"domain": "people", "transactions": [good | broken, good, "nonsense"]}
    shard = read_shard(json.dumps(data), "shard_people.json", "daryl")
    assert [entry.text for entry in shard.entries] == ["Good"]
    first, second = shard.findings
    assert first.message.startswith("transaction 1: ")
    assert said in first.message
    assert second.message.startswith("transaction 3: ")


def test_a_repeated_id_is_told_and_nothing_is_dropped() -> None:
    one = {"id": "a", "content": "One", "timestamp": "2026-02-05"}
    shard = read_shard(json.dumps({"transactions": [one, one | {"content": "Two"}]}), "shard_people.json", "daryl")
    assert [entry.text for entry in shard.entries] == ["One", "Two"]
    assert [finding.kind for finding in shard.findings] == ["repeated-id"]


@pytest.mark.parametrize(
    ("text", "said"), [('{"a": 1,\n}', "line 2"), ("[]", "no shard"), ('{"transactions": 1}', "no shard")]
)
def test_what_is_no_shard_is_told(text: str, said: str) -> None:
    with pytest.raises(InvalidText, match=rf"shards/x\.json.*{said}"):
        read_shard(text, "shards/x.json", "daryl")


def test_a_shard_is_written_as_it_was_read() -> None:
    domain = default_domains().domains[3]
    shard = read_shard(json.dumps(SPECIFIED), "shard_technical.json", "daryl")
    written = write_shard(domain, shard.entries, Targets(shard.entries, default_domains().domains))
    assert written["transactions"] == [SPECIFIED["transactions"][0] | {"shard_name": "Technical"}]  # type: ignore[index]
    assert list(written) == list(SPECIFIED)
    assert read_shard(json.dumps(written), "x", "daryl").entries == shard.entries


def test_an_entry_that_was_never_a_transaction_is_written_without_inventing_a_midnight() -> None:
    entry = made(home="people", references=(Reference("related", "technical"), Reference("related", "nobody")))
    written = write_shard(
        default_domains().domains[2], [entry, made("hawk/b", home="projects")], Targets([], default_domains().domains)
    )
    (transaction,) = written["transactions"]
    assert transaction["transaction_id"] == entry.id
    assert transaction["timestamp"] == "2026-02-15"
    assert transaction["cross_refs"] == ["shard_technical", "nobody"]
    assert (transaction["source"], transaction["importance"]) == ("manual", 0.5)
