"""Taking a memory out, its pages and its entries: as a folder of Markdown files, as one file, or as lines of JSON."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from memory_v2.entries.entry_paths import place_of
from memory_v2.entries.file import EntryFile, read_entry
from memory_v2.errors import Unreadable, UsageError
from memory_v2.files.listing import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.exported_page import ExportedPage, file_text, json_row, part_text, row_line
from memory_v2.migrate.pages import cut_blocks, read_pages
from memory_v2.progress import with_progress
from memory_v2.serialize import document
from memory_v2.storage.local.disk import explained, replace_bytes, to_system
from memory_v2.text.days import iso_day
from memory_v2.tree.block import decode, encode, readable, split_lines
from memory_v2.tree.edit import is_bare
from memory_v2.tree.graph import Graph, build_graph
from memory_v2.tree.page import Page, page_source
from memory_v2.tree.path import ROOT
from memory_v2.tree.sections import CHILD_LINK, OURS
from memory_v2.tree.source import DATE, SOURCE

Form: TypeAlias = Literal["folder", "file", "jsonl"]
"""A file for each page; one file with all pages, in the order of the tree; a line of JSON for each page."""
FILES = (".md", ".json", ".jsonl", ".zip", ".tar", ".gz")
"""What the name of a file ends with, and not that of a folder that is still to be made."""
TAGS = "tags"
"""The key in the metadata of a page: tags that are not in its text, between commas."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported: where to, how many pages, entries, files and bytes, and what could not be read."""

    dest: str
    form: Form
    pages: int
    files: int
    size_bytes: int
    left_out: tuple[LeftOut, ...] = ()
    entries: int = 0


def export(memory: Memory, dest: Path, form: Form = "folder", force: bool = False) -> Exported:
    """Writes all pages and entries to a folder, or to one file. The memory is not changed.

    A file is written whole or not at all. What is at `dest` already is refused; with `force` files of the same names
    are replaced, and others stay. Raises `UsageError`, `StorageError`.
    """
    _check(memory, dest, form, force)
    pages, left_out = exported_pages(memory)
    entries, unread = stored_entries(memory)
    size = 0
    if form == "folder":
        files = {page.page.path: encode(file_text(page)) for page in pages}
        files |= {entry.path: entry.data for entry in entries}
        for path, data in with_progress([*files.items()], "files written"):
            size += _put(dest / to_system(f"{path}.md"), data)
    else:
        size = _put(dest, b"".join(_data(pages, entries, form)))
    count = len(pages) + len(entries) if form == "folder" else 1
    held = sum(place_of(entry.path) is not None for entry in entries)
    return Exported(str(dest), form, len(pages), count, size, (*left_out, *unread), held)


def exported_data(memory: Memory, form: Literal["file", "jsonl"]) -> tuple[bytes, Sequence[LeftOut]]:
    """What `export` would write to one file, and what could not be read. Raises `StorageError`."""
    pages, left_out = exported_pages(memory)
    entries, unread = stored_entries(memory)
    return b"".join(_data(pages, entries, form)), [*left_out, *unread]


def _data(pages: Sequence[ExportedPage], entries: Sequence[EntryFile], form: Form) -> Iterator[bytes]:
    for page in pages:
        yield encode(part_text(page) if form == "file" else row_line(json_row(page)))
    yield from entries_part(entries) if form == "file" else entry_lines(entries)


def _put(file: Path, data: bytes) -> int:
    with explained("write", file):
        replace_bytes(file, data)
    return len(data)


def _check(memory: Memory, dest: Path, form: Form, force: bool) -> None:
    """Raises `UsageError` if the place is taken, is of the wrong kind, or is in the memory itself."""
    whole, home = dest.resolve(), Path(memory.storage.where).resolve()
    if whole == home or home in whole.parents or (form == "folder" and whole in home.parents):
        raise UsageError(f"{dest} is in the memory itself, or around it; export to another place")
    with explained("read", dest):
        is_folder, is_taken = dest.is_dir(), dest.exists()
        is_taken = any(dest.iterdir()) if is_folder else is_taken
    if form != "folder" and is_folder:
        raise UsageError(f"{dest} is a folder; name a file, or export a folder")
    if form == "folder" and is_taken and not is_folder:
        raise UsageError(f"{dest} is a file; name a folder, or export one file")
    if form == "folder" and not is_folder and dest.suffix.lower() in FILES:
        raise UsageError(f"{dest} is the name of a file; name a folder, or export one file with --format file or jsonl")
    if is_taken and not force:
        what = "is not empty" if form == "folder" else "is there already"
        raise UsageError(f"{dest} {what}; name another place, or use --force to replace files of the same names")


