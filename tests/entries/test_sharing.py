"""Promotion copies once what is sure enough, and tells what has changed since."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_v2.entries.entry import Entry, Provenance
from memory_v2.entries.upkeep import plan_promotion
from memory_v2.errors import UsageError
from memory_v2.plan import Plan
from tests.entries.made import made, stock

NOW = datetime(2026, 2, 20, 12, tzinfo=UTC)
NOTHING = plan_promotion(stock(), NOW)
SURE = made("hawk/obs-2026-02-15-001", "Buyers pay net 30.\n", confidence=0.9)


def plan(*entries: Entry, **options: Any) -> Plan:
    return plan_promotion(stock(*entries), NOW, **options)


def promoted(*entries: Entry, **options: Any) -> list[str]:
    return [one.name for one in plan(*entries, **options).planned]


def test_what_is_sure_enough_is_copied_and_says_where_it_came_from() -> None:
    (promotion,) = plan(SURE, made("hawk/obs-2026-02-15-002", confidence=0.79)).planned
    copy = promotion.facts["copy"]
    assert (promotion.name, copy.id, copy.promoted_from) == (SURE.id, "shared/hawk-obs-2026-02-15-001", SURE.id)
    assert (copy.text, copy.confidence, copy.promoted_at) == (SURE.text, 0.9, NOW)
    assert promotion.reason == "confidence 0.9"
    assert plan(replace(SURE, promoted_to=(copy.id,)), copy) == NOTHING


def test_the_threshold_verification_and_one_entry_can_be_asked_for() -> None:
    unsure = made("hawk/obs-2026-02-15-002", "Two.\n", confidence=0.7)
    verified = made("hawk/obs-2026-02-15-003", "Three.\n", confidence=0.8, verified=True)
    silent = made("hawk/obs-2026-02-15-004", "Four.\n")
    everything = (SURE, unsure, verified, silent)
    assert promoted(*everything) == [SURE.id, verified.id]
    assert promoted(*everything, threshold=0.7) == [SURE.id, unsure.id, verified.id]
    assert promoted(*everything, require_verified=True) == [verified.id]
    assert promoted(*everything, only="obs-2026-02-15-004.md") == [silent.id]
    refused = plan(*everything, only=unsure.id, require_verified=True)
    assert not refused.planned
    assert [(one.name, one.reason) for one in refused.skipped] == [(unsure.id, "nobody has verified it")]


def test_one_entry_is_named_without_guessing() -> None:
    other = replace(SURE, id="forge/obs-2026-02-15-001", text="Other.\n")
    with pytest.raises(UsageError, match=r"forge/obs-2026-02-15-001, hawk/obs-2026-02-15-001"):
        plan(SURE, other, only="obs-2026-02-15-001")
    with pytest.raises(UsageError, match="no entry"):
        plan(SURE, only="obs-2026-02-15-009")


def test_what_is_archived_or_closed_is_not_promoted() -> None:
    assert not promoted(replace(SURE, archived=True), replace(SURE, id="hawk/b", status="closed"))


def test_namesakes_of_several_agents_get_names_of_their_own() -> None:
    other = replace(SURE, id="forge/obs-2026-02-15-001", text="Other.\n")
    taken = replace(SURE, id="shared/hawk-obs-2026-02-15-001", text="Third.\n")
    copies = [one.target for one in plan(SURE, other, taken).planned]
    assert copies == ["shared/forge-obs-2026-02-15-001", "shared/hawk-obs-2026-02-15-001-2"]


def test_the_same_text_of_two_agents_is_shared_once_also_by_the_second_run() -> None:
    other = replace(SURE, id="forge/obs-2026-02-15-001")
    (promotion,) = plan(SURE, other).planned
    assert promotion.name == other.id
    assert plan(SURE, other, promotion.facts["copy"]) == NOTHING


def test_a_source_that_has_changed_since_is_told() -> None:
    copy = plan(SURE).planned[0].facts["copy"]
    changed = plan(replace(SURE, confidence=0.6), copy)
    assert not changed.planned
    assert [(one.kind, one.path) for one in changed.warnings] == [("outdated-copy", copy.id)]
    assert "confidence 0.6 there, 0.9 here" in changed.warnings[0].message
    assert not plan(SURE, replace(copy, confidence=0.95, verified=True)).warnings  # the copy was worked on
    lost = plan(copy).warnings
    assert [one.kind for one in lost] == ["lost-original"]


def test_a_copy_of_another_program_is_recognised_by_agent_and_name() -> None:
    copy = replace(SURE, id="shared/hawk-obs-2026-02-15-001", promoted_from="hawk", text=SURE.text.rstrip())
    assert plan(SURE, copy) == NOTHING
    assert [one.kind for one in plan(replace(SURE, text="Net 15."), copy).warnings] == ["outdated-copy"]


@pytest.mark.parametrize("said", [None, "captain"])
def test_a_copy_whose_original_is_unknown_is_compared_with_its_like(said: str | None) -> None:
    copy = replace(
        SURE, id="shared/captain-obs-2026-02-15-001", source=Provenance(author="captain"), promoted_from=said
    )
    there = plan(replace(SURE, source=Provenance(author="fury")), copy)
    assert not there.planned
    (finding,) = there.warnings
    assert finding.kind == "lost-original"
    assert f"{SURE.id} has the same text (source 'fury' there, 'captain' here)" in finding.message


def test_what_was_captured_into_the_shared_space_is_no_copy() -> None:
    assert plan(replace(SURE, id="shared/obs-2026-02-15-001")) == NOTHING
