"""What a tool answers: the text for the model, short and bounded in size, and the same as JSON data. After a write it
says what was taken out: a fact that is not true any more may still stand, and one that is may be gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memory_v2.operations.results import EntryResult
from memory_v2.storage.history import Change
from memory_v2.text.amounts import counted, size
from memory_v2.text.words import plain, shorten
from memory_v2.tree.block import decode, readable, split_lines
from memory_v2.tree.page import parse_page
from memory_v2.tree.source import is_source_line

if TYPE_CHECKING:
    from memory_v2.operations.history import PastOperation
    from memory_v2.operations.results import PageInfo, Result, SearchResult, SimilarLine


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
LONGEST_QUOTED = 300
"""Limits a line that a sentence quotes, in characters: where it was changed should be in view."""
LONGEST_NEAR = 400
"""Limits the lines near a new text that are quoted, in characters together: some three statements."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The answer to a tool call. A model reads the `text`; the `document` is the same as JSON data. If `is_error`, the
    text says what happened and what to do next, and nothing was changed. `quotes`: the text repeats what was stored."""

    text: str
    document: dict[str, Any]
    is_error: bool = False
    quotes: bool = False


def how_many_fit(parts: Sequence[str]) -> int:
    """How many of the parts fit into an answer: at least one, if there is one."""
    total = 0
    for number, part in enumerate(parts):
        total += len(part) + 1
        if total > LONGEST:
            return max(number, 1)
    return len(parts)


def with_notes(said: str, result: Result) -> str:
    """The sentence, with who decided if that was not the configured model, and how to take the change back."""
    if result.degraded:
        said += f" Decided by {result.decided_by}: {shorten(result.degraded, LONGEST_TITLE)}."
    return f"{said} To take it back: undo_memory with revision {result.revision!r}." if result.revision else said


def shortened(document: dict[str, Any]) -> dict[str, Any]:
    """The document of a change, with a long diff cut at a line."""
    lines = split_lines(document["changes"])
    if len(document["changes"]) > LONGEST:
        kept = "".join(lines[: how_many_fit(lines)])[:LONGEST]
        document = {**document, "changes": f"{kept}[the diff is cut here; 'silica memory show' shows all of it]\n"}
    return document


def named(paths: Iterable[str]) -> str:
    """Paths in a sentence; of many, the first."""
    named = [repr(path) for path in paths]
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return ", ".join(named[:MOST_NAMED]) + more


def quoted(lines: Sequence[str]) -> str:
    """Lines in a sentence; of many, the first."""
    more = f" and {counted(len(lines) - MOST_QUOTED, 'more line')}" if len(lines) > MOST_QUOTED else ""
    return ", ".join(repr(_cut(line, LONGEST_QUOTED)) for line in lines[:MOST_QUOTED]) + more


def page_line(page: PageInfo) -> str:
    """A page in a list."""
    return (
        f"{page.path} · {size(page.size_bytes)} · {page.last_updated:%Y-%m-%d} · {shorten(page.title, LONGEST_TITLE)}"
    )


def hit(number: int, result: SearchResult) -> str:
    """An answer of a search: where it is and what it says."""
    first, last = result.lines
    if isinstance(result, EntryResult):
        into = f"worked into {plain(', '.join(result.consolidated_into))}" if result.consolidated_into else ""
        about = f"about {plain(result.speaks_of)}" if result.speaks_of else ""
        told = [f"entry {result.entry}", f"said on {result.date:%Y-%m-%d}" if result.date else "", about, into]
        return f"[{number}] {'; '.join(filter(None, told))}\n{excerpt(result)}"
    told = [
        f"{result.path}, lines {first}-{last}" if last > first else f"{result.path}, line {first}",
        f"under {plain(' › '.join(result.headings))}" if result.headings else "",
        f"said on {result.date:%Y-%m-%d}" if result.date else "",
        f"about {plain(result.speaks_of)}" if result.speaks_of else "",
        f"from {plain(result.source)}" if result.source else "",
    ]
    return f"[{number}] {'; '.join(filter(None, told))}\n{excerpt(result)}"


def excerpt(result: SearchResult) -> str:
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


def operation_line(operation: PastOperation) -> str:
    """A past operation in a list."""
    paths = operation.paths
    named = ", ".join(paths[:5]) + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
    parts = [
        f"{operation.id} · {operation.when:%Y-%m-%d %H:%M} UTC",
        f"{operation.first.kind}: {shorten(operation.first.summary, LONGEST_TITLE)}",
        f"pages: {named}" if named else "nothing was changed",
        f"undone by {operation.undone_by[:12]}" if operation.undone_by else "",
    ]
    return " · ".join(filter(None, parts))


def gone_and_new(changes: Iterable[Change]) -> tuple[list[str], list[str]]:
    """The lines that stood on a page before and stand on none now, but for their markup; and those that stood on
    none. They are to the letter."""
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    spelled: dict[str, str] = {}
    for page in (page for change in changes for page in change.pages):
        before.setdefault(page.path, _lines(page.path, page.before, spelled))
        after[page.path] = _lines(page.path, page.after, spelled)
    left = Counter(line for lines in after.values() for line in lines)
    left.subtract(line for lines in before.values() for line in lines)
    gone = Counter({line: -count for line, count in left.items() if count < 0})
    lost = [spelled[line] for lines in before.values() for line in dict.fromkeys(lines) if gone.pop(line, 0)]
    return lost, [spelled[line] for line, count in left.items() if count > 0]


def near(lines: Iterable[SimilarLine]) -> str:
    """The lines near a new text with their pages, and how to correct one that is no longer true; empty if there are
    none. They are whole, for their words have to be given to the letter; of a very long one, the first is cut."""
    shown, room = list[str](), LONGEST_NEAR
    for line in lines:
        if len(line.text) <= room or not shown:
            shown.append(f"`{line.path}`: {_cut(line.text, room)}")
            room -= len(line.text)
    if not shown:
        return ""
    return "\n".join(
        [" Near it stands; if a line is no longer true, replace its words by replace_in_memory on its page:", *shown]
    )


def _lines(path: str, data: bytes | None, spelled: dict[str, str]) -> list[str]:
    """The lines that people wrote on a page, without markup; `spelled` gets each to the letter."""
    page, lines = parse_page(path, decode(data or b"")), list[str]()
    said = (block for block in page.blocks if block.kind != "front matter" and not is_source_line(block))
    for text in (block.text for block in said):
        for line in split_lines(text):
            if told := plain(line).lstrip("# "):
                spelled.setdefault(told, readable(line).strip().lstrip("# "))
                lines.append(told)
    return lines


def _cut(line: str, most: int) -> str:
    """The beginning of what a line says, to the letter: words to replace are taken from it."""
    said = line.lstrip("-+># ")
    return said if len(said) <= most else f"{said[: most - 1].rstrip()}…"
