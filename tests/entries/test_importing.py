"""Vaults and shards: how each is read and written, and how they come in as one operation, once."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from memory_v2 import Memory
from memory_v2.entries.daryl import read_shard, write_shard
from memory_v2.entries.domains import default_domains
from memory_v2.entries.entry import Decay, Entry, Provenance, Reference
from memory_v2.entries.importing import KNOWN, NO_ENTRY, Vault, read_vault
from memory_v2.entries.references import Targets, incoming
from memory_v2.entries.upkeep import plan_ageing, plan_promotion
from memory_v2.errors import InvalidText
from memory_v2.plan import Plan
from tests.entries.made import DAY, files, made, noon, stock
from tests.entries.test_sharing import NOW


def skipped(plan: Plan, reason: str) -> list[str]:
    return [step.name for step in plan.skipped if step.reason == reason]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory.open(tmp_path)


def test_a_vault_comes_in_to_the_byte_and_undo_takes_it_back(memory: Memory, tmp_path: Path) -> None:
    plan = memory.entries.import_files(FILES)
    assert not files(tmp_path / "entries")
    done = memory.entries.import_files(FILES, apply=True)
    assert done == plan
    assert [one.name for one in done.planned][:6] == IDS
    assert files(tmp_path / "entries") == {
        name: data for name, data in FILES.items() if name not in skipped(done, NO_ENTRY)
    }
    again = memory.entries.import_files(FILES, apply=True)
    assert (again.revision, again.planned, len(skipped(again, KNOWN))) == (None, (), 7)
    memory.undo()
    assert not files(tmp_path / "entries")


def test_an_observation_does_not_overwrite_another_one(memory: Memory, tmp_path: Path) -> None:
    other = tmp_path / "entries/agents/hawk/memory/vault/2026-02" / NAME
    other.parent.mkdir(parents=True)
    other.write_text("---\ncreated: 2026-02-15\n---\nAnother.\n")
    done = memory.entries.import_files(FILES, apply=True)
    assert other.read_text().endswith("Another.\n")
    assert "hawk/obs-2026-02-15-001" not in {one.name for one in done.planned}
    assert "taken-name" in {one.kind for one in done.warnings}


def test_shards_come_in_once_under_names_of_their_day(memory: Memory) -> None:
    memory.entries.capture("Before.", date="2026-02-05", agent="daryl")
    done = memory.entries.import_files(SHARDS, agent="daryl", apply=True)
    assert skipped(done, NO_ENTRY) == ["shards/shards_summary.json"]
    entries = {entry.id: entry for entry in memory.entries.list_entries("daryl")}
    assert [entry.home for entry in entries.values()] == [None, "people", "people", "technical"]
    assert entries["daryl/obs-2026-02-06-001"].derived_from == ("shard_technical_0_1730346428.08987",)
    assert memory.entries.import_files(SHARDS, agent="daryl", apply=True).revision is None
    found = {one.kind for one in memory.checkup().findings}
    assert "nowhere-reference" not in found


def test_shards_are_exported_as_they_came(memory: Memory) -> None:
    memory.entries.import_files(SHARDS, agent="daryl", apply=True)
    written = memory.entries.export_shards()
    assert written["shards_summary.json"]["total_transactions"] == 3
    (transaction,) = written["shard_technical.json"]["transactions"]
    given = SPECIFIED["transactions"][0]  # type: ignore[index]
    assert transaction == given | {"shard_name": "Technical"}
    assert len(written) == 6


def test_what_is_no_shard_is_told_and_the_rest_comes_in(memory: Memory) -> None:
    broken = {"shards/broken.json": b"{", "shards/bytes.json": b"\xff"}
    plan = memory.entries.import_files(SHARDS | broken, agent="daryl")
    assert len(plan.planned) == 3
    assert {one.path for one in plan.warnings if one.severity == "error"} == broken.keys()


def test_a_domain_that_the_memory_lacks_comes_in_with_its_keywords(memory: Memory, tmp_path: Path) -> None:
    config = {"name": "Jardín", "description": 'leeks and "kale"', "keywords": ["leek", "kale\\n"]}
    garden = {"domain": "garden", "config": config, "transactions": SPECIFIED["transactions"]}
    files_of = {"shards/shard_garden.json": json.dumps(garden).encode()}
    assert memory.entries.import_files(files_of).of("add")[0].target == "garden"
    assert not files(tmp_path / "entries")
    done = memory.entries.import_files(files_of, agent="daryl", apply=True)
    assert done.title == "1 entry new, 0 known, 0 other files"
    *others, added = memory.entries.domains().domains
    assert (added.title, added.description, added.keywords) == ("Jardín", 'leeks and "kale"', ("leek", "kale\\n"))
    assert len(others) == 5
    assert memory.entries.route_text("Kale and a leek.").home == "garden"
    assert memory.entries.export_shards()["shard_garden.json"]["config"] == config
    assert memory.entries.import_files(files_of, agent="daryl", apply=True).revision is None
    wrong = {"shards/a.json": json.dumps(garden | {"domain": "two words/x"}).encode()}
    assert [one.kind for one in memory.entries.import_files(wrong).warnings] == ["unknown-domain"]


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

SHARDS = {
    "shards/shard_technical.json": json.dumps(SPECIFIED).encode(),
    "shards/shard_people.json": json.dumps(OF_THE_PROGRAM).encode(),
    "shards/shards_summary.json": b"{}",
}


def test_a_shard_of_the_specification_is_read() -> None:
    shard = read_shard(json.dumps(SPECIFIED), "shard_technical.json", "daryl")
    (entry,) = shard.entries
    assert not shard.findings
    assert (shard.domain.name, entry.home, entry.importance, entry.confidence) == ("technical", "technical", 0.8, None)
    assert entry.id == "daryl/obs-2026-02-06-001"
    assert entry.observed_at == datetime(2026, 2, 6, 3, tzinfo=UTC)
    assert entry.source == Provenance(channel="moltbook")
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


NAME = "obs-2026-02-15-001.md"


def observation(body: str, **fields: str) -> bytes:
    """An observation in Ocean's second schema, unless its fields say otherwise."""
    header = {"tags": "[buyer]", "importance": "0.50", "created": "2026-02-15", "max_age": "30d"} | fields
    lines = [f"{key}: {value}" for key, value in header.items() if value]
    return "\n".join(["---", *lines, "---", body]).encode()


