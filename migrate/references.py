"""What a document refers to: `[[note]]`, `[[folder/note|words]]`, `![[note]]`, `[words](note.md)`, and the `@note.md`
of a `CLAUDE.md`. Each is another document of the source, or leads nowhere, or to something that is no document."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from memory_v2.files.listing import has_text_suffix, without_suffix
from memory_v2.text.slug import slug
from memory_v2.tree.block import MAX_NESTING, Block, parse_blocks, readable, split_lines
from memory_v2.tree.front_matter import FrontMatter
from memory_v2.tree.link import find_links

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_IMPORT = re.compile(r"(?<!\S)@(~?[\w./-]+\.(?:md|markdown|txt))(?![\w/])", re.I)
_IMPORTING = ("claude", "claude.local", "agents")
_DEFINITION = re.compile(r"^ {0,3}\[[^\]\r\n]+\]:[ \t]*<?([^\s<>]+)", re.M)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)


@dataclass(frozen=True, slots=True)
class Referring:
    """A text among others: its file's name, the address by which others may refer to it instead, and what its front
    matter says. Links are compared as people read them, without the bytes that are not UTF-8."""

    name: str
    address: str
    text: str
    front_matter: FrontMatter


@dataclass(frozen=True, slots=True)
class Found:
    """The names of the documents that one refers to, and what leads nowhere, both in order; and what is ambiguous."""

    links: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class References:
    """All documents of a source by what others may call them, and the names of its other files."""

    def __init__(self, texts: Sequence[Referring], others: Iterable[str] = ()) -> None:
        self._places: dict[str, str] = {}
        self._called: tuple[dict[str, list[str]], ...] = ({}, {}, {}, {})
        self._others = {part for name in others for part in (_fold(name), _last(_fold(name)))}
        for text in texts:
            self._add(text)
        for text in texts:
            if _last(_key(text.name)) in ("index", "readme"):
                self._places.setdefault(_key(posixpath.dirname(text.name)), text.name)

    def _add(self, text: Referring) -> None:
        for place in (text.name, text.address):
            self._places.setdefault(_key(place), text.name)
        own = {_last(_key(text.name)), _last(_key(text.address))}
        by_rank = (own, map(_fold, text.front_matter.aliases), [_fold(text.front_matter.title)], map(slug, sorted(own)))
        for called, words in zip(self._called, by_rank, strict=True):
            for word in words:
                if word and text.name not in (named := called.setdefault(word, [])):
                    named.append(text.name)

    def of(self, text: Referring) -> Found:
        """What this text refers to."""
        links: dict[str, None] = {}
        dead: dict[str, None] = {}
        notes: dict[str, None] = {}
        for target, written in _targets(text):
            names = self._at(text, target)
            if written and not names:
                names = self._of_name(text, target)
            if len(names) > 1:
                notes[f"{written} may be {' or '.join(names)}; taken as the first"] = None
            if names:
                links[names[0]] = None
            elif (written or has_text_suffix(target)) and not self._is_other_file(target):
                dead[written or target] = None
        links.pop(text.name, None)
        return Found(tuple(links), tuple(dead), tuple(notes))

    def _at(self, text: Referring, target: str) -> list[str]:
        """The document at a path from the text's folder or else from the top of the source."""
        for start in ("",) if target.startswith("/") else (posixpath.dirname(text.name), ""):
            key = _key(posixpath.normpath(posixpath.join(start, target.lstrip("/"))))
            if name := self._places.get(key):
                return [name]
        return []

    def _of_name(self, text: Referring, target: str) -> list[str]:
        """The documents that are called so, the nearest first: by their files, aliases, titles, or nearly so."""
        key = _key(target)
        folder = posixpath.dirname(text.name)
        for called, wanted in zip(self._called, (_last(key), _fold(target), _fold(target), slug(target)), strict=True):
            names = called.get(wanted, [])
            if "/" in key:  # the end of a path
                names = [name for name in names if _key(name).endswith(f"/{key}")]
            if names:
                return sorted(names, key=lambda name: (posixpath.dirname(name) != folder, name.count("/"), name))
        return []

    def _is_other_file(self, target: str) -> bool:
        return _fold(target) in self._others or _last(_fold(target)) in self._others


def _targets(text: Referring) -> Iterator[tuple[str, str]]:
    """What a text refers to, in order: paths, and names, which come with how they are written."""
    said = readable(text.text)
    if any(sign in said for sign in ("[[", "](", "]:")):
        for block in parse_blocks(said):
            yield from _properties(block) if block.kind == "front matter" else _wikilinks(block)
            yield from ((target, "") for target in _markdown_links(block))
    if _last(_key(text.name)) in _IMPORTING:
        yield from ((found[1], "") for found in _IMPORT.finditer(said))


def _wikilinks(block: Block) -> Iterator[tuple[str, str]]:
    for link in find_links(block):
        if not _SCHEME.match(target := link.target.strip()):
            yield target, block.text[link.start : link.end]


def _properties(front_matter: Block) -> Iterator[tuple[str, str]]:
    """The links in a front matter, which is none in Markdown: each line is read as a text."""
    for line in split_lines(front_matter.text):
        yield from _wikilinks(Block(line.strip()))


def _markdown_links(block: Block) -> Iterator[str]:
    """The target of each link, picture and definition of one, without what is behind the file's name."""
    if block.kind in ("fence", "code", "html", "front matter"):
        return
    targets = [found[1] for found in _DEFINITION.finditer(block.text)]
    for token in _parser().parse(block.text) if "](" in block.text else ():
        targets += [str(child.attrs.get("href") or child.attrs.get("src") or "") for child in token.children or ()]
    for target in targets:
        if not _SCHEME.match(target) and (path := unquote(re.split(r"[?#]", target)[0])):
            yield path


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip().casefold())


def _key(name: str) -> str:
    return without_suffix(_fold(name).rstrip("/"))


def _last(key: str) -> str:
    return key.rpartition("/")[2]
