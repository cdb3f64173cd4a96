"""Where an entry belongs: the rules and why they say so, the domains, and a model for what the rules leave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.entries.domains import DomainFile, default_domains, domains_page, read_domains, stored_domains
from memory_v2.entries.entry import Domain, Reference, domain_named
from memory_v2.entries.references import Targets
from memory_v2.entries.routing import Router, keywords_in
from memory_v2.errors import InvalidSetting

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


def test_the_five_domains_have_keywords_in_six_languages() -> None:
    assert [one.name for one in default_domains().domains] == [
        "projects",
        "insights",
        "people",
        "technical",
        "strategy",
    ]
    for language in ("en", "fr", "es", "pt", "de", "zh"):
        assert default_domains().text.count(f"\n{language} = [") == 5


def test_every_keyword_of_the_specification_is_there() -> None:
    daryl = {
        "projects": "project task goal objective",
        "insights": "lesson pattern insight decision learned",
        "people": "@ contact person expert builder",
        "technical": "architecture framework code protocol shard layer pillar",
        "strategy": "vision priority trend",
    }
    for domain in default_domains().domains:
        assert set(daryl[domain.name].split()) <= {*domain.keywords, "contact"}
    assert "strateg*" in default_domains().domains[4].keywords


def test_a_domain_of_ones_own_is_another_table() -> None:
    text = '[garden]\nkeywords = ["leek", " kale "]\n'
    assert read_domains(text, "domains.toml") == DomainFile(
        (Domain("garden", "Garden", "", ("leek", "kale")),), text=text
    )


def test_the_importance_of_domains_can_be_given_weight() -> None:
    assert read_domains("importance_bonus = 2\n[garden]\n", "domains.toml").importance_bonus == 2
    assert read_domains(default_domains().text, "domains.toml").importance_bonus == 0


def test_a_page_holds_the_domains_in_a_fence_and_errors_have_its_lines() -> None:
    page = domains_page('[garden]\nkeywords = ["leek"]')
    assert stored_domains(page, "x").text == '[garden]\nkeywords = ["leek"]\n'
    assert stored_domains(page, "entries/domains.md").domains[0].keywords == ("leek",)
    assert stored_domains(domains_page(default_domains().text), "x") == default_domains()
    with pytest.raises(InvalidSetting, match=r"entries/domains\.md.*garden.keywords"):
        stored_domains(page.replace('"leek"', "3"), "entries/domains.md")
    with pytest.raises(InvalidSetting, match=r"line 7"):
        stored_domains(page.replace('"leek"', "leek"), "entries/domains.md")
    with pytest.raises(InvalidSetting, match="no fence"):
        stored_domains("# Domains\n", "entries/domains.md")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[garden]\nkeywords = [leek]\n", "line 2"),
        ("[garden]\n\nkeywords = [1]\n", "garden.keywords is not a list"),
        ("[garden]\n[garden.keywords]\nen = 'leek'\n", "garden.en is not a list"),
        ("[garden]\ntitel = 'Garden'\n", "garden.titel is none of"),
        ("[ok]\n[inbox]\n", "'inbox' cannot be the name"),
        ("[ok]\n['a/b']\n", "'a/b' cannot be the name"),
        ("[ok]\n[Garden]\n", "'Garden' cannot be the name"),
        ("garden = 3\n", "'garden' is not a table"),
        ("importance_bonus = 'much'\n[garden]\n", "importance_bonus is a number"),
        ("[garden]\ntitle = 3\n", "garden.title is not a text"),
        ("# nothing yet\n", "has no domain"),
    ],
)
def test_what_in_a_file_is_not_valid_is_told(text: str, what: str) -> None:
    with pytest.raises(InvalidSetting, match=rf"entries/domains\.toml.*{what}"):
        read_domains(text, "entries/domains.toml")


def test_a_domain_is_found_by_its_name_and_by_the_id_of_its_shard() -> None:
    for spelled in ("technical", "Technical", "shard_technical", " shard_Technical "):
        found = domain_named(spelled, default_domains().domains)
        assert found is not None
        assert found.name == "technical"
    assert domain_named("tech", default_domains().domains) is None
