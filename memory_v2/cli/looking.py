"""The verbs that look at the tree as a whole: search, ls, tree, check, graph."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from memory_v2.cli.edge import FINDINGS
from memory_v2.cli.pages import admit, price
from memory_v2.cli.show import named, on_terminal, out, out_json, plain, plain_lines, style, table, tell, working
from memory_v2.cli.trees import tree_lines, tree_rows
from memory_v2.cli.verb import Verb, json_option, with_memory, word
from memory_v2.memory import Memory

if TYPE_CHECKING:
    from memory_v2.operations.results import Finding, SearchResult


@click.command(cls=Verb)
@click.argument("words", metavar="QUERY...", nargs=-1, required=True, type=word)
@click.option("-n", "most", metavar="COUNT", type=int, default=10, show_default=True, help="The most answers.")
@json_option
@with_memory
def search(memory: Memory, words: tuple[str, ...], most: int, as_json: bool) -> None:
    """Search the memory for an answer.

    The best answers come first, each verbatim, with its page, lines and date.

    \b
    Examples:
      silica memory search "How is Silica tested?"
      silica memory search -n 3 pytest
    """
    query = " ".join(words)
    with working("searching"):
        results = memory.search(query, most)
    if as_json:
        from memory_v2.cli.documents import search_document

        out_json(search_document(query, results))
    else:
        for number, result in enumerate(results):
            out(("\n" if number else "") + _hit(result))
        if paid := price(results.cost):
            tell(paid.removeprefix(" · "))
    if not results:
        tell(_nothing_yet(memory) or "nothing found")
    admit(results)


def _hit(result: SearchResult) -> str:
    place = style(f"{plain(result.path)}:{result.lines[0]}-{result.lines[1]}", fg="cyan")
    way = " › ".join(plain(path) for path in result.breadcrumb)
    head = [
        place,
        f"{result.date:%Y-%m-%d}" if result.date else "",
        f"{result.relevance_score:.2f}",
        style(way, dim=True),
    ]
    lines = plain_lines(result.excerpt).splitlines()
    return "\n".join(["  ".join(filter(None, head)), *(f"    {line}".rstrip() for line in lines)])


@click.command(cls=Verb)
@json_option
@with_memory
def ls(memory: Memory, as_json: bool) -> None:
    """List all pages: path, size, date, links.

    On a terminal this is a table; in a pipe, one page to a line with tabs between, the size in bytes.

    \b
    Examples:
      silica memory ls
      silica memory ls | cut -f1
    """
    pages = memory.list_files()
    if as_json:
        from memory_v2.cli.documents import page_document

        out_json({"pages": [page_document(page) for page in pages]})
    elif pages:
        count, moment = ("{:,}", "%Y-%m-%d %H:%M") if on_terminal(sys.stdout) else ("{}", "%Y-%m-%dT%H:%M:%SZ")
        rows = [
            [plain(page.path), count.format(page.size_bytes), f"{page.last_updated:{moment}}", str(len(page.links_to))]
            for page in pages
        ]
        for line in table(["page", "bytes", "changed (UTC)", "links"], rows, right=(1, 3)):
            out(line)
    else:
        tell(_nothing_yet(memory))


@click.command(cls=Verb)
@json_option
@with_memory
def tree(memory: Memory, as_json: bool) -> None:
    """Show how the pages hang together.

    Each page with its size and what the page above says of it.

    \b
    Example:
      silica memory tree
    """
    graph = memory.graph()
    if as_json:
        out_json({"pages": tree_rows(graph), "unreachable": list(graph.unreachable)})
    else:
        for line in tree_lines(graph):
            out(line)
    if not graph.nodes:
        tell(_nothing_yet(memory))
    elif graph.unreachable:
        tell("no link leads from the root to some pages; 'silica memory check --apply' links them")


@click.command(cls=Verb)
@click.option("--apply", is_flag=True, help="Mend what can be mended.")
@click.option("--fail", is_flag=True, help="End with exit code 1 if errors are left.")
@json_option
@click.pass_context
@with_memory
def check(memory: Memory, context: click.Context, apply: bool, fail: bool, as_json: bool) -> None:
    """Find what does not hold, and mend it.

    Every page has to be reachable from the root, every link to lead somewhere, and no page to be too large. One line
    for each finding: how grave, its kind, page and line (0: the whole page), and what --apply would do about it.

    \b
    Examples:
      silica memory check
      silica memory check --apply
      silica memory check --fail    (for scripts)
    """
    with working("mending" if apply else "checking"):
        checkup = memory.checkup(apply)
    mended, changes = checkup.mended, checkup.changes
    count = len(memory.storage.list_files())
    if as_json:
        from memory_v2.cli.documents import finding_document, result_document

        document: dict[str, object] = {"pages": count, "findings": [finding_document(f) for f in checkup.findings]}
        if changes:
            document |= {"mended": [finding_document(f) for f in mended], "result": result_document(changes)}
        out_json(document)
    else:
        for finding in mended:
            out(_finding(finding, "mended", "green", f"(done: {finding.mend})"))
        for finding in checkup.findings:
            colour = "red" if finding.severity == "error" else "yellow"
            out(_finding(finding, finding.severity, colour, f"(mend: {finding.mend})" if finding.mend else ""))
        if changes and changes.changed_pages:
            out(f"changed {named(changes.changed_pages)}")
        if not checkup.findings:
            out(f"all is well: {count:,} page{'' if count == 1 else 's'}")
    if changes:
        admit(changes)
    if not apply and any(finding.mend for finding in checkup.findings):
        tell("'silica memory check --apply' mends what can be mended")
    if fail and any(finding.severity == "error" for finding in checkup.findings):
        context.exit(FINDINGS)


def _finding(finding: Finding, word: str, colour: str, end: str) -> str:
    place = f"{plain(finding.path)}:{finding.line}"
    return f"{style(word, fg=colour)} {finding.kind} {place} {plain(finding.message)} {plain(end)}".rstrip()


@click.command(cls=Verb)
@click.option(
    "--format", "form", type=click.Choice(["json", "mermaid", "dot"]), help="What is printed.  [default: json]"
)
@json_option
@with_memory
def graph(memory: Memory, form: str | None, as_json: bool) -> None:
    """Print the links as JSON, Mermaid or GraphViz.

    \b
    Examples:
      silica memory graph
      silica memory graph --format dot | dot -Tsvg > memory.svg
    """
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other", click.get_current_context())
    links = memory.graph()
    if form == "mermaid":
        out(plain_lines(links.to_mermaid()), newline=False)
    elif form == "dot":
        out(plain_lines(links.to_dot()), newline=False)
    else:
        out_json(links.to_dict())
    if not links.nodes:
        tell(_nothing_yet(memory))


def _nothing_yet(memory: Memory) -> str:
    """How to begin; empty if there is something already."""
    if memory.storage.list_files():
        return ""
    return f'there is nothing in {memory.storage.where} yet; begin with: silica memory write "…"'
