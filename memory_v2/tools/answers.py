"""What each tool does, and what a model reads about it: short, and bounded in size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_v2 import serialize
from memory_v2.errors import NotAllowed, ToolProblem
from memory_v2.memory import Memory
from memory_v2.operations.results import EntryResult
from memory_v2.text.amounts import counted, size
from memory_v2.text.plain import plain, shorten
from memory_v2.tools import arguments
from memory_v2.tools.taken_out import taken_out
from memory_v2.tree.block import split_lines
from memory_v2.tree.path import ROOT, page_path

if TYPE_CHECKING:
    from memory_v2.operations.history import PastOperation
    from memory_v2.operations.results import PageInfo, Result, SearchResult

LONGEST = 16_000
"""Limits an answer, in characters: a page of the usual size fits in whole, and it is some 4,000 tokens."""
LONGEST_EXCERPT = 4_000
"""Limits one excerpt, in characters, so that several fit into an answer."""
LONGEST_TITLE = 100
"""Limits a title or a summary in a list, in characters."""
SHORTEST_ID = 4
"""How many characters of an id must be given."""
MOST_NAMED = 20
"""Limits the pages that a sentence names."""
MOST_QUOTED = 5
"""Limits the lines that a sentence quotes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returns: the text for the model, and the same as JSON data. `quotes`: the text repeats words that
    were stored before."""

    text: str
    document: dict[str, Any]
    quotes: bool = False


def read(memory: Memory, asked: arguments.Read) -> Answer:
    """A page, or the part of it that fits into an answer."""
    path = page_path(asked.path or ROOT)
    text = memory.read(path)
    lines = split_lines(text)
    first = asked.from_line or 1
    if first > max(len(lines), 1):
        raise ToolProblem(f"{path!r} has {counted(len(lines), 'line')}; from_line must be one of them, not {first}")
    rest = lines[first - 1 :]
    shown = rest[: how_many_fit(rest)]
    last = first - 1 + len(shown)
    told = "".join(shown)
    if is_torn := len(told) > LONGEST:
        told = told[:LONGEST]
    document = serialize.read_document(path, text, memory.storage.get_size(path))
    next_line = last + 1 if last < len(lines) else None
    document |= {"text": told, "lines": [first, last], "line_count": len(lines), "next_line": next_line}
    if not text.strip():
        return Answer(f"The page {path!r} is empty.", document)
    if first == 1 and next_line is None and not is_torn:
        return Answer(told, document)
    parts = [f"[{path}, lines {first}-{last} of {len(lines)}]\n", told]
    if is_torn:
        parts.append(f"\n[line {first} is cut after {LONGEST:,} characters; search_memory finds what is in the rest]")
    if next_line is not None:
        parts.append(f"\n[cut here; to read on: read_memory with path {path!r} and from_line {next_line}]")
    return Answer("".join(parts), document)


def write(memory: Memory, asked: arguments.Write) -> Answer:
    """Writes the text, and says where it is now."""
    result = memory.write(
        asked.content, asked.path or None, asked.mode or "update", source=asked.source or None, date=asked.date or None
    )
    document = _changed(serialize.document(result))
    if result.outcome == "nothing new":
        said = f"Nothing was written: the memory says this already, on {_named(result.said_in or [result.path])}."
        return Answer(_with_notes(said, result), document)
    said = f"Written on {result.path!r} ({size(result.size_bytes)} now)."
    if result.new_files:
        said += f" A page had grown too large and was divided; new pages: {_named(result.new_files)}."
    gone, stood = taken_out(result.revisions)
    if gone:
        said += f" No longer there: {_quoted(gone)}."
    elif stood:
        said += " All that stood there stays as it was; if some of it is wrong now, replace_in_memory corrects it."
    return Answer(_with_notes(said, result), document, quotes=bool(gone))


def replace(memory: Memory, asked: arguments.Replace) -> Answer:
    """Replaces the words, and shows the lines where they stood."""
    path = page_path(asked.path)
    try:
        result = memory.replace_text(path, asked.old, asked.new, source=asked.source or None, date=asked.date or None)
    except NotAllowed as error:
        raise ToolProblem(
            f"nothing was changed on {path!r}: {error}. read_memory shows the page to the letter"
        ) from error
    gone, _ = taken_out(result.revisions)
    said = f"Replaced on {result.path!r}." + (f" No longer there: {_quoted(gone)}." if gone else "")
    return Answer(_with_notes(said, result), _changed(serialize.document(result)), quotes=bool(gone))


def capture(memory: Memory, asked: arguments.Capture) -> Answer:
    """Captures the text, and says as which entry."""
    captured = memory.entries.capture(
        asked.content,
        asked.agent or None,
        asked.tags or (),
        asked.confidence,
        asked.importance,
        asked.decay or None,
        source=asked.source or None,
        date=asked.date or None,
    )
    said = f"Captured as {captured.id!r}."
    if captured.was_known:
        said = f"Nothing was captured: {captured.id!r} says this already."
    elif captured.near:
        said += f" It is much like {captured.near!r}, to which it refers now."
    for secret in captured.secrets[:MOST_NAMED]:
        said += f" Line {secret.line} seems to hold a secret ({secret.kind}: {secret.shown}); tell the user."
    return Answer(said, serialize.document(captured))


def search(memory: Memory, asked: arguments.Search) -> Answer:
    """The answers that fit, best first."""
    results = memory.search(asked.query, asked.max_results or 10, asked.max_tokens)
    document = {"query": asked.query} | serialize.document(results)
    hits = [
        _hit(number, result) if asked.max_tokens is None else result.quoted for number, result in enumerate(results, 1)
    ]
    fitting = how_many_fit(hits)
    document["results"] = [
        {**one, "excerpt": _excerpt(hit)} for one, hit in zip(document["results"][:fitting], results, strict=False)
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
        return Answer("\n".join([f"{nothing}does not know it.", *notes]), document)
    return Answer("\n\n".join([*hits[:fitting], *notes]), document)


def list_files(memory: Memory, asked: arguments.ListFiles) -> Answer:
    """The pages that fit, the root first."""
    listed = memory.list_files()
    pages = listed
    if folder := (asked.folder or "").strip("/"):
        above = page_path(folder)
        pages = [page for page in pages if page.path == above or page.path.startswith(f"{above}/")]
        if listed and not pages:
            raise ToolProblem(f"there is no page below {folder!r}; leave folder out to list all pages")
    if asked.after:
        pages = [page for page in pages if page.path != ROOT and page.path > asked.after]
    lines = [_listed(page) for page in pages]
    fitting = how_many_fit(lines)
    shown = pages[:fitting]
    document = {"pages": serialize.document(shown)} | {"page_count": len(listed), "left_out": len(pages) - fitting}
    if not lines:
        return Answer("No more pages." if listed else "The memory is empty; write_memory begins it.", document)
    told = lines[:fitting]
    if fitting < len(pages):
        more = f"{counted(len(pages) - fitting, 'more page')}: list_memory_files with after {shown[-1].path!r}"
        told.append(f"[{more}]")
    return Answer("\n".join(told), document)


def split(memory: Memory, asked: arguments.Split) -> Answer:
    """Divides the page, and names the new pages."""
    result = memory.split(asked.path or ROOT)
    document = _changed(serialize.document(result))
    if result.new_files:
        said = f"{result.path!r} was divided; new pages: {_named(result.new_files)}."
    else:
        said = f"{result.path!r} was not divided: {plain(result.reason) or 'there is nothing to divide'}."
    return Answer(_with_notes(said, result), document)


def graph(memory: Memory, asked: arguments.Graph) -> Answer:
    """The links of each page, as far as they fit."""
    whole = memory.graph()
    nodes, edges = list(whole.nodes), list(whole.edges)
    if asked.path:
        path = page_path(asked.path)
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
        return Answer("The memory is empty; write_memory begins it.", document)
    told = [line if len(line) <= LONGEST else f"{line[:LONGEST]}…" for line in lines[:fitting]]
    if fitting < len(lines):
        told.append(
            f"[{counted(len(lines) - fitting, 'more page')} left out; give the path of a page to see its links]"
        )
    return Answer("\n".join(told), document)


def delete(memory: Memory, asked: arguments.Delete) -> Answer:
    """Deletes the page, and says how to bring it back."""
    result = memory.delete(asked.path)
    said = f"{result.path!r} was deleted."
    if result.moved:
        parents = sorted({one.parent or ROOT for one in result.moved})
        said += f" Pages below it are kept, on {_named(parents)} now: {_named([one.path for one in result.moved])}."
    return Answer(_with_notes(said, result), _changed(serialize.document(result)))


def history(memory: Memory, asked: arguments.History) -> Answer:
    """The newest changes."""
    operations = memory.history(asked.path or None)
    if asked.path and not operations:
        memory.read(asked.path)  # a page that never was is an error
    most = asked.max_results or 10
    lines = [_past(one) for one in operations[:most]]
    fitting = how_many_fit(lines)
    document = {"operations": serialize.document(operations[:fitting])} | {"left_out": len(operations) - fitting}
    if not lines:
        return Answer(f"No change of {asked.path!r} yet." if asked.path else "Nothing was changed yet.", document)
    told = lines[:fitting]
    if left := len(operations) - fitting:
        told.append(f"[{counted(left, 'older change')}; a greater max_results or a path shows others]")
    return Answer("\n".join(told), document)


def undo(memory: Memory, asked: arguments.Undo) -> Answer:
    """Undoes the change, and says how to undo that."""
    past = memory.history()
    named = [one for one in past if asked.revision and _has_id(one, asked.revision)]
    if asked.revision and len(named) != 1:
        count = "more than one change" if named else "no change"
        raise NotAllowed(f"there is {count} whose id begins with {shorten(asked.revision, LONGEST_TITLE)!r}")
    result = memory.undo(asked.revision or None)
    of = next((one.revision.undoes for one in result.revisions if one.revision.undoes), "")
    undone = next((one for one in past if of in (one.first.operation, one.first.id)), None)
    what = f"{undone.first.kind}: {shorten(undone.first.summary, LONGEST_TITLE)}" if undone else of[:12]
    after = {change.path: change.after for revision in result.revisions for change in revision.pages}
    kept = sorted(path for path, data in after.items() if data is not None)
    gone = sorted(path for path, data in after.items() if data is None)
    said = f"Undone ({what})."
    said += f" As before: {_named(kept)}." if kept else ""
    said += f" Removed: {_named(gone)}." if gone else ""
    return Answer(_with_notes(said, result), _changed(serialize.document(result)), quotes=undone is not None)


def _has_id(operation: PastOperation, begins: str) -> bool:
    wanted = begins.strip().lower()
    return len(wanted) >= SHORTEST_ID and any(one.id.startswith(wanted) for one in operation.revisions)


def how_many_fit(parts: Sequence[str]) -> int:
    """How many of the parts fit into an answer: at least one, if there is one."""
    total = 0
    for number, part in enumerate(parts):
        total += len(part) + 1
        if total > LONGEST:
            return max(number, 1)
    return len(parts)


def _with_notes(said: str, result: Result) -> str:
    """The sentence, with who decided if that was not the configured model, and how to take the change back."""
    if result.degraded:
        said += f" Decided by {result.decided_by}: {shorten(result.degraded, LONGEST_TITLE)}."
    return f"{said} To take it back: undo_memory with revision {result.revision!r}." if result.revision else said


def _changed(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a change, with a long diff cut at a line."""
    lines = split_lines(document["changes"])
    if len(document["changes"]) > LONGEST:
        kept = "".join(lines[: how_many_fit(lines)])[:LONGEST]
        document = {**document, "changes": f"{kept}[the diff is cut here; 'silica memory show' shows all of it]\n"}
    return document


