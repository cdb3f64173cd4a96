"""What a digest counts, the measures in it, and the graph of who is connected with whom."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from memory_v2.errors import UsageError
from memory_v2.notes.digest import digest_lines
from memory_v2.notes.graph import NotesGraph
from memory_v2.notes.measures import is_goal_or_rate, readings
from memory_v2.notes.notes import Notes
from memory_v2.text.days import Calendar
from memory_v2.text.words import tokens
from tests.notes.folder import notes_of

GOLDEN = Path(__file__).with_name("digest.txt")
FILES = {
    "MEMORY.md": "# Garden\n\n## Contacts\n\n- **Ada** — keeps the books\n",
    "memory/2026-02-16.md": "## Stats\n\n- 3 members, 40 visitors\n\n## Contacts\n\n- **Ada** — keeps the books\n",
    "memory/2026-02-17.md": "- Decision: NOT using peat\n- [ ] buy a filter\n- [x] dig\n\n## Stats\n\n- 4 members\n",
    "memory/2026-02-20.md": "- **Key lesson**: water early\n- **Problema:** a bomba parou\n- ~~Problem: mice~~\n",
    "memory/2026-03-01.md": (
        "## Contacts\n\n- **Bob** — sells seeds, see [[people/bob]]\n- **Ada** — came by\n\n"
        "## Stats\n\n- Members rose to 6+ (from 4)\n- visitors: ~25\n- Seeds sown: 120 new\n\n## 待办\n\n- 修理水泵\n"
    ),
}


def shown(notes: Notes, since: str, until: str, max_tokens: int | None = None) -> str:
    digest = notes.digest(date.fromisoformat(since), date.fromisoformat(until))
    return "\n".join(digest_lines(digest, max_tokens)) + "\n"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/Los_Angeles"])
def test_a_fortnight_is_the_same_byte_for_byte_in_two_time_zones(zone: str, tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    now = datetime(2026, 3, 1, 12, tzinfo=ZoneInfo(zone))
    notes.calendar = Calendar(ZoneInfo(zone), lambda: now)
    until = notes.calendar.today
    assert shown(notes, "2026-02-16", until.isoformat()) == GOLDEN.read_text("utf-8")


def test_a_number_has_its_first_and_last_value_and_their_places(tmp_path: Path) -> None:
    members = next(
        one
        for one in notes_of(tmp_path, FILES).digest(date(2026, 2, 16), date(2026, 3, 1)).metrics
        if one.name == "members"
    )
    assert (members.first.reading.value, members.last.reading.value, members.change) == (3, 6, 1.0)
    assert (members.first.place, members.last.place) == ("memory/2026-02-16.md:3", "memory/2026-03-01.md:8")


def test_a_contact_is_new_if_nothing_was_told_of_them_before(tmp_path: Path) -> None:
    digest = notes_of(tmp_path, FILES).digest(date(2026, 3, 1), date(2026, 3, 1))
    assert [one.people[-1] for one in digest.contacts] == ["Bob"]


def test_without_days_it_is_yesterday_and_today_of_the_time_zone(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES, now="2026-02-17T23:30:00+00:00")
    assert (notes.digest().since, notes.digest().until) == (date(2026, 2, 16), date(2026, 2, 17))
    notes.calendar = Calendar(ZoneInfo("Europe/Madrid"), notes.calendar.now)
    assert (notes.digest().since, notes.digest().until) == (date(2026, 2, 17), date(2026, 2, 18))


def test_an_empty_digest_says_so_and_when_there_was_something(tmp_path: Path) -> None:
    notes = notes_of(tmp_path, FILES)
    digest = notes.digest(date(2026, 2, 18), date(2026, 2, 19))
    assert digest.is_empty
    assert "2026-02-17" in "\n".join(digest_lines(digest))
    with pytest.raises(UsageError):
        notes.digest(date(2026, 2, 19), date(2026, 2, 18))


def test_a_digest_fits_into_as_many_tokens_as_it_may_have_and_keeps_its_counts(tmp_path: Path) -> None:
    many = "".join(f"- [ ] buy filter number {n} for the pump in the yard\n" for n in range(40))
    notes = notes_of(tmp_path, {**FILES, "memory/2026-02-21.md": many})
    for limit in (120, 200, 400):
        text = shown(notes, "2026-02-16", "2026-03-01", limit)
        assert tokens(text) <= limit
        assert "Pending: 42" in text
    assert len(shown(notes, "2026-02-16", "2026-03-01", 400)) > len(shown(notes, "2026-02-16", "2026-03-01", 120))


@pytest.mark.parametrize(
    "line",
    ["Moltbook: 19 posts, ~35 karma, 6 followers", "- karma: 35", "| Metric | Value |\n|---|---|\n| karma | 35 |"],
)
def test_a_number_that_the_audit_compares_is_in_the_digest(line: str, tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"memory/2026-02-10.md": f"# Log\n\n{line}\n"})
    digest = notes.digest(date(2026, 2, 9), date(2026, 2, 10))
    assert [one.last.reading.value for one in digest.metrics if one.name == "karma"] == [35]


@pytest.mark.parametrize("line", ["- The goal is 35 karma", "- Do 35 karma matter?"])
def test_a_goal_and_a_question_are_no_number_of_a_digest(line: str, tmp_path: Path) -> None:
    notes = notes_of(tmp_path, {"memory/2026-02-10.md": f"# Log\n\n{line}\n"})
    assert not notes.digest(date(2026, 2, 9), date(2026, 2, 10)).metrics


@pytest.mark.parametrize(
    ("line", "value", "bound"),
    [
        ("Karma: 12", 12, "exact"),
        ("Current stats: 10 posts, 22 comments, **24 karma**", 24, "exact"),
        ("**Karma**: 26+ (rising)", 26, "at least"),
        ("Karma rose to 35 (from 26)", 35, "exact"),
        ("Moltbook: 21 posts, ~35+ karma, 6 followers", 35, "about"),
        ("karma 35 (was 26)", 35, "exact"),
        ("karma: 26 → 35", 35, "exact"),
        ("Karma 24, 14 posts, 6 followers", 24, "exact"),
        ("Moltbook: 19 posts, ~35 karma", 35, "about"),
        ("| karma | 35 |", 35, "exact"),
        ("| **Karma** | ~35 |", 35, "about"),
    ],
)
def test_the_series_of_a_measure_is_read_however_it_is_written(line: str, value: float, bound: str) -> None:
    (one,) = [one for one in readings(line, is_stated=True) if one.key == "karma"]
    assert (one.value, one.bound, one.form) == (value, bound, "total")


def test_what_it_was_before_is_told() -> None:
    assert [one.before for one in readings("Karma rose to 35 (from 26)", is_stated=False)] == [26]
    assert [one.before for one in readings("karma: 26 → 35", is_stated=False)] == [26]


def test_what_was_added_is_told_apart_from_what_there_is() -> None:
    told = readings("**Posts published**: 10 (Posts 10-19), bringing total to ~19", is_stated=True)
    assert [(one.key, one.value, one.form) for one in told] == [("post", 10, "increment"), ("post", 19, "total")]


@pytest.mark.parametrize(
    ("line", "value", "unit"),
    [
        ("Coverage: 87.5%", 87.5, "%"),
        ("cost: $1,250", 1250, "$"),
        ("12k followers", 12_000, ""),
        ("粉丝：120", 120, ""),
        ("seguidores: 40", 40, ""),
    ],
)
def test_units_and_thousands(line: str, value: float, unit: str) -> None:
    (one,) = readings(line, is_stated=False)
    assert (one.value, one.unit) == (value, unit)


@pytest.mark.parametrize(
    "line",
    [
        "Published post 7 in m/general (ID: `0eb61e00`)",
        "posts of 2026-02-09 at 19:19",
        "version 2.0.1 has no followers",
        "Art. 200.3 of the law",
        "see issue #12 and port 8001",
        "llantén posts: prompttrauma, AgentCommunity",
        "no numbers",
        "post 7",
        "| bed | 7 |",
    ],
)
def test_names_days_and_ids_are_no_numbers(line: str) -> None:
    assert readings(line, is_stated=False) == []


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("Newsletter: 1.250 Abonnenten", 1250),
        ("Guthaben: 1.830,50 Euro", 1830.5),
        ("Abonnés : 1 450", 1450),
        ("Couverture: 71,5%", 71.5),
        ("Revenue: $1,250.50", 1250.5),
        ("Latency: 1.250 s", 1.25),
        ("Custo: R$ 45", 45),
    ],
)
def test_a_number_is_read_as_its_language_writes_it(line: str, value: float) -> None:
    assert [one.value for one in readings(line, is_stated=False)] == [value]


def test_a_goal_and_a_rate_are_not_how_much_there_is() -> None:
    for line in (
        "Goal: 500 users",
        "Ziel: 120 Nutzer",
        "Meta: 1.000 usuários",
        "3 new leads per day",
        "目标：5000 粉丝",
    ):
        assert is_goal_or_rate(line)
    assert not is_goal_or_rate("410 users")


GRAPH_FILES = {
    "MEMORY.md": (
        "# Memory\n\n## Contacts\n\n- **Ada Byron** — keeps the books\n- **Bob** — repairs pumps\n\n"
        "## Projects\n\n- **Blue Pump** — a pump that is blue\n\nSee [the wells](notes/wells.md) and [[notes/wells]].\n"
    ),
    "memory/2026-02-01.md": "- Ada Byron and @ada_b met Bobby at the Blue Pump, see `wells.md`\n- Bob came, Bob went\n",
    "notes/wells.md": "# Wells\n\n- Dug by Bob, see https://x.org/Bob and `Ada Byron`\n\n```\nBob\n```\n",
    "projects/rain-barrel.md": "# Rain barrel\n\n- It stands behind the shed\n",
    "alone.md": "# Alone\n\n- nobody and @nothing\n",
}


def graph_of(tmp_path: Path, most: int = 200, people: Path | None = None) -> NotesGraph:
    with notes_of(tmp_path, GRAPH_FILES) as notes:
        return notes.graph(most, people)


def test_people_projects_and_files_are_nodes(tmp_path: Path) -> None:
    nodes = graph_of(tmp_path).nodes
    assert {node.id for node in nodes if node.kind != "file"} == {
        "person:Ada Byron",
        "person:Bob",
        "person:@ada_b",
        "project:Blue Pump",
        "project:Rain barrel",
    }
    assert {node.name for node in nodes if node.kind == "file"} == {*GRAPH_FILES}


def test_links_and_mentions_are_edges_with_their_count_and_first_place(tmp_path: Path) -> None:
    edges = {(edge.source, edge.target): edge for edge in graph_of(tmp_path).edges}
    link = edges["file:MEMORY.md", "file:notes/wells.md"]
    assert (link.kind, link.count, link.place) == ("links", 2, "MEMORY.md:12")
    bob = edges["file:memory/2026-02-01.md", "person:Bob"]
    assert (bob.kind, bob.count, bob.place) == ("mentions", 1, "memory/2026-02-01.md:2")
    assert edges["file:memory/2026-02-01.md", "file:notes/wells.md"].kind == "mentions"
    assert edges["file:projects/rain-barrel.md", "project:Rain barrel"].place == "projects/rain-barrel.md:1"
    assert edges["file:notes/wells.md", "person:Bob"].count == 1
    assert ("file:notes/wells.md", "person:Ada Byron") not in edges
    assert all("alone" not in source for source, _ in edges)


def test_an_alias_file_makes_one_of_two_names(tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("Ada Byron = @ada_b\n")
    graph = graph_of(tmp_path, people=tmp_path / "people.txt")
    assert "person:@ada_b" not in {node.id for node in graph.nodes}


def test_a_capped_graph_keeps_what_has_most_edges_and_tells_what_is_left_out(tmp_path: Path) -> None:
    whole, capped = graph_of(tmp_path / "1"), graph_of(tmp_path / "2", most=3)
    assert len(capped.nodes) == 3 and capped.nodes == whole.nodes[:3]
    assert capped.nodes_left_out == len(whole.nodes) - 3
    assert capped.edges_left_out == len(whole.edges) - len(capped.edges)
    assert "left out: 7 nodes" in capped.to_mermaid() and "left out: 7 nodes" in capped.to_dot()
    assert "left out" not in whole.to_mermaid()
