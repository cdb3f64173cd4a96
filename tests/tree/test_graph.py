"""How pages hang together, circles included."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memory_v2.tree.graph import Edge, Graph, Node, build_graph, edges_of
from memory_v2.tree.page import parse_page
from tests.tree.texts import STEADY


def graph(*edges: tuple[str, str, bool], alone: tuple[str, ...] = ()) -> Graph:
    paths = dict.fromkeys(["memory", *(p for a, b, _ in edges for p in (a, b)), *alone])
    links: dict[str, tuple[Edge, ...]] = {}
    for source, target, child in edges:
        links[source] = (*links.get(source, ()), Edge(source, target, "", child))
    return Graph({path: Node(path, 1, path) for path in paths}, links)


def test_children_come_before_mentions() -> None:
    found = graph(("memory", "a", True), ("memory", "b", False), ("a", "b", True))
    assert found.parents == {"a": "memory", "b": "a"}


def test_what_is_only_mentioned_is_reachable() -> None:
    found = graph(("memory", "a", False), ("a", "b", True))
    assert found.parents == {"a": "memory", "b": "a"}
    assert found.unreachable == ()


def test_a_circle_out_of_reach_is_out_of_reach() -> None:
    found = graph(("memory", "a", True), ("x", "y", True), ("y", "x", True), alone=("z",))
    assert set(found.unreachable) == {"x", "y", "z"}
    assert found.breadcrumb("x") == ("x",)


def test_a_circle_within_reach_has_one_way_to_each_page() -> None:
    found = graph(("memory", "a", True), ("a", "b", True), ("b", "a", True), ("b", "memory", True))
    assert found.breadcrumb("b") == ("memory", "a", "b")
    assert found.breadcrumb("memory") == ("memory",)
    assert found.children == {"memory": ["a"], "a": ["b"]}


@STEADY
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["memory", "a", "b", "c", "d"]),
            st.sampled_from(["memory", "a", "b", "c", "d"]),
            st.booleans(),
        ),
        max_size=14,
    )
)
def test_every_page_is_out_of_reach_or_has_a_way_from_the_root(edges: list[tuple[str, str, bool]]) -> None:
    found = graph(*edges, alone=("a", "b", "c", "d"))
    for node in found.nodes:
        way = found.breadcrumb(node.path)
        assert way[-1] == node.path
        assert len(set(way)) == len(way)
        if node.path in found.unreachable:
            assert way == (node.path,)
        else:
            assert way[0] == "memory"
            assert all((a, b) in {(e.source, e.target) for e in found.edges} for a, b in pairwise(way))


def test_links_to_nowhere_and_to_itself_are_no_edges() -> None:
    page = parse_page("memory", "[[memory]] [[ghost]] [[A]] [[a.md]]\n\n## Links\n\n- [[a]] - words\n")
    assert edges_of(page, {"memory": "memory", "a": "a"}) == [Edge("memory", "a", "words", True)]


def test_a_graph_of_pages_tells_titles_and_sizes() -> None:
    pages = [parse_page("memory", "# M\n\n[[a]]\n"), parse_page("a", "# Über\n")]
    found = build_graph(pages)
    assert {(node.path, node.size, node.title) for node in found.nodes} == {("memory", 11, "M"), ("a", 8, "Über")}
    assert found.to_dict()["edges"] == [{"from": "memory", "to": "a", "label": ""}]


def test_drawings_survive_odd_names() -> None:
    found = build_graph([parse_page("memory", '# A "b"\\\n\n[[it"s]] [[x`y]]\n'), parse_page("x`y", "")])
    assert found.to_mermaid().startswith("graph TD\n")
    assert '\\"b\\"\\\\' in found.to_dot()


PATHS = st.lists(st.sampled_from(["a", "A", "a/b", "a/B", "A/c", "d/e", "D", "f"]), max_size=5, unique=True)


@given(PATHS, PATHS)
def test_a_graph_with_more_pages_knows_the_paths_that_one_made_of_all_of_them_knows(
    before: list[str], added: list[str]
) -> None:
    first = Graph({path: Node(path, 1, path) for path in before}, {})
    assert len(first.known) <= len(before) and not first.taken.below("nowhere")
    grown = first.changed({path: Node(path, 1, path) for path in added}, {})
    anew = Graph(grown.pages, {})
    assert grown.known == anew.known
    for path in ("a", "A", "a/b", "A/b", "a/x", "D/x", "d", "F", "f/g", "new"):
        assert (path in grown.taken, grown.taken.page(path)) == (path in anew.taken, anew.taken.page(path))
