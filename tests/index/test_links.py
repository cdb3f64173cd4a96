"""The graph follows each change without reading all pages again."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from memory_v2.index.full_text import FullTextIndex
from memory_v2.index.page_tables import digested, read_change, read_graph
from memory_v2.index.rows import IncomingPage, prepare_page
from memory_v2.index.store import Connections
from memory_v2.index.tables import put_pages
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


def test_the_lines_of_all_pages_are_not_read_again_after_a_change_of_one_text() -> None:
    index = FullTextIndex(VolatileStorage(), None)
    index.refresh()
    index.update([page("memory", [("tea", True)]), page("tea", [])], [])
    before = index.graph().listing
    index.update([page("tea", []).with_body([parse_blocks("# Tea\n\nIt is hot.\n")])], [])
    assert index.graph().listing is before
    index.update([new_page("tea", "Green tea")], [])
    assert "green tea" in index.graph().listing.text
    index.close()


def test_reading_the_graph_goes_through_no_table_once_for_each_page() -> None:
    asked: list[str] = []
    with Connections(None).use() as tables:
        tables.set_trace_callback(asked.append)
        kept = read_graph(tables)
        put_pages(tables, [prepare_page(IncomingPage(page("tea", [("milk", True)]), 0, "", datetime.now(UTC)))])
        read_change(tables, kept.pages, digested(tables))
        tables.set_trace_callback(None)
        selects = [sql for sql in asked if sql.startswith("SELECT") and " links " in sql]
        plans = [[row[3] for row in tables.execute(f"EXPLAIN QUERY PLAN {sql}")] for sql in selects]
    assert len(plans) >= 2
    assert all(sum(step.startswith(("SCAN pages", "SCAN links")) for step in plan) <= 1 for plan in plans), plans
