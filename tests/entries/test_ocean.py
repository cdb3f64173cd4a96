"""A vault like Ocean's, made up again: every ambiguity is told, and nothing is guessed."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from memory_v2.entries.entry import Decay, Entry, Reference
from memory_v2.entries.importing import Vault, read_vault
from memory_v2.entries.references import Targets
from memory_v2.entries.upkeep import plan_ageing, plan_promotion
from tests.entries.made import DAY, noon, stock
from tests.entries.test_sharing import NOW

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
