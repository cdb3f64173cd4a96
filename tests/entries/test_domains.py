"""The file of domains is for people to edit: what is wrong with it is told."""

from __future__ import annotations

import pytest

from memory_v2.entries.domains import DomainFile, default_domains, domains_page, read_domains, stored_domains
from memory_v2.entries.entry import Domain, domain_named
from memory_v2.errors import InvalidSetting


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
