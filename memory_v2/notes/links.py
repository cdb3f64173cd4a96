"""The links of notes, and what each leads to.

`[[name]]` is looked for as vaults do: a path from the folder or from the note, else the name of a note anywhere, its
title or an alias. `[words](path)` is a path from the note, or from the folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from memory_v2.files.listing import is_there, without_suffix
from memory_v2.notes.classify import is_template
from memory_v2.notes.note import Item, Note
from memory_v2.tree.block import Block
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


class LinkResolver:
    """What the links of notes lead to: the files of their folder by name, and the notes by all that they are called."""

    def __init__(self, folder: Path, files: Collection[str], notes: Iterable[Note]) -> None:
        """The files of a folder by name, and those of them that are notes."""
        self.folder = folder
        self.files = files
        self._paths = {fold(without_suffix(name)): name for name in sorted(files)} | {
            fold(name): name for name in files
        }
        self._folders = {fold(name[: slash.start()]) for name in files for slash in re.finditer("/", name)}
        self._names: dict[str, dict[str, None]] = {}
        for name in sorted(files):
            last = name.rpartition("/")[2]
            for key in (last, without_suffix(last)):
                self._names.setdefault(fold(key), {})[name] = None
        for note in notes:
            for title in note.titles:
                self._names.setdefault(fold(title), {}).setdefault(note.name)

    def file_named(self, note: Note, name: str) -> str | None:
        """The file that a name in a note stands for, as a path from the folder or from the note, or else alone."""
        for start in ("", posixpath.dirname(note.name)):
            if file := self._paths.get(fold(posixpath.normpath(posixpath.join(start, name)))):
                return file
        files = [*self._names.get(fold(name.rpartition("/")[2]), {})]
        return files[0] if len(files) == 1 else None

    def resolve(self, link: Link) -> Sequence[str]:
        """The files that a link may lead to: one if all is well."""
        target = link.target.strip().strip("/")
        for start in (posixpath.dirname(link.note.name), ""):
            path = posixpath.normpath(posixpath.join(start, target))
            if path.startswith(".."):
                return (path,) if is_there(self.folder, path) else ()
            if file := self._paths.get(fold(path)):
                return (file,)
            if fold(path) in self._folders or (not link.is_wiki and is_there(self.folder, path)):
                return (path,)
        if not link.is_wiki:
            return ()
        files = list(self._names.get(fold(target)) or self._names.get(fold(target.rpartition("/")[2]), {}))
        ending = [name for name in files if fold(without_suffix(name)).endswith(fold(without_suffix(target)))]
        return ending or (files if "/" not in target else ())


def file_names(text: str) -> Iterator[str]:
    """The names of text files that a text mentions, with their folders, also in code."""
    for found in _SUFFIX.finditer(text):
        if stem := _STEM.search(text, max(0, found.start() - LONGEST_NAME), found.start()):
            yield stem[0] + found[0]


def links(notes: Iterable[Note]) -> Iterator[Link]:
    """The links of all notes but forms, to files; code has none."""
    texts = ((note, item) for note in notes if not is_template(note.name) for item in note.items if item.kind != "code")
    return (link for note, item in texts for link in _links(note, item))


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
