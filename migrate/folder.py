"""A folder of text files as documents: what all readers share. A reader says what is different in its format."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile
from pathlib import Path

from memory_v2.entries.store import DOMAINS_PAGE
from memory_v2.files.claude_folder import address_in, judge_in
from memory_v2.files.decoding import read_text
from memory_v2.files.links import FileLink, LinkResolver, links_in
from memory_v2.files.listing import LeftOut, Listing, has_text_suffix, list_files, no_reader, without_suffix
from memory_v2.migrate.scan import TEXT, Scan, SourceDocument
from memory_v2.models.offline.documents import title_of_file
from memory_v2.text.days import named_day
from memory_v2.text.slug import slug
from memory_v2.text.words import plain
from memory_v2.tree.block import Block, new_blocks, parse_blocks, readable, split_lines
from memory_v2.tree.edit import text_of
from memory_v2.tree.front_matter import FrontMatter, read_front_matter
from memory_v2.tree.page import own_title, parse_page
from memory_v2.tree.path import MAX_DEPTH, MAX_PATH_BYTES, ROOT, SUFFIX, is_entry_place

OPENING = 2_000
"""How much of a document is read for its title, in characters."""
LASTING = "long-term-memory"
"""The page of a `MEMORY.md`: the root has that name already."""
UNNAMED = "note"
"""The page of a file whose name and title have no letter or digit."""
_INDEXES = ("index", "readme")
"""What the file is called that is about its folder."""
_ALWAYS = frozenset(["last_updated", "size_bytes"])
"""The keys below each page of a memory."""
_IMPORT = re.compile(r"(?<!\S)@(~?[\w./-]+\.(?:md|markdown|txt))(?![\w/])", re.I)
_IMPORTING = ("claude", "claude.local", "agents")


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one file, what its front matter says, and what decoding it has to tell. The `address` is the name
    that the file would have in a plain folder: its place follows from it, and links to it."""

    name: str
    address: str
    text: str
    front_matter: FrontMatter
    notes: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The title that the text begins with; empty if it has none."""
        return own_title(new_blocks(self.text[:OPENING]))


def an_entry(text: Text) -> LeftOut | None:
    """Leaves out what is where a memory has its entries, or their domains."""
    path = text.name.removesuffix(SUFFIX)
    if path == DOMAINS_PAGE:
        return LeftOut(text.name, "it holds the domains of entries, and is no page: see 'silica memory domains'")
    if is_entry_place(path):
        return LeftOut(text.name, "it is an entry, and no page: 'silica memory entries import' brings entries in")
    return None


def scan_folder(
    folder: Path,
    *,
    address: Callable[[str], str] | None = None,
    is_text: Callable[[str], bool] = has_text_suffix,
    leave_out: Callable[[Text], LeftOut | None] = an_entry,
    root: str = "",
) -> Scan:
    """The documents of a folder of notes, with what `scan_files` leaves out, and what is hidden. What Claude Code keeps
    in a `.claude` folder is read too. Raises `StorageError` if the folder cannot be listed."""
    address = address or (lambda name: address_in(folder, name))
    return scan_files(list_files(folder, judge_in(folder)), address, is_text, leave_out, root)


def scan_files(
    listing: Listing,
    address: Callable[[str], str] = str,
    is_text: Callable[[str], bool] = has_text_suffix,
    leave_out: Callable[[Text], LeftOut | None] = lambda _: None,
    root: str = "",
) -> Scan:
    """The documents among these files; the file called `root` is the root. Left out is each file whose name is not that
    of a text, or that cannot be read as one, and each text with which `leave_out` finds a reason."""
    texts: list[Text] = []
    left_out = list(listing.left_out)
    for file in listing.files:
        decoded = read_text(file) if is_text(file.name) else no_reader(file)
        if isinstance(decoded, LeftOut):
            left_out.append(decoded)
            continue
        front_matter = read_front_matter(readable(decoded.text))
        text = Text(file.name, address(file.name), decoded.text, front_matter, decoded.notes)
        if left := leave_out(text):
            left_out.append(left)
        else:
            texts.append(text)
    left_out.sort(key=lambda left: left.name)
    texts, described = _without_sections(texts)
    documents = _documents(texts, [left.name for left in left_out], described)
    return Scan(TEXT, [replace(one, place=ROOT) if one.name == root else one for one in documents], left_out)


def _without_sections(texts: Sequence[Text]) -> tuple[list[Text], dict[str, str]]:
    """The texts; those that are pages of a memory without what the program wrote below them, for it is written again.
    And what that said of each page, by its path. What names a page that is not here, or has keys of a person, stays."""
    names = {without_suffix(text.name) for text in texts}
    described: dict[str, str] = {}
    own: list[Text] = []
    for text in texts:
        page = parse_page(text.name, text.text)
        listed = {child.target: child.description for child in page.children}
        if _ALWAYS <= page.properties.keys() <= _ALWAYS | {"split_from"} and listed.keys() <= names:
            described |= listed
            text = replace(text, text=text_of(page))
        own.append(text)
    return own, described


def _documents(texts: Sequence[Text], others: Iterable[str], described: Mapping[str, str]) -> list[SourceDocument]:
    titles = {text.name: [*text.front_matter.aliases, text.front_matter.title] for text in texts}
    resolver = LinkResolver(titles | {name: [] for name in others}, {text.name: text.address for text in texts})
    places = find_places({text.address: text for text in texts})
    documents = []
    for text in texts:
        said, (place, called) = text.front_matter, places[text.address]
        links, dead, notes = _references(text, resolver, titles)
        documents.append(
            SourceDocument(
                name=text.name,
                text=text.text,
                place=place,
                title=plain(readable(text.heading or said.title)) or title_of_file(called),
                description=said.description or described.get(without_suffix(text.name), ""),
                day=said.date or named_day(text.name),
                tags=said.tags,
                links=links,
                dead=dead,
                notes=(*text.notes, *notes),
            )
        )
    return documents


# what a text refers to


def _references(text: Text, resolver: LinkResolver, documents: Mapping[str, object]) -> tuple[tuple[str, ...], ...]:
    """The documents that a text refers to, and what leads nowhere, both in order; and what is ambiguous."""
    links: dict[str, None] = {}
    dead: dict[str, None] = {}
    notes: dict[str, None] = {}
    for link in _links(text):
        names = resolver.resolve(text.name, link.target, link.is_wiki)
        if len(names) > 1:
            notes[f"{link.written} may be {' or '.join(names)}; taken as the first"] = None
        if names and names[0] in documents:
            links[names[0]] = None
        elif not names and (link.is_wiki or has_text_suffix(link.target)):
            dead[link.written if link.is_wiki else link.target] = None
    links.pop(text.name, None)
    return tuple(links), tuple(dead), tuple(notes)


def _links(text: Text) -> Iterator[FileLink]:
    """The links of a text, compared as people read them, without bytes that are not UTF-8: those in its front matter,
    each line of which is read as a text, and the `@note.md` of a `CLAUDE.md` too."""
    said = readable(text.text)
    if any(sign in said for sign in ("[[", "](", "]:")):
        for block in parse_blocks(said):
            lines = split_lines(block.text) if block.kind == "front matter" else ()
            for part in [Block(line.strip()) for line in lines] or [block]:
                yield from links_in(part)
    if without_suffix(text.name.rpartition("/")[2]).casefold() in _IMPORTING:
        yield from (FileLink(found[1], 0, found[1]) for found in _IMPORT.finditer(said))


# the page that a file's place asks for: `projects/Silica/architecture.md` → `projects/silica/architecture`


def find_places(texts: Mapping[str, Text]) -> dict[str, tuple[str, str]]:
    """The place of each text by its address, and what it is called there. What its name does not say, its title
    says."""
    split = {address: _split(address) for address in texts}
    named = {(*folders, last) for folders, last in split.values() if not _rank(folders, last)}
    about: dict[tuple[str, ...], str] = {}  # the one note that is the page of its folder
    for address, (folders, last) in sorted(split.items(), key=lambda item: (_rank(*item[1]), item[0])):
        if folders and _rank(folders, last) and folders not in named:
            about.setdefault(folders, address)
    places = {}
    for address, (folders, last) in split.items():
        *above, called = address.split("/")
        called = without_suffix(called)
        if about.get(folders) == address:
            folders, last, called = folders[:-1], folders[-1], above[-1]
        elif not last or (not folders and last in _INDEXES):
            last = slug(texts[address].heading) or slug(texts[address].front_matter.title) or last or UNNAMED
        places[address] = _fitted(folders, last), called
    return places


def _split(address: str) -> tuple[tuple[str, ...], str]:
    """The folders and the file as parts of a path. A folder `memory` at the top is the root's."""
    *above, last = address.split("/")
    folders = filter(None, map(slug, above))
    file = slug(without_suffix(last))
    return tuple(dropwhile(lambda folder: folder == ROOT, folders)), LASTING if file == ROOT else file


def _rank(folders: tuple[str, ...], last: str) -> int:
    """How well a file serves as the page of its folder, 1 being best; 0 for a note about something else."""
    if folders[-1:] == (last,):
        return 1
    return 2 + _INDEXES.index(last) if last in _INDEXES else 0


def _fitted(folders: tuple[str, ...], last: str) -> str:
    """The path; of folders that are too deep or too long for one, the lowest are dropped."""
    kept = list(folders[: MAX_DEPTH - 1])
    while kept and len("/".join([*kept, last]).encode()) > MAX_PATH_BYTES // 2:
        kept.pop()
    return "/".join([*kept, last]) if kept or last != ROOT else LASTING
