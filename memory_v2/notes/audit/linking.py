"""Links that lead nowhere or to several notes, links to what was replaced, and notes that nothing links to.

`[[name]]` is looked for as vaults do: a path from the folder or from the note, else the name of a note anywhere, its
title or an alias. `[words](path)` is a path from the note, or from the folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from urllib.parse import unquote

from memory_v2.files.listing import without_suffix
from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.audit.material import Material, is_index, is_log
from memory_v2.notes.judging import is_template
from memory_v2.notes.note import Item, Note
from memory_v2.notes.packs import bare, pattern
from memory_v2.text.words import normal
from memory_v2.tree.block import Block
from memory_v2.tree.front_matter import front_matter_length, read_front_matter
from memory_v2.tree.link import find_links
from memory_v2.tree.path import fold

LINKED = 0.5
"""Which share of its lasting notes a folder links at least, for one that is not linked to be worth telling."""
FEWEST = 4
"""How many lasting notes there are at least, for the same."""

_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
_MARKDOWN = re.compile(
    r"(?<!\\)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
    r"\(\s*<?([^()<>\s]+(?:\([^()\s]*\)[^()<>\s]*)?)>?(?:\s+[\"'(][^\n)]*)?\)"
)
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*:|//|#|/|~|\{|\$")
_PLACEHOLDER = re.compile(r"[<>{}*…]|\.\.\.|(?:^|/)(?:path/to|(?:wiki)?links?\Z|url\Z|example|your-)", re.I)
_SUFFIX = re.compile(r"\.(?:md|markdown|txt)\b", re.I)
_STEM = re.compile(r"[\w.-]+\Z")
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
    """What a link may lead to: the files of the folder by name, and the notes by all that they are called."""

    material: Material

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The files by their folded names, with and without the suffix of a text."""
        known = {fold(without_suffix(name)): name for name in sorted(self.material.files)}
        return known | {fold(name): name for name in self.material.files}

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders that hold files, folded."""
        return frozenset(fold(name[:place]) for name in self.material.files for place in _slashes(name))

    @cached_property
    def named(self) -> Mapping[str, Sequence[str]]:
        """The files by the last part of their names, and the notes by title and alias."""
        found: dict[str, dict[str, None]] = {}
        for name in sorted(self.material.files):
            last = name.rpartition("/")[2]
            for key in {fold(last), fold(without_suffix(last))}:
                found.setdefault(key, {})[name] = None
        for note in self.material.notes:
            front = read_front_matter(self.material.texts.get(note.name, "")[:20_000])
            heading = next((section.heading for section in note.sections if section.level == 1), "")
            for title in filter(None, (front.title, *front.aliases, heading)):
                found.setdefault(fold(title), {}).setdefault(note.name)
        return {key: tuple(names) for key, names in found.items()}

    def of(self, link: Link) -> Sequence[str]:
        """The files that a link may lead to: one if all is well."""
        target = link.target.strip().strip("/")
        for start in (posixpath.dirname(link.note.name), ""):
            path = posixpath.normpath(posixpath.join(start, target))
            if path.startswith(".."):
                return (path,) if self.material.exists(path) else ()
            if found := self.files.get(fold(path)):
                return (found,)
            if fold(path) in self.folders or (not link.is_wiki and self.material.exists(path)):
                return (path,)
        if not link.is_wiki:
            return ()
        names = self.named.get(fold(target), ()) or self.named.get(fold(target.rpartition("/")[2]), ())
        ending = [name for name in names if fold(without_suffix(name)).endswith(fold(without_suffix(target)))]
        return ending or (names if "/" not in target else ())


def linking(material: Material) -> Iterator[Finding]:
    """All that is wrong with links."""
    places = Places(material)
    notes = {note.name: note for note in material.notes}
    is_replaced = cache(lambda name: _is_replaced(material, notes[name]))
    led = [(link, places.of(link)) for link in links(material)]
    linked = {name for _, found in led for name in found}
    has_wiki = any(link.is_wiki and found for link, found in led)
    for link, found in led:
        if link.is_wiki and not has_wiki and "/" not in link.target:
            continue  # nobody links so here: it names a syntax
        if not found:
            message = f"{_written(link)} leads to no file"
            yield _finding("broken-link", link, message)
        elif len(found) > 1:
            yield _finding("ambiguous-link", link, f"{_written(link)} may be {' or '.join(found[:3])}", *found)
        elif link.heading and found[0] in notes and not _has_heading(notes[found[0]], link.heading):
            yield _finding("broken-link", link, f"{found[0]} has no heading {link.heading!r}", found[0])
        elif found[0] in notes and not is_log(link.note) and is_replaced(found[0]) and not is_replaced(link.note.name):
            yield _finding("superseded", link, f"{found[0]} says that it was replaced", found[0])
    yield from _orphans(material, linked)


def links(material: Material) -> Iterator[Link]:
    """The links of all notes but forms, to files; code has none."""
    for note in material.notes:
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


def _written(link: Link) -> str:
    return f"[[{link.target}]]" if link.is_wiki else f"({link.target})"


def _finding(code: str, link: Link, message: str, *also: str) -> Finding:
    return Finding(code, link.note.name, link.line, message, f"{link.item.id} {link.target}", also, link.item.day)


def _has_heading(note: Note, heading: str) -> bool:
    wanted = normal(heading.rpartition("#")[2])
    return heading.startswith("^") or any(normal(section.heading) == wanted for section in note.sections)


def _is_replaced(material: Material, note: Note) -> bool:
    """Whether a note says of itself that it was replaced: in its front matter, its title, or first of all."""
    lines = material.lines(note.name)
    front = "".join(lines[: front_matter_length([line.rstrip("\r\n") for line in lines[:200]])])
    told = re.findall(r"(?m)^(?:status|state):[ \t]*(.*)|^(superseded_by|replaced_by):[ \t]*\S", front.casefold())
    title = next((section.heading for section in note.sections if section.level == 1), "")
    first = next((item.text for item in note.items if item.is_prose or item.kind == "quote"), "")[:80]
    said = [*(status or "superseded" for status, _ in told), title, first]
    return any(pattern("ageing", "superseded").match(bare(one).lstrip("*_[(!⚠️ >~-")) for one in said)


def _orphans(material: Material, linked: set[str]) -> Iterator[Finding]:
    """Lasting notes that nothing links to or names, where a folder links its notes at all."""
    known = [note for note in material.lasting if not is_index(note)]
    named: dict[str, set[str]] = {}
    for name, text in material.texts.items():
        for found in _SUFFIX.finditer(text):
            if stem := _STEM.search(text, max(0, found.start() - LONGEST_NAME), found.start()):
                named.setdefault(fold(stem[0] + found[0]), set()).add(name)
    orphans = [
        note
        for note in known
        if note.name not in linked and not named.get(fold(note.name.rpartition("/")[2]), set()) - {note.name}
    ]
    if len(known) >= FEWEST and len(known) - len(orphans) >= LINKED * len(known):
        for note in orphans:
            yield Finding("orphan", note.name, 1, "no other note links to this one or names it", "", day=note.day)


def _slashes(name: str) -> Iterator[int]:
    return (place for place, character in enumerate(name) if character == "/")
