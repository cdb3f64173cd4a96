"""The verbs that show the tree as a whole: ls, tree, graph, check."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.output import (
    Column,
    admit,
    cut,
    named,
    on_terminal,
    out,
    out_graph,
    out_json,
    out_result,
    pad,
    plain,
    screen_width,
    style,
    table,
    tell,
    tell_how_to_begin,
    width,
    working,
)
from memory_v2.cli.verb import Verb, format_option, json_option, option_for, with_memory
from memory_v2.memory import Memory
from memory_v2.serialize import check_document
from memory_v2.text.amounts import counted, counted_entries, size
from memory_v2.tree.path import ROOT

if TYPE_CHECKING:
    from memory_v2.operations.results import Finding
    from memory_v2.tree.graph import Graph, Node

COLUMNS = (
    Column("page"),
    Column("bytes", is_number=True),
    Column("changed (UTC)"),
    Column("links", is_number=True),
)


@click.command(cls=Verb)
@json_option
@with_memory
def ls(memory: Memory, as_json: bool) -> None:
    """List all pages: path, size, date, links.

    A table on a terminal. In a pipe, one page per line with tab-separated fields, the size in bytes.

    \b
    Examples:
      silica memory ls
      silica memory ls | cut -f1
    """
    with working("listing the pages"):
        pages = memory.list_files()
    if as_json:
        out_result({"pages": pages})
    elif pages:
        count, moment = ("{:,}", "%Y-%m-%d %H:%M") if on_terminal(sys.stdout) else ("{}", "%Y-%m-%dT%H:%M:%SZ")
        cells = [
            [plain(page.path), count.format(page.size_bytes), f"{page.last_updated:{moment}}", str(len(page.links_to))]
            for page in pages
        ]
        for line in table(COLUMNS, cells):
            out(line)
    else:
        tell_how_to_begin(memory)


MOST_NEWEST = 3
"""How many pages that changed last are shown of a memory."""


@click.command(cls=Verb)
@with_memory
def summary(memory: Memory) -> None:
    """Prints where the memory is, how large, what is newest, and what to do next."""
    if tell_how_to_begin(memory):
        return
    pages = sorted(memory.list_files(), key=lambda page: page.last_updated, reverse=True)
    entries = sum(1 for _ in memory.entries.store.places())
    held = f"{counted(len(pages), 'page')}, {size(sum(page.size_bytes for page in pages))}"
    out(f"{plain(memory.storage.where)}: {held}" + (f", {counted_entries(entries)}" if entries else ""))
    for page in pages[:MOST_NEWEST]:
        out(f"  changed {page.last_updated:%Y-%m-%d %H:%M}  {style(plain(page.path), fg='cyan')}")
    out('next: silica memory search "…" · write "…" · tree · init (connects your agents) · --help (all verbs)')


@click.command(cls=Verb)
@json_option
@with_memory
def tree(memory: Memory, as_json: bool) -> None:
    """Draw the tree of pages.

    Each page with its size and its description.

    \b
    Example:
      silica memory tree
    """
    with working("drawing the tree"):
        graph = memory.graph()
    if as_json:
        out_json({"pages": tree_rows(graph), "unreachable": list(graph.unreachable)})
    else:
        for line in tree_lines(graph):
            out(line)
    if graph.unreachable:
        tell("some pages are not linked from the root; 'silica memory check --apply' links them")
    elif not graph.nodes:
        tell_how_to_begin(memory)


@click.command(cls=Verb)
@option_for(Memory.checkup, "apply", "--apply")
@click.option("--fail", is_flag=True, help="Exit with code 1 if errors are left.")
@json_option
@click.pass_context
@with_memory
def check(memory: Memory, context: click.Context, apply: bool, fail: bool, as_json: bool) -> None:
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
    if as_json:
        out_json({**check_document(checkup, count), "entries": entries})
    else:
        for finding in checkup.mended:
            out(_finding(finding, "mended", "green", f"(done: {finding.mend})"))
        for finding in checkup.findings:
            colour = "red" if finding.severity == "error" else "yellow"
            out(_finding(finding, finding.severity, colour, f"(mend: {finding.mend})" if finding.mend else ""))
        if changes and changes.changed_pages:
            out(f"changed {named(changes.changed_pages)}")
        if not checkup.findings and (strange := 0 if count or entries else _files(memory)):
            what = f"there is no page, but {counted(strange, 'file')} that {'is' if strange == 1 else 'are'} none"
            out(f"{what}: 'silica memory import' brings notes in from where they are, 'migrate' an older memory")
        elif not checkup.findings:
            out(f"all is well: {counted(count, 'page')}" + (f" and {counted_entries(entries)}" if entries else ""))
    if changes:
        admit(changes)
    if not apply and any(finding.mend for finding in checkup.findings):
        tell("'silica memory check --apply' repairs what can be repaired")
    if fail and any(finding.severity == "error" for finding in checkup.findings):
        context.exit(FINDINGS)


def _files(memory: Memory) -> int:
    """How many files there are in the folder of a memory that are not its own."""
    folder = Path(memory.storage.where)
    names = (path.relative_to(folder).parts for path in folder.rglob("*") if path.is_file())
    return sum(not any(part.startswith(".") for part in name) for name in names)


def _finding(finding: Finding, word: str, colour: str, end: str) -> str:
    place = f"{plain(finding.path)}:{finding.line}"
    return f"{style(word, fg=colour)} {finding.kind} {place} {plain(finding.message)} {plain(end)}".rstrip()


@click.command(cls=Verb)
@format_option
@json_option
@with_memory
def graph(memory: Memory, form: str | None, as_json: bool) -> None:
    """Print the links as JSON, Mermaid or GraphViz.

    \b
    Examples:
      silica memory graph
      silica memory graph --format dot | dot -Tsvg > memory.svg
    """
    with working("reading the links"):
        links = memory.graph()
    out_graph(links, form, as_json)
    if not links.nodes:
        tell_how_to_begin(memory)


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


def tree_lines(graph: Graph) -> Iterator[str]:
    """The tree, then the pages that are not on it; cut to the terminal, if it is one, and with aligned sizes."""
    nodes = {node.path: node for node in graph.nodes}
    branches = list(_walk(graph))
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


def tree_rows(graph: Graph) -> list[dict[str, Any]]:
    """The tree in the order in which it is drawn; flat, for it may be deeper than a JSON reader likes."""
    return [
        {
            "path": branch.node.path,
            "parent": branch.parent,
            "depth": branch.depth,
            "title": branch.node.title,
            "description": branch.description,
            "size_bytes": branch.node.size,
        }
        for branch in _walk(graph)
    ]


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
