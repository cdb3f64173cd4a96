"""Links in texts, and the graph that they make."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.graph import Edge, Graph, Node, build_graph, edges_of
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import Link, find_links, link_key
from tests.tree.texts import STEADY, markdown


def targets(text: str) -> list[str]:
    return [link.target for block in parse_blocks(text) for link in find_links(block)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see [[a]] and [[b/c|words]]\n", ["a", "b/c"]),
        ("# About [[a#part]]\n", ["a"]),
        ("- item [[a]]\n  - nested [[b]]\n", ["a", "b"]),
        ("> quoted [[a]]\n", ["a"]),
        ("| x | [[a\\|words]] |\n|---|---|\n| 1 | [[b]] |\n", ["a", "b"]),
        ("`[[a]]` [[b]]\n", ["b"]),
        ("``a ` [[a]]`` [[b]]\n", ["b"]),
        ("` open [[a]]\n", ["a"]),
        ("\\[[a]] [[b]]\n", ["b"]),
        ("```\n[[a]]\n```\n", []),
        ("    [[a]]\n", []),
        ("<div>\n[[a]]\n</div>\n", []),
        ("- item\n\n  ```\n  [[a]]\n  ```\n\n  [[b]]\n", ["b"]),
        ("> ```\n> [[a]]\n> ```\n> [[b]]\n", ["b"]),
        ("[[[a]]] [[]] [[ ]] [[a\nb]]\n", ["a", " "]),
        ("[[a]][[b]]\n", ["a", "b"]),
        ("[[a|`code`]] [[b]]\n", ["a", "b"]),
        ("[x]([[a]])\n", ["a"]),
        ("[[日本語]] [[e\u0301]]\r\n", ["日本語", "e\u0301"]),
    ],
)
def test_links_are_found_in_prose_and_not_in_code(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


@STEADY
@given(markdown)
def test_a_link_stands_where_it_says(text: str) -> None:
    for block in parse_blocks(text):
        for link in find_links(block):
            assert block.text[link.start : link.end] == f"[[{link.target}{link.heading}{link.words}]]"


@STEADY
@given(markdown)
def test_a_link_of_a_page_stands_where_it_says(text: str) -> None:
    page = parse_page("x", text)
    for link, _ in page.found_links:
        assert page.text[link.start : link.end] == f"[[{link.target}{link.heading}{link.words}]]"


@STEADY
@given(markdown, st.sampled_from(["b", "a/much-longer-name", "日本"]))
def test_turning_links_changes_nothing_else(text: str, new: str) -> None:
    page = parse_page("x", text)
    turned = page.map_links(lambda link: link.to(new))
    back = list(turned.found_links)
    assert len(back) == len(page.found_links)
    assert all(link.target == new for link, _ in back)
    assert around_links(page) == around_links(turned)


def around_links(page: Page) -> list[str]:
    end, parts = 0, []
    for link, _ in page.found_links:
        parts.append(page.text[end : link.start])
        end = link.end
    return [*parts, page.text[end:]]


def test_the_words_of_a_link_are_left_when_its_page_is_gone() -> None:
    link = Link("a/b", 0, 0)
    assert link.unlinked() == "a/b"
    assert Link("a", 0, 0, words="|the words").unlinked() == "the words"
    assert Link("a", 0, 0, words="\\|in a table").unlinked() == "in a table"


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("Projects/Silica", "projects/silica"),
        (" a ", "a"),
        ("a.md", "a"),
        ("A.MD", "a"),
        ("e\u0301", "\u00e9"),
        ("../x", None),
        ("/x", None),
        ("", None),
        ("https://x.org", None),
        ("CON", None),
    ],
)
def test_a_link_names_a_page_as_a_person_would_write_it(target: str, key: str | None) -> None:
    assert link_key(target) == key


ONE_LINE = ["see {}", "- see {}", "  12) see {} ", "-     {}", "-     see {}", "    see {}", "- # see {}", "- - see {}"]
ONE_LINE += [
    "- ```{}",
    "- <p>{}",
    "- [see]: {}",
    "1.     see {}",
    "- 1.      see {}",
    "\tsee {}",
    "- see `{}`",
    "- > {}",
]


@pytest.mark.parametrize("end", ["", "\n", "\r\n\r\n", "\r\r", "\n \t\n"])
@pytest.mark.parametrize("line", ONE_LINE)
def test_one_line_has_the_links_that_it_has_when_it_is_parsed(
    line: str, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    block = Block(line.format("[[a/b|words]]") + end, "item")
    links = find_links(block)
    monkeypatch.setattr("memory_v2.tree.path._PLAIN", re.compile(r"(?!)"))
    assert find_links(block) == links


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
