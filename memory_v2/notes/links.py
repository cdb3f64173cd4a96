"""The links of notes, and what each leads to.

`[[name]]` is looked for as vaults do: a path from the folder or from the note, else the name of a note anywhere, its
title or an alias. `[words](path)` is a path from the note, or from the folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from urllib.parse import unquote

from memory_v2.files.claude_folder import judge_in
from memory_v2.files.decoding import Decoded, read_text
from memory_v2.files.listing import is_there, list_files, without_suffix
from memory_v2.notes.classify import is_template
from memory_v2.notes.note import Item, Note
from memory_v2.tree.block import Block, readable
from memory_v2.tree.front_matter import read_front_matter
from memory_v2.tree.link import find_links
from memory_v2.tree.path import fold

_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
_MARKDOWN = re.compile(
    r"(?<!\\)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
    r"\(\s*<?([^()<>\s]+(?:\([^()\s]*\)[^()<>\s]*)?)>?(?:\s+[\"'(][^\n)]*)?\)"
)
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:|//|#|/|~|\{|\$")
_PLACEHOLDER = re.compile(r"[<>{}*…]|\.\.\.|(?:^|/)(?:path/to|(?:wiki)?links?\Z|url\Z|example|your-)", re.I)
_SUFFIX = re.compile(r"\.(?:md|markdown|txt)\b", re.I)
_STEM = re.compile(r"[\w./-]+\Z")
LONGEST_NAME = 120
"""How long the name of a file may be that is looked for in a text, in characters."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an item: where it leads, by name and heading, and its line. `is_wiki` tells `[[name]]` from the other
    kind."""

    note: Note
    item: Item
    line: int
    target: str
    heading: str
    is_wiki: bool


@dataclass(frozen=True)
class Places:
    """What a link may lead to: the files of the folder by name, and the notes, whose texts these are, by all that they
    are called. `exists` tells whether there is something at a path that is none of the files."""

    files: Collection[str]
    notes: Sequence[Note]
    texts: Mapping[str, str]
    exists: Callable[[str], bool]

    @cached_property
    def by_name(self) -> Mapping[str, str]:
        """The files by their folded names, with and without the suffix of a text."""
        known = {fold(without_suffix(name)): name for name in sorted(self.files)}
        return known | {fold(name): name for name in self.files}

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders that hold files, folded."""
        return frozenset(fold(name[:place]) for name in self.files for place in _slashes(name))

    @cached_property
    def named(self) -> Mapping[str, Sequence[str]]:
        """The files by the last part of their names, and the notes by title and alias."""
        found: dict[str, dict[str, None]] = {}
        for name in sorted(self.files):
            last = name.rpartition("/")[2]
            for key in {fold(last), fold(without_suffix(last))}:
                found.setdefault(key, {})[name] = None
        for note in self.notes:
            front = read_front_matter(self.texts.get(note.name, "")[:20_000])
            heading = next((section.heading for section in note.sections if section.level == 1), "")
            for title in filter(None, (front.title, *front.aliases, heading)):
                found.setdefault(fold(title), {}).setdefault(note.name)
        return {key: tuple(names) for key, names in found.items()}

    def of_name(self, note: Note, name: str) -> str | None:
        """The file that a name in a note stands for, as a path from the folder or from the note, or else alone."""
        for start in ("", posixpath.dirname(note.name)):
            if found := self.by_name.get(fold(posixpath.normpath(posixpath.join(start, name)))):
                return found
        found_by_last = self.named.get(fold(name.rpartition("/")[2]), ())
        return found_by_last[0] if len(found_by_last) == 1 else None

    def of(self, link: Link) -> Sequence[str]:
        """The files that a link may lead to: one if all is well."""
        target = link.target.strip().strip("/")
        for start in (posixpath.dirname(link.note.name), ""):
            path = posixpath.normpath(posixpath.join(start, target))
            if path.startswith(".."):
                return (path,) if self.exists(path) else ()
            if found := self.by_name.get(fold(path)):
                return (found,)
            if fold(path) in self.folders or (not link.is_wiki and self.exists(path)):
                return (path,)
        if not link.is_wiki:
            return ()
        names = self.named.get(fold(target), ()) or self.named.get(fold(target.rpartition("/")[2]), ())
        ending = [name for name in names if fold(without_suffix(name)).endswith(fold(without_suffix(target)))]
        return ending or (names if "/" not in target else ())


def file_names(text: str) -> Iterator[str]:
    """The names of text files that a text mentions, with their folders, also in code."""
    for found in _SUFFIX.finditer(text):
        if stem := _STEM.search(text, max(0, found.start() - LONGEST_NAME), found.start()):
            yield stem[0] + found[0]


def places_in(folder: Path, notes: Sequence[Note]) -> Places:
    """What the links of the notes in a folder may lead to."""
    files = {file.name: file for file in list_files(folder, judge_in(folder)).files}
    read = {note.name: read_text(files[note.name]) for note in notes if note.name in files}
    texts = {name: readable(one.text) for name, one in read.items() if isinstance(one, Decoded)}
    return Places(files, notes, texts, partial(is_there, folder))


def links(notes: Iterable[Note]) -> Iterator[Link]:
    """The links of all notes but forms, to files; code has none."""
    for note in notes:
        if is_template(note.name):
            continue
        for item in note.items:
            if item.kind != "code":
                yield from _links(note, item)


def _links(note: Note, item: Item) -> Iterator[Link]:
    if "[[" in item.text:
        for found in find_links(Block(item.text, "paragraph")):
            line = item.first_line + item.text.count("\n", 0, found.start)
            if not _PLACEHOLDER.search(found.target):
                yield Link(note, item, line, found.target, found.heading.lstrip("#").strip(), is_wiki=True)
    if "](" in item.text:
        text = _CODE.sub(lambda code: "\n" * code[0].count("\n"), item.text)
        for one in _MARKDOWN.finditer(text):
            target = unquote(one[1]).partition("#")[0]
            if target and not _SCHEME.match(target) and not _PLACEHOLDER.search(target) and re.search(r"[./]", target):
                line = item.first_line + text.count("\n", 0, one.start())
                yield Link(note, item, line, target, "", is_wiki=False)


def _slashes(name: str) -> Iterator[int]:
    return (place for place, character in enumerate(name) if character == "/")