FIRST_SCHEMA = {"importance": "", "max_age": "", "confidence": "0.82", "decay": "linear-30d", "verified": "false"}
PAYOUT = "Buyer A pays 65 dollars a lead.\n"
FILES = {
    "agents/captain/SOUL.md": b"# Captain\n",
    "agents/scout/memory/vault/" + NAME: observation("The form asks for a CAPTCHA since 14:30.\n", source="scout"),
    "agents/hawk/memory/vault/" + NAME: observation(
        "CTR fell by 12%.\n",
        source="hawk",
        backlinks="[agents/scout/memory/vault/obs-2026-02-15-001.md]",
        **FIRST_SCHEMA,
    ),
    "agents/shield/memory/vault/" + NAME: observation("Rule 7 holds from May on.", source="shield", max_age="180d"),
    "agents/watchtower/memory/vault/" + NAME: observation(
        "Cost rose to 14.20.\n", source="watchtower", max_age="14d", backlinks="[shared/nothing.md, vault/other.md]"
    ),
    "agents/forge/memory/vault/" + NAME: observation(
        "Acceptance fell to 71%.\n", source="signal", refs="0", ref_by="[]", backlinks="[obs-2026-02-15-001]"
    ),
    "agents/fury/memory/vault/" + NAME: observation(
        PAYOUT,
        source="FURY",
        importance="0.80",
        refs="3",
        ref_by="[signal/obs-2026-02-15-001, forge/obs-2026-02-15-001]",
        promoted="true",
    ),
    "shared/observations/captain-" + NAME: observation(
        PAYOUT, source="captain", importance="0.80", promoted_from="captain", promoted_at="2026-02-16T00:00:00Z"
    ),
    "shared/CONTEXT.md": b"# Context\n",
}
IDS = [f"{agent}/obs-2026-02-15-001" for agent in ("forge", "fury", "hawk", "scout", "shield", "watchtower")]


@pytest.fixture(scope="module")
def vault() -> Vault:
    return read_vault(FILES)


def entries(vault: Vault) -> list[Entry]:
    return [one.entry for one in vault.observed]


def told(vault: Vault, kind: str) -> dict[str, str]:
    return {finding.path: finding.message for finding in vault.findings if finding.kind == kind}


def test_every_folder_is_an_agent_and_one_name_in_six_of_them_is_six_entries(vault: Vault) -> None:
    assert [entry.id for entry in entries(vault)] == [*IDS, "shared/captain-obs-2026-02-15-001"]
    assert vault.others == ("agents/captain/SOUL.md", "shared/CONTEXT.md")


def test_both_schemas_are_read(vault: Vault) -> None:
    by_id = {entry.id: entry for entry in entries(vault)}
    hawk, fury = by_id["hawk/obs-2026-02-15-001"], by_id["fury/obs-2026-02-15-001"]
    assert (hawk.confidence, hawk.importance, hawk.decay) == (0.82, None, Decay("linear", 30))
    assert (fury.confidence, fury.importance, fury.decay) == (None, 0.8, Decay("ttl", 30))
    assert all(entry.observed_at == DAY for entry in entries(vault))
    assert by_id["shield/obs-2026-02-15-001"].text == "Rule 7 holds from May on."  # without a final line end


