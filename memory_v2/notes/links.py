"""The links of notes to files, and the names of files that they mention."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from memory_v2.files.links import FileLink, LinkResolver, links_in
from memory_v2.files.listing import is_there
from memory_v2.notes.classify import is_template
from memory_v2.notes.note import Item, Note
from memory_v2.tree.block import Block

_NO_FILE = re.compile(r"[#/~{$]")
"""How what is in the place of a path begins that is none from the note or the folder."""
_PLACEHOLDER = re.compile(r"[<>{}*…]|\.\.\.|(?:^|/)(?:path/to|(?:wiki)?links?\Z|url\Z|example|your-)", re.I)
_SUFFIX = re.compile(r"\.(?:md|markdown|txt)\b", re.I)
_STEM = re.compile(r"[\w./-]+\Z")
LONGEST_NAME = 120
"""How long the name of a file may be that is looked for in a text, in characters."""


def links(notes: Iterable[Note]) -> Iterator[tuple[Note, Item, FileLink]]:
    """The links of all notes but forms, to files, with their lines in the note; code has none."""
    for note in notes:
        for item in () if is_template(note.name) else note.items:
            if item.kind != "code" and ("[[" in item.text or "](" in item.text):
                for link in links_in(Block(item.text, "paragraph")):
                    is_path = link.is_wiki or (re.search(r"[./]", link.target) and not _NO_FILE.match(link.target))
                    if is_path and not _PLACEHOLDER.search(link.target):
                        yield note, item, replace(link, line=item.first_line + link.line)


def resolver_of(folder: Path, files: Collection[str], notes: Iterable[Note]) -> LinkResolver:
    """What the links of these notes lead to: the files of their folder, and what else is on the disk."""
    titles = {note.name: note.titles for note in notes}
    return LinkResolver({name: titles.get(name, ()) for name in files}, is_there=lambda path: is_there(folder, path))


def file_names(text: str) -> Iterator[str]:
    """The names of text files that a text mentions, with their folders, also in code."""
    for found in _SUFFIX.finditer(text):
        if stem := _STEM.search(text, max(0, found.start() - LONGEST_NAME), found.start()):
            yield stem[0] + found[0]
