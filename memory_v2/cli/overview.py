"""The verbs that find pages and show the tree as a whole: search, ls, tree, graph, check."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.output import (
    Column,
    Document,
    Notice,
    Output,
    cut,
    moment,
    named,
    on_terminal,
    pad,
    plain,
    plain_lines,
    screen_width,
    set_off,
    style,
    table,
    width,
    working,
)
from memory_v2.cli.show import (
    confidence,
    degraded,
    files_that_are_no_pages,
    graph_output,
    how_to_begin,
    label,
    points,
    price,
)
from memory_v2.cli.verb import GraphForm, Option, ended, verb
from memory_v2.memory import Memory
from memory_v2.operations.results import EntryResult
from memory_v2.serialize import document
from memory_v2.text.amounts import counted, counted_entries, size
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from memory_v2.operations.results import Finding, SearchResult
    from memory_v2.tree.graph import Graph, Node

NEAREST = 3
"""How many places are shown if the memory does not answer."""


@verb(Memory.search, doing="searching")
def search(
    memory: Memory,
    query: Annotated[tuple[str, ...], Option(metavar="QUERY...", is_positional=True, count=-1)],
    max_results: int,
    max_tokens: int | None,
    show_all: Annotated[bool, Option("Show all places, also if the memory does not answer.", "--all")] = False,
    explain: Annotated[bool, "Show what each answer was ranked by, with its points."] = False,
    as_json: bool = False,
    **narrowed: Any,
) -> Iterator[Output]:
    """Search the memory for an answer.

    The best answers of pages and entries come first, each verbatim, with its page, lines, source and the day on which
    it was said; "about" names other days that it speaks of, and "earlier" is what a newer answer contradicts. An entry
    counts by its confidence and its age. If the memory does not answer, the nearest places that share a word are shown;
    if it answers perhaps, that is said.

    \b
    Examples:
      silica memory search "How is Silica tested?"
      silica memory search -n 3 pytest
      silica memory search --max-tokens 500 "How is Silica tested?"
      silica memory search --under projects --since 2026-02-01 pytest
      silica memory search --agent hawk --min-confidence 0.7 --explain CTR
      silica memory search --regex "v[0-9]+"
    """
    question = " ".join(query)
    results = memory.search(question, max_results, max_tokens, **narrowed)
    yield Document({"query": question} | document(results))
    shown = results if results.answered or show_all else results[:NEAREST]
    if max_tokens is not None:
        yield plain_lines(results.text).encode() + b"\n" * bool(results)
    else:
        bold = "" if narrowed["regex"] else " ".join((question, *results.respelled.values()))
        for number, result in enumerate(shown):
            yield ("\n" if number else "") + "\n".join(_hit(result, bold))
            if explain:
                yield "\n".join(_signs(result))
    if not as_json and (paid := price(results.cost)):
        yield Notice(paid)
    if results.archived_left_out:
        yield Notice(f"{counted_entries(results.archived_left_out)} of the archive left out (--archived shows them)")
    for typed, meant in results.respelled.items():
        yield Notice(f"the memory does not have {typed!r}; {meant!r} was searched for")
    if not results:
        nothing = Notice("nothing found")
        yield from [nothing] if any(memory.entries.store.places()) else (list(how_to_begin(memory)) or [nothing])
    elif not results.answered:
        more = "" if as_json or len(shown) == len(results) else " (--all shows more)"
        yield Notice(f"the memory does not seem to answer this; these are the nearest places{more}")
    elif results.verdict == "perhaps":
        yield Notice("perhaps an answer: no place tells all that is asked for")
    yield from degraded(results)


def _hit(result: SearchResult, bold: str) -> Iterator[str]:
    """An answer: where it is, when it was said, and the lines, with what was searched for in bold."""
    if isinstance(result, EntryResult):
        place = label(f"entry {result.entry}")
        into = f"worked into {plain(', '.join(result.consolidated_into))}" if result.consolidated_into else ""
        home = f"in {plain(result.home)}" if result.home else ""
        above = "; ".join(filter(None, [home, "archived" if result.archived else "", into]))
    else:
        place = label(f"{result.path}:{result.lines[0]}-{result.lines[1]}")
        way = (path.removeprefix(f"{before}/") for before, path in pairwise(["", *result.breadcrumb]))
        above = " › ".join(map(plain, (*way, *result.headings)))
    head = [
        place,
        f"{result.date:%Y-%m-%d}" if result.date else "",
        "earlier" if result.earlier else "",
        f"about {result.speaks_of}" if result.speaks_of else "",
        f"{result.relevance_score:.2f}",
        style(above, dim=True),
        f"from {plain(result.source)}" if result.source else "",
    ]
    yield "  ".join(filter(None, head))
    for line in plain_lines(result.excerpt).splitlines():
        yield f"    {set_off(line, bold)}".rstrip()


def _signs(result: SearchResult) -> Iterator[str]:
    if isinstance(result, EntryResult):
        of = result.factors
        made = f"{of.answers:.2f} as an answer × {of.confidence:.2f} confidence × {of.weight:.2f} weight ({of.decay})"
        yield style(f"    {result.relevance_score:.2f} = {made}", dim=True)
        yield style(f"    {result.confidence:.2f} of the question told", dim=True)
    else:
        yield confidence(result.confidence)
    yield from points(result.signs)


PAGES = (Column("page"), Column("bytes", is_number=True), Column("changed (UTC)"), Column("links", is_number=True))


@verb(Memory.list_files, doing="listing the pages")
def ls(memory: Memory) -> Iterator[Output]:
    """List all pages: path, size, date, links.

    A table on a terminal. In a pipe, one page per line with tab-separated fields, the size in bytes.

    \b
    Examples:
      silica memory ls
      silica memory ls | cut -f1
    """
    pages = memory.list_files()
    yield Document(pages=pages)
    count = "{:,}" if on_terminal(sys.stdout) else "{}"
    cells = (
        [page.path, count.format(page.size_bytes), moment(page.last_updated), str(len(page.links_to))] for page in pages
    )
    yield from table(PAGES, cells)
    yield from how_to_begin(memory)


MOST_NEWEST = 3
"""How many pages that changed last are shown of a memory."""


@verb(has_json=False)
def summary(memory: Memory) -> Iterator[Output]:
    """Prints where the memory is, how large, what is newest, and what to do next."""
    pages = sorted(memory.list_files(), key=lambda page: page.last_updated, reverse=True)
    if not pages:
        yield from how_to_begin(memory)
        return
    entries = sum(1 for _ in memory.entries.store.places())
    held = f"{counted(len(pages), 'page')}, {size(sum(page.size_bytes for page in pages))}"
    yield f"{plain(memory.storage.where)}: {held}" + (f", {counted_entries(entries)}" if entries else "")
    for page in pages[:MOST_NEWEST]:
        yield f"  changed {page.last_updated:%Y-%m-%d %H:%M}  {label(page.path)}"
    yield 'next: silica memory search "…" · write "…" · tree · init (connects your agents) · --help (all verbs)'


@verb(Memory.checkup, apply="--apply")
def check(
    memory: Memory, apply: bool, fail: Annotated[bool, "Exit with code 1 if errors are left."] = False
) -> Iterator[Output]:
    """Check the tree for problems, and repair them.

    Every page must be reachable from the root, every link must lead somewhere, and no page may be too large. Each line
    is one finding: its severity, kind, page and line (0: the whole page), and what --apply would do about it.

    \b
    Examples:
      silica memory check
      silica memory check --apply
      silica memory check --fail    (for scripts)
    """
    with working("repairing" if apply else "checking"):
        checkup = memory.checkup(apply)
    changes = checkup.changes
    count, entries = len(memory.storage.list_files()), sum(1 for _ in memory.entries.store.places())
    repaired = {"mended": checkup.mended, "result": changes} if changes else {}
    yield Document({"pages": count, "findings": checkup.findings} | repaired, entries=entries)
    for finding in checkup.mended:
        yield _finding(finding, "mended", "green", f"(done: {finding.mend})")
    for finding in checkup.findings:
        colour = "red" if finding.severity == "error" else "yellow"
        yield _finding(finding, finding.severity, colour, f"(mend: {finding.mend})" if finding.mend else "")
    if changes and changes.changed_pages:
        yield f"changed {named(changes.changed_pages)}"
    if not checkup.findings and (strange := "" if count or entries else files_that_are_no_pages(memory)):
        yield strange
    elif not checkup.findings:
        yield f"all is well: {counted(count, 'page')}" + (f" and {counted_entries(entries)}" if entries else "")
    yield from degraded(changes)
    if not apply and any(finding.mend for finding in checkup.findings):
        yield Notice("'silica memory check --apply' repairs what can be repaired")
    if fail and any(finding.severity == "error" for finding in checkup.findings):
        raise ended(FINDINGS)


def _finding(finding: Finding, word: str, colour: str, end: str) -> str:
    place = f"{plain(finding.path)}:{finding.line}"
    return f"{style(word, fg=colour)} {finding.kind} {place} {plain(finding.message)} {plain(end)}".rstrip()


@verb(Memory.graph, doing="reading the links")
def graph(memory: Memory, form: GraphForm = None, as_json: bool = False) -> Iterator[Output]:
    """Print the links as JSON, Mermaid or GraphViz.

    \b
    Examples:
      silica memory graph
      silica memory graph --format dot | dot -Tsvg > memory.svg
    """
    links = memory.graph()
    yield from graph_output(links, form, as_json)
    yield from how_to_begin(memory)


WIDEST_NAME = 48
"""Columns up to which sizes and descriptions are aligned on a terminal; a longer name pushes its own aside."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A page as it is met on the walk; `lead` is what is drawn before it."""

    node: Node
    parent: str | None
    depth: int
    lead: str
    description: str

    def to_dict(self) -> dict[str, Any]:
        """As JSON documents have it; flat, for a tree may be deeper than a JSON reader likes."""
        page = {"path": self.node.path, "parent": self.parent, "depth": self.depth, "title": self.node.title}
        return page | {"description": self.description, "size_bytes": self.node.size}


