"""The graph of notes: files, people and projects, with links and mentions; the same bytes each time."""

from __future__ import annotations

from pathlib import Path

from memory_v2.notes.graph import NotesGraph
from tests.notes.folder import notes_of

FILES = {
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
    with notes_of(tmp_path, FILES) as notes:
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
    assert {node.name for node in nodes if node.kind == "file"} == {*FILES}


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


def test_the_same_notes_give_the_same_drawing(tmp_path: Path) -> None:
    first, again = graph_of(tmp_path / "1"), graph_of(tmp_path / "2")
    assert (first.to_mermaid(), first.to_dot()) == (again.to_mermaid(), again.to_dot())
    lines = first.to_mermaid().splitlines()
    assert lines[0] == "graph LR" and any("-->" in line for line in lines) and any("-.->" in line for line in lines)
    assert '(["Bob"])' in first.to_mermaid() and '{{"Blue Pump"}}' in first.to_mermaid()
    assert '"person:Bob" [label="Bob", shape=ellipse];' in first.to_dot()
