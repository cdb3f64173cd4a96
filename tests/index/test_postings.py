"""The two full-text tables tell which places have a term, whatever pages came and went."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator

import pytest

from memory_v2.index.places import PAGE_OF, StoredPassage, read_places
from memory_v2.index.postings import (
    LAST_BITS,
    ROW_BITS,
    UP_TO,
    Only,
    Scores,
    any_of,
    count_above,
    places_above,
    rows_of_phrase,
    rows_of_words,
)
from memory_v2.index.rows import IncomingPage, prepare_page
from memory_v2.index.store import Connections
from memory_v2.index.tables import drop_pages, put_pages
from memory_v2.tree.page import parse_page
from tests.properties.whole import clock

WORDS = ["tea", "harbor", "lantern", "bought", "runs", '"AND"', "OR", "NEAR(", 'x"', "茶馆", "naïve", "C++", "a_b"]
PATHS = ("memory", "harbor", "harbor/tea", "lantern")


@pytest.fixture
def tables() -> Iterator[sqlite3.Connection]:
    connections = Connections(None)
    with connections.use() as tables:
        yield tables
    connections.retire()


def put(tables: sqlite3.Connection, pages: dict[str, str]) -> None:
    parsed = [parse_page(path, text) for path, text in pages.items()]
    put_pages(tables, [prepare_page(IncomingPage(page, page.size, "", clock())) for page in parsed])


def all_places(tables: sqlite3.Connection) -> dict[int, StoredPassage]:
    return read_places(tables, [number for (number,) in tables.execute("SELECT id FROM passages")])


def text(chance: random.Random) -> str:
    """A page of sections with none to some twenty items each."""
    lines = ["# Notes of tea"]
    for number in range(chance.randrange(4)):
        lines += ["", f"## {' '.join(chance.choices(WORDS, k=2))} {number}", ""]
        lines += [
            f"- {' '.join(chance.choices(WORDS, k=chance.randrange(1, 40)))}" for _ in range(chance.randrange(20))
        ]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(5))
def test_each_term_is_told_of_all_places_that_have_it_and_of_no_other(tables: sqlite3.Connection, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(6):
        if chance.random() < 0.3:
            drop_pages(tables, chance.sample(PATHS, 2))
        else:
            put(tables, {path: text(chance) for path in chance.sample(PATHS, 2)})
        places = all_places(tables)
        for term in {term for place in places.values() for term in f"{place.own}{place.context}".split()}:
            having = {number for number, place in places.items() if f" {term} " in place.own}
            below = sorted(number for number, place in places.items() if f" {term} " in place.context)
            rows = rows_of_words(tables, any_of([term]))
            assert {row >> ROW_BITS for row in rows} == having
            assert len(rows) == len(having)
            assert places_above(tables, any_of([term])) == below
            assert count_above(tables, term) == len(below)
    drop_pages(tables, PATHS)
    assert not tables.execute("SELECT term FROM vocabulary UNION SELECT term FROM vocabulary_above").fetchall()


def test_a_row_says_about_how_long_a_text_is(tables: sqlite3.Connection) -> None:
    put(tables, {"memory": "".join(f"- {'tea ' * length}\n" for length in (1, 8, 9, 16, 17, 32, 33, 90))})
    assert UP_TO == (8, 16, 32)
    assert [row & LAST_BITS for row in rows_of_words(tables, "tea")] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_the_terms_of_a_heading_are_stored_for_eight_places_at_a_time(tables: sqlite3.Connection) -> None:
    put(tables, {"memory": "## Harbor\n\n" + "- tea\n" * 23})
    rows = [row for (row,) in tables.execute("SELECT rowid FROM above WHERE above MATCH 'harbor'")]
    assert [1 << (row & LAST_BITS) for row in rows] == [8, 8, 4, 2, 1]


PHRASES = {
    "green tea": ["Green teas", "the tea the green teas"],
    "tea the green": ["the tea the green teas"],
    '"AND" OR': ['" AND OR'],
    "naïve café": ["Naïve Cafés"],
    "x": ["x"],
    "茶馆里": ["他去茶馆里喝茶"],
    "green harbor": [],
    " ?! ": [],
}


@pytest.mark.parametrize(("phrase", "texts"), PHRASES.items())
def test_a_phrase_is_found_where_its_words_stand_one_after_the_other(
    tables: sqlite3.Connection, phrase: str, texts: list[str]
) -> None:
    others = ["tea, and green", "OR and", "馆里有茶", "harbor"]
    lines = list(dict.fromkeys([*others, *(text for some in PHRASES.values() for text in some)]))
    put(tables, {"memory": "".join(f"- {line}\n" for line in lines)})
    places = all_places(tables)
    found = [places[row >> ROW_BITS].text for row in rows_of_phrase(tables, phrase)]
    assert sorted(found) == sorted(f"- {text}" for text in texts)


def test_a_phrase_is_found_among_many_places_that_have_its_words(tables: sqlite3.Connection) -> None:
    lines = ["deploy to staging"] * 3_000
    lines[2_500] = "the key for a staging deploy"
    put(tables, {"memory": "".join(f"- {line}\n\n" for line in lines)})
    places = all_places(tables)
    assert [places[row >> ROW_BITS].text for row in rows_of_phrase(tables, "staging deploy")] == [f"- {lines[2_500]}"]


def test_only_some_places_are_looked_through(tables: sqlite3.Connection) -> None:
    put(tables, {path: f"# Harbor {path}\n\n" + "- tea\n\n" * 9 for path in ("memory", "lantern")})
    [[page]] = tables.execute("SELECT id FROM pages WHERE path = 'lantern'").fetchall()
    only = Only().also(f"{PAGE_OF} = :page", page=page)
    on_page = {number for number, place in all_places(tables).items() if place.page == page}
    assert {row >> ROW_BITS for row in rows_of_words(tables, "tea", only)} == on_page
    assert set(places_above(tables, "harbor", only)) == on_page
    assert len(on_page) == 9


def test_equal_places_are_in_the_order_of_paths_and_lines(tables: sqlite3.Connection) -> None:
    put(tables, dict.fromkeys(("memory", "harbor", "lantern"), "- tea\n- tea\n- green tea\n"))
    scores = Scores(tables, 9, 1.0, Only())
    scores.add(["tea"], 9)
    scores.add(["green", "verdant"], 3)
    paths = dict(tables.execute("SELECT id, path FROM pages"))
    places = all_places(tables)
    found = [(paths[places[number].page], places[number].first_line) for number in scores.best(6)]
    assert found[:3] == [("harbor", 3), ("lantern", 3), ("memory", 3)]
    assert found[3:] == sorted(found[3:])
    assert len(found) == 6