@verb(Memory.graph, doing="drawing the tree")
def tree(memory: Memory) -> Iterator[Output]:
    """Draw the tree of pages.

    Each page with its size and its description.

    \b
    Example:
      silica memory tree
    """
    graph = memory.graph()
    branches = list(_walk(graph))
    yield Document(pages=branches, unreachable=graph.unreachable)
    yield from _tree_lines(graph, branches)
    if graph.unreachable:
        yield Notice("some pages are not linked from the root; 'silica memory check --apply' links them")
    yield from how_to_begin(memory)


def _tree_lines(graph: Graph, branches: Sequence[Branch]) -> Iterator[str]:
    """The tree, then the pages that are not on it; cut to the terminal, if it is one, and with aligned sizes."""
    nodes = {node.path: node for node in graph.nodes}
    lost = [Branch(nodes[path], None, 0, "  ", _about(nodes[path], "")) for path in graph.unreachable]
    columns = screen_width()
    widest = min(WIDEST_NAME, columns // 2) if columns else 0
    names = (width(branch.lead + plain(branch.node.path)) for branch in [*branches, *lost])
    aligned = max((name for name in names if name <= widest), default=0)
    sizes = max((len(size(node.size)) for node in graph.nodes), default=0) if columns else 0
    for branch in branches:
        yield _branch_line(branch, aligned, sizes, columns)
    if lost:
        yield "not reachable from the root:"
    for branch in lost:
        yield _branch_line(branch, aligned, sizes, columns)


def _walk(graph: Graph) -> Iterator[Branch]:
    nodes = {node.path: node for node in graph.nodes}
    labels = {(edge.source, edge.target): edge.label for edge in graph.edges}
    if ROOT not in nodes:
        return
    waiting = [(Branch(nodes[ROOT], None, 0, "", _about(nodes[ROOT], "")), "")]
    while waiting:
        branch, above = waiting.pop()
        yield branch
        source = branch.node.path
        children = graph.children.get(source, [])
        for number, child in reversed(list(enumerate(children, 1))):
            last = number == len(children)
            about = _about(nodes[child], labels.get((source, child), ""))
            lead = above + ("└── " if last else "├── ")
            waiting.append(
                (Branch(nodes[child], source, branch.depth + 1, lead, about), above + ("    " if last else "│   "))
            )


def _about(node: Node, label: str) -> str:
    """What the page above says of it, else its title, where that says more than its name."""
    name = node.path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")
    return label or ("" if node.title.casefold() == name.casefold() else node.title)


def _branch_line(branch: Branch, aligned: int, sizes: int, columns: int | None) -> str:
    path = plain(branch.node.path)
    extent = pad(size(branch.node.size), sizes, right=True)
    about = plain(branch.description.replace("\t", " "))
    if columns is not None:
        path = cut(path, columns - len(branch.lead))
        name = len(branch.lead) + width(path)
        extent = " " * (aligned - name) + extent
        extent = extent if name + 2 + len(extent) <= columns else ""
        about = cut(about, columns - name - len(extent) - 4) if extent else ""
    parts = [style(branch.lead, dim=True) + style(path, fg="cyan"), style(extent, dim=True), about]
    return "  ".join(filter(None, parts)).rstrip()