def test_a_name_that_six_agents_use_is_told_with_all_of_them_the_entry_itself_too(vault: Vault) -> None:
    message = told(vault, "ambiguous-reference")["agents/forge/memory/vault/" + NAME]
    assert all(one in message for one in IDS)


def test_a_reference_that_is_a_path_leads_to_its_entry_or_is_told(vault: Vault) -> None:
    targets = Targets(entries(vault))
    hawk = next(one for one in entries(vault) if one.space == "hawk")
    assert hawk.references == (Reference("related", "agents/scout/memory/vault/obs-2026-02-15-001.md"),)
    assert targets.lead(hawk.references[0].target, hawk.id).targets == ("scout/obs-2026-02-15-001",)
    nowhere = [one for one in vault.findings if one.kind == "nowhere-reference"]
    assert [one.path for one in nowhere] == ["agents/watchtower/memory/vault/" + NAME] * 2


def test_a_source_that_is_not_the_folder_is_told_and_so_is_another_spelling(vault: Vault) -> None:
    assert told(vault, "foreign-source").keys() == {"agents/forge/memory/vault/" + NAME}
    assert told(vault, "spelling-of-source").keys() == {"agents/fury/memory/vault/" + NAME}


def test_what_is_counted_and_cached_is_compared_with_what_is_said(vault: Vault) -> None:
    fury = "agents/fury/memory/vault/" + NAME
    cached = [one.message for one in vault.findings if (one.kind, one.path) == ("unconfirmed-incoming", fury)]
    assert len(cached) == 2  # of signal, which is forge now, and of forge, whose reference is ambiguous
    assert told(vault, "wrong-count") == {fury: "refs says 3, ref_by has 2"}
    assert told(vault, "unknown-promotion").keys() == {fury}


def test_a_shared_copy_of_an_agent_that_is_gone_is_told_with_its_like(vault: Vault) -> None:
    message = told(vault, "lost-original")["shared/observations/captain-" + NAME]
    assert "'captain'" in message
    assert "fury/obs-2026-02-15-001 has the same text" in message
    assert "source 'FURY' there, 'captain' here" in message


def test_what_is_shared_already_is_not_promoted_again(vault: Vault) -> None:
    plan = plan_promotion(stock(*entries(vault)), NOW, only="fury/obs-2026-02-15-001")
    assert [one.reason for one in plan.skipped] == ["it is shared already, as shared/captain-obs-2026-02-15-001"]
    assert [one.name for one in plan_promotion(stock(*entries(vault)), NOW).planned] == ["hawk/obs-2026-02-15-001"]


@pytest.mark.parametrize(("past", "gone"), [(13, []), (14, ["watchtower"]), (31, ["forge", "fury", "hawk", "scout"])])
def test_every_vault_is_aged_by_its_own_rules(vault: Vault, past: int, gone: list[str]) -> None:
    expired = plan_ageing(stock(*entries(vault)), noon(DAY + timedelta(days=past))).planned
    spaces = {one.name.partition("/")[0] for one in expired}
    assert set(gone) <= spaces
    assert "shield" not in spaces
    assert bool(gone) == bool(spaces)


def test_one_id_in_several_files_is_an_error_and_both_are_read() -> None:
    twice = {f"agents/hawk/memory/{store}/{NAME}": observation("CTR.\n") for store in ("vault", "archive")}
    vault = read_vault(twice)
    assert [entry.archived for entry in entries(vault)] == [True, False]
    assert told(vault, "repeated-id").keys() == twice.keys()


def test_what_cannot_be_read_is_told_with_its_line_and_the_rest_is_read() -> None:
    folder = "agents/hawk/memory/vault/"
    vault = read_vault(
        {
            folder + "obs-2026-02-15-001.md": b"---\ntags: [a\ncreated: 2026-02-15\n---\nBroken.\n",
            folder + "obs-2026-02-16-002.md": observation("Two days."),
            folder + "note.md": b"No day at all.\n",
            folder + "obs-2026-02-15-004.md": observation("Both.", decay="linear-90d"),
            folder + "obs-2026-02-15-005.md": b"No front matter.\n",
        }
    )
    texts = {entry.name: entry.text for entry in entries(vault)}
    assert texts["obs-2026-02-15-005"] == "No front matter.\n"
    assert "Broken.\n" in texts["obs-2026-02-15-001"]
    broken = next(one for one in vault.findings if one.path.endswith("15-001.md"))
    assert (broken.severity, broken.line > 0) == ("error", True)
    assert told(vault, "two-days").keys() == {folder + "obs-2026-02-16-002.md"}
    assert told(vault, "two-lifetimes").keys() == {folder + "obs-2026-02-15-004.md"}
    assert folder + "note.md" in {one.path for one in vault.findings}
    bare = next(one for one in entries(vault) if one.name.endswith("15-005"))
    assert (bare.observed_at, bare.decay) == (DAY, Decay())
    assert not plan_ageing(stock(bare), noon(date(2999, 1, 1))).planned
