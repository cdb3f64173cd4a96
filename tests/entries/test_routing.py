"""Routing says where a text belongs and why, and leaves in the inbox what it cannot tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.entries.domains import default_domains
from memory_v2.entries.entry import Domain, Reference
from memory_v2.entries.references import Targets
from memory_v2.entries.routing import Router, keywords_in

DOMAINS = default_domains().domains


def router(**fields: object) -> Router:
    return Router(DOMAINS, Targets([], DOMAINS, ["projects/silica"]), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("Lesson: The Coordination Gap occurs when agents don't share explicit handshakes.", "insights"),
        ("Lesson learned: a shard needs a protocol.", "insights"),
        ("Post Moltbook on sharding - see shard technical for implementation details", "technical"),
        ("Leçon apprise : la communication est la clé", "insights"),
        ("Las lecciones de marzo", "insights"),
        ("As tarefas de amanhã", "projects"),
        ("Unser neuer Projektplan", "projects"),
        ("项目的截止日期", "projects"),
        ("Thanks, @zoe!", "people"),
        ("Write to zoe@example.com", None),
        ("- [ ] repair the pump", "projects"),
        ("The array[ ] is empty", None),
        ("A personal note", None),
        ("Codependent", None),
        ("Soup for lunch", None),
        ("", None),
    ],
)
def test_a_text_goes_where_its_words_say(text: str, home: str | None) -> None:
    assert router().route(text).home == home


def test_a_reference_wins_over_keywords() -> None:
    text = "Decision: the lesson learned about patterns, connect with shard people"
    routing = router().route(text)
    assert (routing.home, routing.reason) == ("people", "it names people")
    assert routing.candidates[0].home == "insights"
    assert router().route("Lesson: two", [Reference("related", "projects/silica")]).home == "projects/silica"


def test_keywords_decide_between_several_references_and_else_the_inbox_has_them_all() -> None:
    two = "see shard technical, see shard projects"
    assert router().route(f"{two}: a task").home == "projects"
    routing = router().route("see shard people, see shard strategy")
    assert routing.home is None
    assert {one.home for one in routing.candidates} == {"people", "strategy"}


def test_an_unknown_reference_routes_nowhere_and_keywords_do() -> None:
    assert router().route("A lesson, see shard gardening").home == "insights"


def test_a_tie_stays_in_the_inbox_with_its_candidates() -> None:
    routing = router().route("The task of the expert")
    assert routing.home is None
    assert [(one.home, one.score) for one in routing.candidates] == [("projects", 1), ("people", 1)]
    assert "tie" in routing.reason


def test_a_keyword_counts_once_and_a_label_three_times() -> None:
    assert keywords_in("code, code and code", ["code"]) == {"code": 1}
    assert keywords_in("**Decision (final):** code", ["decision", "code"]) == {"decision": 3, "code": 1}
    assert keywords_in("2026-02-15 we all came to a decision: code", ["decision"]) == {"decision": 1}


def test_case_accents_and_plurals_do_not_matter_and_words_are_whole() -> None:
    assert keywords_in("DÉCISIONS", ["decision"]) == {"decision": 1}
    assert keywords_in("the long-term plan", ["long term", "long-term"]) == {"long term": 1}
    assert keywords_in("termlong", ["term"]) == {}
    assert keywords_in("Projektplanung", ["projekt*"]) == {"projekt*": 1}
    assert keywords_in("the api_key of it", ["api"]) == {"api": 1}
    assert keywords_in("C++ or C#", ["c++"]) == {"c++": 1}


def test_importance_is_a_bonus_only_if_asked_for() -> None:
    importance = {"technical": 0.5}
    assert router(importance=importance).route("A task").home == "projects"
    assert router(importance=importance).route("Soup").home is None
    with_bonus = router(importance=importance, importance_bonus=2.0)
    assert with_bonus.route("A task").home is None  # a tie, by DARYL's formula
    assert with_bonus.route("Soup").home == "technical"


@given(st.text(max_size=200))
def test_any_text_is_routed_the_same_way_twice_and_with_a_reason(text: str) -> None:
    first, second = router().route(text), router().route(text)
    assert first == second
    assert first.reason
    assert first.home is None or first.home in {one.name for one in DOMAINS} | {"projects/silica"}


@given(st.permutations(DOMAINS))
def test_the_order_of_the_domains_decides_nothing(domains: list[Domain]) -> None:
    targets = Targets([], domains)
    for text in ("The task of the expert", "Lesson: code", "Soup"):
        assert Router(domains, targets).route(text).home == router().route(text).home
