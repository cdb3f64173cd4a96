"""The tools that an agent gets: each is one function, whose signature is what the agent is told about the arguments.

The descriptions are `prompts/memory_tools/<name>.md.j2`. An argument that may be left out may also be null, as strict
schemas have it. To add a tool: a function here with `@tool`, and its description.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from memory_v2.agent.arguments import Argument, schema_of
from memory_v2.errors import NotAllowed, ToolProblem
from memory_v2.memory import Memory
from memory_v2.models.base import Prompt
from memory_v2.serialize import document as as_document
from memory_v2.serialize import read_document
from memory_v2.text.amounts import counted, size
from memory_v2.text.secrets import Secret
from memory_v2.text.words import plain, shorten
from memory_v2.tools.answer import (
    LONGEST,
    LONGEST_TITLE,
    MOST_NAMED,
    SHORTEST_ID,
    ToolResult,
    excerpt,
    gone_and_new,
    hit,
    how_many_fit,
    named,
    near,
    operation_line,
    page_line,
    quoted,
    shortened,
    with_notes,
)
from memory_v2.tree.block import split_lines
from memory_v2.tree.edit import text_of, with_its_line
from memory_v2.tree.page import parse_page
from memory_v2.tree.path import ROOT, misspelled, page_path

if TYPE_CHECKING:
    from memory_v2.operations.history import PastOperation

MOST_RESULTS = 50
"""Limits what one call of search_memory or memory_history lists: more than a model needs, and less than a page."""

LEAST_TOKENS = 100
MOST_TOKENS = 10_000
"""Limit for how many tokens of answers one call of search_memory asks: a few lines, and half of what is ever shown."""

Page = Annotated[str, "the path of the page, such as projects/silica, without .md"]
PageOrRoot = Annotated[str | None, "the path of the page, such as projects/silica, without .md; default: the root page"]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `run` carries a call out: it takes the memory, then the arguments. It changes pages, entries or
    nothing."""

    name: str
    run: Callable[..., ToolResult]
    changes: Literal["nothing", "entries", "tree"]

    def about(self, memory: Memory) -> str:
        """The description: when to use the tool, what it returns, what to do about an error."""
        return Prompt(f"memory_tools/{self.name}", {"threshold": f"{memory.threshold:,}"}).text

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON schema of the arguments; what is not required may be left out or null."""
        return schema_of(self.run)

    @property
    def is_read_only(self) -> bool:
        """Whether the tool changes nothing."""
        return self.changes == "nothing"


TOOLS: list[Tool] = []
"""All tools, the most important first."""


def tool(
    changes: Literal["nothing", "entries", "tree"],
) -> Callable[[Callable[..., ToolResult]], Callable[..., ToolResult]]:
    """Makes a function a tool that is called as it is."""

    def added(run: Callable[..., ToolResult]) -> Callable[..., ToolResult]:
        TOOLS.append(Tool(run.__name__, run, changes))
        return run

    return added


@tool(changes="nothing")
def read_memory(
    memory: Memory,
    path: PageOrRoot = None,
    from_line: Annotated[
        int | None, Argument("the line to begin with, from 1, to read on in a long page; default: 1", ge=1)
    ] = None,
) -> ToolResult:
    """A page, or the part of it that fits into an answer."""
    path = page_path(path or ROOT)
    text = memory.read(path)
    lines = split_lines(text)
    first = from_line or 1
    if first > max(len(lines), 1):
        raise ToolProblem(f"{path!r} has {counted(len(lines), 'line')}; from_line must be one of them, not {first}")
    rest = lines[first - 1 :]
    shown = rest[: how_many_fit(rest)]
    last = first - 1 + len(shown)
    told = "".join(shown)
    if is_torn := len(told) > LONGEST:
        told = told[:LONGEST]
    document = read_document(path, text, memory.storage.get_size(path))
    next_line = last + 1 if last < len(lines) else None
    document |= {"text": told, "lines": [first, last], "line_count": len(lines), "next_line": next_line}
    if not text.strip():
        return ToolResult(f"The page {path!r} is empty.", document)
    if first == 1 and next_line is None and not is_torn:
        return ToolResult(told, document)
    parts = [f"[{path}, lines {first}-{last} of {len(lines)}]\n", told]
    if is_torn:
        parts.append(f"\n[line {first} is cut after {LONGEST:,} characters; search_memory finds what is in the rest]")
    if next_line is not None:
        parts.append(f"\n[cut here; to read on: read_memory with path {path!r} and from_line {next_line}]")
    return ToolResult("".join(parts), document)


@tool(changes="tree")
def write_memory(
    memory: Memory,
    content: Annotated[str, "the text to remember, in Markdown"],
    path: Annotated[
        str | None,
        "the page to write to, such as projects/silica, created if missing; default: where the text belongs",
    ] = None,
    mode: Annotated[
        Literal["update", "append", "replace"] | None,
        "update (default) works the text into the page; append adds it at the end, word for word; "
        "replace replaces the page's text",
    ] = None,
    source: Annotated[
        str | None,
        "where the text comes from, at most 200 characters: a file, a URL, a session, a person; default: not recorded",
    ] = None,
    date: Annotated[
        str | None,
        "the day on which it was said, such as 2026-02-03, if that was not today; default: today",
    ] = None,
) -> ToolResult:
    """Writes the text, and says where it is now."""
    result = memory.write(content, path or None, mode or "update", source=source or None, date=date or None)
    document = shortened(as_document(result))
    if result.outcome == "nothing new":
        said = f"Nothing was written: the memory says this already, on {named(result.said_in or [result.path])}."
        return ToolResult(with_notes(said, result), document)
    said = f"Written on {result.path!r} ({size(result.size_bytes)} now)."
    if path and result.has_made(path) and (meant := misspelled(path, memory.storage.list_files())):
        said += f" That page is new; did you mean {named(meant)}?"
    if result.new_files:
        said += f" A page had grown too large and was divided; new pages: {named(result.new_files)}."
    gone, new = gone_and_new(result.revisions)
    if gone:
        said += f" No longer there: {quoted(gone)}."
    beside = near(memory.similar("\n".join(new)) if new else ())
    said = with_notes(said + _warnings(result.secrets), result) + beside
    return ToolResult(said, document, quotes=bool(gone or beside))


def _warnings(secrets: Sequence[Secret]) -> str:
    return "".join(f" Mind that {secret}; tell the user." for secret in secrets[:MOST_NAMED])


@tool(changes="entries")
def capture_memory(
    memory: Memory,
    content: Annotated[str, "what was observed, in Markdown: a sentence or two that can be understood alone"],
    tags: Annotated[list[str] | None, "words to find it by, such as ctr; default: none"] = None,
    confidence: Annotated[
        float | None, Argument("how sure it is, 0 to 1: .4 a hunch, .9 confirmed; default: not told", ge=0, le=1)
    ] = None,
    importance: Annotated[float | None, Argument("how much it matters, 0 to 1; default: not told", ge=0, le=1)] = None,
    decay: Annotated[
        str | None,
        "how its weight falls with its age, such as linear-30d, exponential-30d or ttl-30d; default: never",
    ] = None,
    source: Annotated[str | None, "who says so: a person, a program; default: not recorded"] = None,
    date: Annotated[str | None, "the day on which it was observed, such as 2026-02-03; default: today"] = None,
    agent: Annotated[
        str | None, "the name of the agent whose entry it is; default: the one that the settings name"
    ] = None,
) -> ToolResult:
    """Captures the text, and says as which entry."""
    captured = memory.entries.capture(
        content,
        agent or None,
        tags or (),
        confidence,
        importance,
        decay or None,
        source=source or None,
        date=date or None,
    )
    said = f"Captured as {captured.id!r}."
    if captured.was_known:
        said = f"Nothing was captured: {captured.id!r} says this already."
    elif captured.near:
        said += f" It is much like {captured.near!r}, to which it refers now."
    return ToolResult(said + _warnings(captured.secrets), as_document(captured))


@tool(changes="tree")
def replace_in_memory(
    memory: Memory,
    path: Page,
    old: Annotated[str, "the words to replace, exactly as the page has them; they occur there once"],
    new: Annotated[str, "what stands there instead; empty to take the words out"],
    source: Annotated[
        str | None, "where the new words come from: a file, a URL, a session, a person; default: not recorded"
    ] = None,
    date: Annotated[
        str | None,
        "the day on which they were said, such as 2026-02-03, if that was not today; default: today",
    ] = None,
) -> ToolResult:
    """Replaces the words, and shows their lines before and after."""
    path = page_path(path)
    if not new:
        old = with_its_line(text_of(parse_page(path, memory.read(path))), old)
    try:
        result = memory.replace_text(path, old, new, source=source or None, date=date or None)
    except NotAllowed as error:
        raise ToolProblem(
            f"nothing was changed on {path!r}: {error}. read_memory shows the page to the letter"
        ) from error
    gone, now = gone_and_new(result.revisions)
    said = f"Replaced on {result.path!r}."
    said += f" Before: {quoted(gone)}." if gone else ""
    said += f" Now: {quoted(now)}." if now else ""
    return ToolResult(with_notes(said, result), shortened(as_document(result)), quotes=bool(gone or now))


@tool(changes="nothing")
def search_memory(
    memory: Memory,
    query: Annotated[str, "the question, or the words to look for"],
    max_results: Annotated[
        int | None, Argument(f"how many answers at most, 1 to {MOST_RESULTS}; default: 10", ge=1, le=MOST_RESULTS)
    ] = None,
    max_tokens: Annotated[
        int | None,
        Argument(
            f"return as many answers as fit into this many tokens instead, {LEAST_TOKENS} to {MOST_TOKENS:,}",
            ge=LEAST_TOKENS,
            le=MOST_TOKENS,
        ),
    ] = None,
    since: Annotated[
        str | None, "only what was said on this day or later, such as 2026-02-03; default: whenever"
    ] = None,
    agent: Annotated[str | None, "only entries of this agent and shared ones, no pages; default: everything"] = None,
    tags: Annotated[list[str] | None, "only entries with all of these tags, no pages; default: everything"] = None,
) -> ToolResult:
    """The answers that fit, best first."""
    results = memory.search(
        query, max_results or 10, max_tokens, since=since or None, agent=agent or None, tags=tags or ()
    )
    document = {"query": query} | as_document(results)
    hits = [hit(number, result) if max_tokens is None else result.quoted for number, result in enumerate(results, 1)]
    fitting = how_many_fit(hits)
    document["results"] = [
        {**one, "excerpt": excerpt(hit)} for one, hit in zip(document["results"][:fitting], results, strict=False)
    ]
    notes = []
    if fitting < len(hits):
        notes.append(f"[{counted(len(hits) - fitting, 'more answer')} did not fit; ask more precisely to see them]")
    for typed, word in results.respelled.items():
        notes.append(f"[the memory does not have {typed!r}; {word!r} was searched for]")
    if hits and not results.answered:
        notes.append("[the memory does not seem to answer this; these are the nearest places]")
    if results.degraded:
        notes.append(f"[found without the configured model: {shorten(results.degraded, LONGEST_TITLE)}]")
    if not hits:
        nothing = "Nothing was found. Try other words or a broader question; if that finds nothing either, the memory "
        return ToolResult("\n".join([f"{nothing}does not know it.", *notes]), document)
    return ToolResult("\n\n".join([*hits[:fitting], *notes]), document)


@tool(changes="nothing")
def list_memory_files(
    memory: Memory,
    folder: Annotated[str | None, "list only the pages below this path, such as projects; default: all pages"] = None,
    after: Annotated[str | None, "continue behind this path, as the last line of a list that was cut says"] = None,
) -> ToolResult:
    """The pages that fit, the root first."""
    listed = memory.list_files()
    pages = listed
    if folder := (folder or "").strip("/"):
        above = page_path(folder)
        pages = [page for page in pages if page.path == above or page.path.startswith(f"{above}/")]
        if listed and not pages:
            raise ToolProblem(f"there is no page below {folder!r}; leave folder out to list all pages")
    if after:
        pages = [page for page in pages if page.path != ROOT and page.path > after]
    lines = [page_line(page) for page in pages]
    fitting = how_many_fit(lines)
    shown = pages[:fitting]
    document = {"pages": as_document(shown)} | {"page_count": len(listed), "left_out": len(pages) - fitting}
    if not lines:
        return ToolResult("No more pages." if listed else "The memory is empty; write_memory begins it.", document)
    told = lines[:fitting]
    if fitting < len(pages):
        more = f"{counted(len(pages) - fitting, 'more page')}: list_memory_files with after {shown[-1].path!r}"
        told.append(f"[{more}]")
    return ToolResult("\n".join(told), document)


@tool(changes="tree")
def split_memory(
    memory: Memory,
    path: PageOrRoot = None,
) -> ToolResult:
    """Divides the page, and names the new pages."""
    result = memory.split(path or ROOT)
    document = shortened(as_document(result))
    if result.new_files:
        said = f"{result.path!r} was divided; new pages: {named(result.new_files)}."
    else:
        said = f"{result.path!r} was not divided: {plain(result.reason) or 'there is nothing to divide'}."
    return ToolResult(with_notes(said, result), document)


@tool(changes="nothing")
def get_memory_graph(
    memory: Memory,
    path: Annotated[
        str | None, "show only links from and to this page, such as projects/silica; default: all links"
    ] = None,
) -> ToolResult:
    """The links of each page, as far as they fit."""
    whole = memory.graph()
    nodes, edges = list(whole.nodes), list(whole.edges)
    if path:
        path = page_path(path)
        memory.read(path)  # so that a page that does not exist is an error like any other
        edges = [edge for edge in edges if path in (edge.source, edge.target)]
        near = {path} | {end for edge in edges for end in (edge.source, edge.target)}
        nodes = [node for node in nodes if node.path in near]
    targets: dict[str, list[str]] = {node.path: [] for node in nodes}
    for edge in edges:
        targets[edge.source].append(edge.target)
    lines = [f"{source} → {', '.join(linked)}" if linked else source for source, linked in targets.items()]
    fitting = how_many_fit(lines)
    shown = {node.path for node in nodes[:fitting]}
    document = {
        "nodes": [{"id": n.path, "size": n.size, "label": n.title} for n in nodes[:fitting]],
        "edges": [{"from": e.source, "to": e.target, "label": e.label} for e in edges if e.source in shown],
        "left_out": len(lines) - fitting,
    }
    if not lines:
        return ToolResult("The memory is empty; write_memory begins it.", document)
    told = [line if len(line) <= LONGEST else f"{line[:LONGEST]}…" for line in lines[:fitting]]
    if fitting < len(lines):
        told.append(
            f"[{counted(len(lines) - fitting, 'more page')} left out; give the path of a page to see its links]"
        )
    return ToolResult("\n".join(told), document)


@tool(changes="tree")
def delete_memory(
    memory: Memory,
    path: Page,
) -> ToolResult:
    """Deletes the page, and says how to bring it back."""
    result = memory.delete(path)
    said = f"{result.path!r} was deleted."
    if result.moved:
        parents = sorted({one.parent or ROOT for one in result.moved})
        said += f" Pages below it are kept, on {named(parents)} now: {named([one.path for one in result.moved])}."
    return ToolResult(with_notes(said, result), shortened(as_document(result)))


@tool(changes="nothing")
def memory_history(
    memory: Memory,
    path: Annotated[str | None, "list only changes of this page, such as projects/silica; default: all changes"] = None,
    max_results: Annotated[
        int | None, Argument(f"how many changes at most, 1 to {MOST_RESULTS}; default: 10", ge=1, le=MOST_RESULTS)
    ] = None,
) -> ToolResult:
    """The newest changes."""
    operations = memory.history(path or None)
    most = max_results or 10
    lines = [operation_line(operation) for operation in operations[:most]]
    fitting = how_many_fit(lines)
    document = {"operations": as_document(operations[:fitting])} | {"left_out": len(operations) - fitting}
    if not lines:
        return ToolResult(f"No change of {path!r} yet." if path else "Nothing was changed yet.", document)
    told = lines[:fitting]
    if left := len(operations) - fitting:
        told.append(f"[{counted(left, 'older change')}; a greater max_results or a path shows others]")
    return ToolResult("\n".join(told), document)


@tool(changes="tree")
def undo_memory(
    memory: Memory,
    revision: Annotated[
        str | None, "the id of the change, or its first characters, at least 4; default: the newest change"
    ] = None,
) -> ToolResult:
    """Undoes the change, and says how to undo that."""
    past = memory.history()
    matching = [one for one in past if revision and _has_id(one, revision)]
    if revision and len(matching) != 1:
        count = "more than one change" if matching else "no change"
        raise NotAllowed(f"there is {count} whose id begins with {shorten(revision, LONGEST_TITLE)!r}")
    result = memory.undo(revision or None)
    of = next((one.revision.undoes for one in result.revisions if one.revision.undoes), "")
    undone = next((one for one in past if of in (one.first.operation, one.first.id)), None)
    what = f"{undone.first.kind}: {shorten(undone.first.summary, LONGEST_TITLE)}" if undone else of[:12]
    after = {change.path: change.after for revision in result.revisions for change in revision.pages}
    kept = sorted(path for path, data in after.items() if data is not None)
    gone = sorted(path for path, data in after.items() if data is None)
    said = f"Undone ({what})."
    said += f" As before: {named(kept)}." if kept else ""
    said += f" Removed: {named(gone)}." if gone else ""
    return ToolResult(with_notes(said, result), shortened(as_document(result)), quotes=undone is not None)


def _has_id(operation: PastOperation, begins: str) -> bool:
    wanted = begins.strip().lower()
    return len(wanted) >= SHORTEST_ID and any(revision.id.startswith(wanted) for revision in operation.revisions)