# the pages


def exported_pages(memory: Memory) -> tuple[list[ExportedPage], list[LeftOut]]:
    """All pages in the order of the tree, then those that are out of reach; and the pages that cannot be read."""
    pages, left_out = read_pages(memory)
    whole = _with_whole_blocks({path: page.gathered() for path, page in pages.items()})
    graph = build_graph(whole.values())
    return [_exported(whole[path], depth, graph) for path, depth in _in_order(graph)], left_out


def _with_whole_blocks(pages: dict[str, Page]) -> dict[str, Page]:
    """The pages; a block that was cut is on the page that listed its pieces, instead of them."""
    whole = dict(pages)
    for path, block in cut_blocks(pages.values()).items():
        if path not in pages:
            continue
        parts = {page.path for page in pages.values() if page.path.startswith(f"{path}/part-")}
        gone = {part for part in parts if pages[part].piece or is_bare(pages[part])}
        for part in gone:
            del whole[part]
        page = pages[path]
        links = "".join(line for line in split_lines(page.links) if not _lists(line, gone))
        whole[path] = replace(page, links=links).with_body([page.blocks, (block,)])
    return whole


def _lists(line: str, pages: Collection[str]) -> bool:
    """Whether a line of `## Links` lists one of these pages."""
    found = CHILD_LINK.match(line)
    return found is not None and found[1].strip() in pages


def _in_order(graph: Graph) -> Iterator[tuple[str, int]]:
    """The paths, each with its depth: a page, then what is below it."""
    waiting = [(ROOT, 0)] if ROOT in graph.pages else []
    while waiting:
        path, depth = waiting.pop()
        yield path, depth
        waiting += [(child, depth + 1) for child in reversed(graph.children.get(path, []))]
    yield from ((path, 1) for path in graph.unreachable)


def _exported(page: Page, depth: int, graph: Graph) -> ExportedPage:
    edges = graph.links.get(page.path, ())
    source, own = page_source(page), page.properties
    own_tags = [tag.strip() for tag in own.get(TAGS, "").split(",")]
    known = {*OURS, SOURCE, DATE, TAGS}
    return ExportedPage(
        page=replace(page, links="", metadata=""),
        parent=graph.parents.get(page.path, ""),
        depth=depth,
        description=graph.descriptions.get(page.path, ""),
        children=tuple((edge.target, graph.pages[edge.target].title, edge.label) for edge in edges if edge.child),
        source=source.name,
        day=source.day or iso_day(own.get(DATE)) or page.front_matter.date,
        tags=tuple(dict.fromkeys(filter(None, (*page.front_matter.tags, *own_tags)))),
        links=tuple(edge.target for edge in edges if not edge.child),
        properties={key: value for key, value in own.items() if key not in known},
    )


# the entries


def stored_entries(memory: Memory) -> tuple[list[EntryFile], list[LeftOut]]:
    """The files of all entries, and of the domains if they were edited, by path; and those that cannot be
    read."""
    store = memory.entries.store
    files, left_out = [], []
    for path in sorted(store.paths()):
        try:
            data = store.data(path)
        except Unreadable as error:
            logger.warning("the entry %r is left out: %s", path, error)
            left_out.append(LeftOut(path, str(error)))
            continue
        if data is not None:
            place = place_of(path)
            files.append(read_entry(place, data) if place else EntryFile(path, data, None))
    return files, left_out


def entry_lines(files: Sequence[EntryFile]) -> Iterator[bytes]:
    """Each file as a line of JSON: what is known of the entry, or the text of the file if that is nothing."""
    for file in files:
        row: dict[str, Any] = {"entry": document(file.entry)} if file.entry else {"text": decode(file.data)}
        yield row_line({"path": file.path, **row}).encode()


def entries_part(files: Sequence[EntryFile]) -> Iterator[bytes]:
    """The entries as the end of one Markdown file: each with its id and its day above its text, which is quoted."""
    entries = [file.entry for file in files if file.entry]
    if entries:
        yield b"# Entries\n\n"
    for entry in entries:
        quoted = "".join(f"> {line}".rstrip() + "\n" for line in readable(entry.text).rstrip().split("\n"))
        yield f"{entry.id}, {entry.observed_at.isoformat()}\n\n{quoted}\n".encode()
