"""A folder of text files as documents: what all readers share. A reader says what is different in its format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from memory_v2.entries.store import DOMAINS_PAGE
from memory_v2.files.claude_folder import address_in, judge_in
from memory_v2.files.decoding import read_text
from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import Listing, has_text_suffix, list_files, no_reader, without_suffix
from memory_v2.migrate.references import References, Referring
from memory_v2.migrate.source import Scan, SourceDocument
from memory_v2.storage.names import SUFFIX, is_entry_place
from memory_v2.text.calendar import named_day
from memory_v2.text.slug import slug
from memory_v2.tree.block import parse_blocks, readable
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.page import own_title
from memory_v2.tree.path import MAX_DEPTH, MAX_PATH_BYTES, ROOT


@dataclass(frozen=True, slots=True)
class Text(Referring):
    """The text of one file, and what decoding it has to tell."""

    notes: tuple[str, ...] = ()


def an_entry(text: Text) -> LeftOut | None:
    """Leaves out what is where a memory has its entries, or their domains."""
    path = text.name.removesuffix(SUFFIX)
    if path == DOMAINS_PAGE:
        return LeftOut(text.name, "it holds the domains of entries, and is no page: see 'silica memory domains'")
    if is_entry_place(path):
        return LeftOut(text.name, "it is an entry, and no page: 'silica memory entries import' brings entries in")
    return None


def scan_folder(
    format_name: str,
    folder: Path,
    *,
    address: Callable[[str], str] | None = None,
    is_text: Callable[[str], bool] = has_text_suffix,
    leave_out: Callable[[Text], LeftOut | None] = an_entry,
) -> Scan:
    """The documents of a folder of notes, with what `scan_files` leaves out, and what is hidden. What Claude Code keeps
    in a `.claude` folder is read too. Raises `StorageError` if the folder cannot be listed."""
    address = address or (lambda name: address_in(folder, name))
    return scan_files(
        format_name, list_files(folder, judge_in(folder)), address=address, is_text=is_text, leave_out=leave_out
    )


def scan_files(
    format_name: str,
    listing: Listing,
    *,
    address: Callable[[str], str] = str,
    is_text: Callable[[str], bool] = has_text_suffix,
    leave_out: Callable[[Text], LeftOut | None] = lambda _: None,
) -> Scan:
    """The documents among these files. Left out is each file whose name is not that of a text, or that cannot be read
    as one, and each text with which `leave_out` finds a reason.

    The `address` is the name that a file would have in a plain folder: its place follows from it, and links to it."""
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
    documents = _documents(texts, (left.name for left in left_out))
    return Scan(format_name, documents, sorted(left_out, key=lambda left: left.name))


def _documents(texts: Sequence[Text], others: Iterable[str]) -> list[SourceDocument]:
    references = References(texts, others)
    titles = {text.address: text for text in texts}
    places = find_places(titles, lambda name: own_title(parse_blocks(titles[name].text)))
    documents = []
    for text in texts:
        said, found = text.front_matter, references.of(text)
        documents.append(
            SourceDocument(
                name=text.name,
                text=text.text,
                place=places[text.address],
                title=said.title,
                description=said.description,
                day=said.date or named_day(text.name),
                tags=said.tags,
                links=found.links,
                dead=found.dead,
                notes=(*text.notes, *found.notes),
            )
        )
    return documents


# the page that a file's place asks for: `projects/Silica/architecture.md` → `projects/silica/architecture`


LASTING = "long-term-memory"
"""The page of a `MEMORY.md`: the root has that name already."""
UNNAMED = "note"
"""The page of a file whose name and title have no letter or digit."""
_ABOUT_THE_FOLDER = ("index", "readme")


def find_places(names: Iterable[str], title_of: Callable[[str], str]) -> dict[str, str]:
    """The place of each file, by its name within the source. What its name does not say, its title says."""
    split = {name: _split(name) for name in names}
    plain = {(*folders, last) for folders, last in split.values() if not _rank(folders, last)}
    about: dict[tuple[str, ...], str] = {}  # the one note that is the page of its folder
    for name, (folders, last) in sorted(split.items(), key=lambda item: (_rank(*item[1]), item[0])):
        if folders and _rank(folders, last) and folders not in plain:
            about.setdefault(folders, name)
    places = {}
    for name, (folders, last) in split.items():
        if about.get(folders) == name:
            folders, last = folders[:-1], folders[-1]
        elif not last or (not folders and last in _ABOUT_THE_FOLDER):
            last = slug(title_of(name)) or last or UNNAMED
        places[name] = _fitted(folders, last)
    return places


def _split(name: str) -> tuple[tuple[str, ...], str]:
    """The folders and the file as parts of a path. A folder `memory` at the top is the root's."""
    *above, last = name.split("/")
    folders = filter(None, map(slug, above))
    file = slug(without_suffix(last))
    return tuple(dropwhile(lambda folder: folder == ROOT, folders)), LASTING if file == ROOT else file


def _rank(folders: tuple[str, ...], last: str) -> int:
    """How well a file serves as the page of its folder, 1 being best; 0 for a note about something else."""
    if folders[-1:] == (last,):
        return 1
    return 2 + _ABOUT_THE_FOLDER.index(last) if last in _ABOUT_THE_FOLDER else 0


def _fitted(folders: tuple[str, ...], last: str) -> str:
    """The path; of folders that are too deep or too long for one, the lowest are dropped."""
    kept = list(folders[: MAX_DEPTH - 1])
    while kept and len("/".join([*kept, last]).encode()) > MAX_PATH_BYTES // 2:
        kept.pop()
    return "/".join([*kept, last]) if kept or last != ROOT else LASTING