def _named(paths: Iterable[str]) -> str:
    named = [repr(path) for path in paths]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return ", ".join(named[:MOST_NAMED]) + more


def _quoted(lines: Sequence[str]) -> str:
    more = f" and {counted(len(lines) - MOST_QUOTED, 'more line')}" if len(lines) > MOST_QUOTED else ""
    return ", ".join(repr(shorten(line, LONGEST_TITLE)) for line in lines[:MOST_QUOTED]) + more


def _listed(page: PageInfo) -> str:
    return (
        f"{page.path} · {size(page.size_bytes)} · {page.last_updated:%Y-%m-%d} · {shorten(page.title, LONGEST_TITLE)}"
    )


def _hit(number: int, result: SearchResult) -> str:
    first, last = result.lines
    if isinstance(result, EntryResult):
        into = f"worked into {plain(', '.join(result.consolidated_into))}" if result.consolidated_into else ""
        about = f"about {plain(result.speaks_of)}" if result.speaks_of else ""
        told = [f"entry {result.entry}", f"said on {result.date:%Y-%m-%d}" if result.date else "", about, into]
        return f"[{number}] {'; '.join(filter(None, told))}\n{_excerpt(result)}"
    told = [
        f"{result.path}, lines {first}-{last}" if last > first else f"{result.path}, line {first}",
        f"under {plain(' › '.join(result.headings))}" if result.headings else "",
        f"said on {result.date:%Y-%m-%d}" if result.date else "",
        f"about {plain(result.speaks_of)}" if result.speaks_of else "",
        f"from {plain(result.source)}" if result.source else "",
    ]
    return f"[{number}] {'; '.join(filter(None, told))}\n{_excerpt(result)}"


def _excerpt(result: SearchResult) -> str:
    """The excerpt; a very long one is cut at a line, with where to read on."""
    lines = split_lines(result.excerpt)
    if len(result.excerpt) <= LONGEST_EXCERPT:
        return result.excerpt
    kept = 0
    while kept < len(lines) and len("".join(lines[: kept + 1])) <= LONGEST_EXCERPT:
        kept += 1
    shown = "".join(lines[:kept]) or result.excerpt[:LONGEST_EXCERPT]
    at = result.lines[0] + kept
    return f"{shown.rstrip()}\n[cut here; to read on: read_memory with path {result.path!r} and from_line {at}]"


def _past(operation: PastOperation) -> str:
    paths = operation.paths
    named = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    parts = [
        f"{operation.id} · {operation.when:%Y-%m-%d %H:%M} UTC",
        f"{operation.first.kind}: {shorten(operation.first.summary, LONGEST_TITLE)}",
        f"pages: {named}" if named else "",
        f"undone by {operation.undone_by[:12]}" if operation.undone_by else "",
    ]
    return " · ".join(filter(None, parts))
