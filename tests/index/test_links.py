"""The graph follows each change without reading all pages again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index.full_text import FullTextIndex
from memory_v2.storage.volatile import VolatileStorage
from memory_v2.tree.block import parse_blocks
from memory_v2.tree.graph import Graph, build_graph
from memory_v2.tree.page import Page, new_page

PATHS = ("memory", "tea", "Tea", "cups/blue", "cups/red", "milk")
"""Two of them differ only in case: links then lead to one of them."""

CHANGES = st.lists(
    st.dictionaries(
        st.sampled_from(PATHS),
        st.none() | st.lists(st.tuples(st.sampled_from((*PATHS, "missing")), st.booleans()), max_size=4),
        min_size=1,
        max_size=3,
    ),
    max_size=12,
)


def page(path: str, links: list[tuple[str, bool]]) -> Page:
    mentioned = "".join(f"See [[{target}]].\n\n" for target, is_child in links if not is_child)
    made = new_page(path, path.title() + " too" * (len(links) % 2), [parse_blocks(mentioned)])
    for target, is_child in links:
        made = made.with_child(target, f"all about {target}") if is_child else made
    return made


def shown(graph: Graph) -> tuple[object, ...]:
    sources = {path: sorted(found) for path, found in graph.sources.items()}
    listed = sorted(graph.listing.text.split("\n"))
    return graph.nodes, graph.edges, graph.parents, graph.children, graph.unreachable, graph.known, sources, listed


@given(CHANGES, st.booleans())
def test_the_graph_is_that_of_the_pages_after_any_change(
    changes: list[dict[str, list[tuple[str, bool]] | None]], is_asked_each_time: bool
) -> None:
    index, pages = FullTextIndex(VolatileStorage(), None), dict[str, Page]()
    index.refresh()
    shown(index.graph())
    for change in changes:
        made = [page(path, links) for path, links in change.items() if links is not None]
        gone = [path for path, links in change.items() if links is None]
        index.update(made, gone)
        pages = {path: kept for path, kept in pages.items() if path not in change} | {one.path: one for one in made}
        if is_asked_each_time:
            assert shown(index.graph()) == shown(build_graph(pages.values()))
    assert shown(index.graph()) == shown(build_graph(pages.values()))
    index.close()


@given(CHANGES)
def test_the_graph_follows_what_another_process_has_indexed(
    changes: list[dict[str, list[tuple[str, bool]] | None]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index, other = (FullTextIndex(VolatileStorage(), Path(folder)) for _ in range(2))
        many = {f"page-{number}": page(f"page-{number}", []) for number in range(20)}
        for one in (index, other):
            one.refresh()
        other.update(many.values(), [])
        pages = dict(many)
        for change in changes:
            made = [page(path, links) for path, links in change.items() if links is not None]
            gone = [path for path, links in change.items() if links is None]
            other.update(made, gone)
            pages = {path: kept for path, kept in pages.items() if path not in change} | {one.path: one for one in made}
            assert shown(index.graph()) == shown(build_graph(pages.values()))
        index.close()
        other.close()
