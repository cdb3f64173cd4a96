"""The links between the files of a folder: what is in a text, and which file it leads to.

`[[name]]` is looked for as vaults do: a path from the file or from the folder, else the name of a file anywhere, a
title or an alias, else nearly one of these. `[words](path)` and `[words]: path` are paths from the file or from the
folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from memory_v2.files.listing import without_suffix
from memory_v2.text.slug import slug
from memory_v2.tree.block import Block
from memory_v2.tree.path import find_links, fold

_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
_MARKDOWN = re.compile(
    r"(?<!\\)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
    r"\(\s*(?:<([^<>\n]+)>|([^()<>\s]+(?:\([^()\s]*\)[^()<>\s]*)?))(?:\s+[\"'(][^\n)]*)?\)"
    r"|^ {0,3}\[[^\]\r\n]+\]:[ \t]*<?([^\s<>]+)",
    re.M,
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)


@dataclass(frozen=True, slots=True)
class FileLink:
    """A link to a file as it is `written` in a text, on a line counted from 0. `is_wiki` tells `[[name]]` from the
    other kind, `heading` is the one that it leads to."""

    target: str
    line: int
    written: str
    heading: str = ""
    is_wiki: bool = False


def links_in(block: Block) -> Iterator[FileLink]:
    """The links, pictures and definitions of a block that lead to files. Code has none."""
    text = block.text
    for found in find_links(block):
        if not _SCHEME.match(target := found.target.strip()):
            heading = found.heading.lstrip("#").strip()
            yield FileLink(
                target, text.count("\n", 0, found.start), text[found.start : found.end], heading, is_wiki=True
            )
    if ("](" not in text and "]:" not in text) or block.kind in ("fence", "code", "html", "front matter"):
        return
    text = _CODE.sub(lambda code: "\n" * code[0].count("\n"), text)
    for one in _MARKDOWN.finditer(text):
        target = unquote(re.split(r"[?#]", next(filter(None, one.groups())))[0])
        if target and not _SCHEME.match(target):
            yield FileLink(target, text.count("\n", 0, one.start()), f"({target})")


class LinkResolver:
    """All files of a folder by what links may call them."""

    def __init__(
        self,
        names: Mapping[str, Sequence[str]],
        addresses: Mapping[str, str] | None = None,
        is_there: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """`names` are the files, each with its titles. An address is another path by which a file may be called.
        `is_there` tells of a path that is none of these whether something is there."""
        self._is_there = is_there
        self._folders = {fold(name[: slash.start()]) for name in names for slash in re.finditer("/", name)}
        self._paths: dict[str, str] = {}
        self._called: tuple[dict[str, list[str]], ...] = ({}, {}, {})
        for name in sorted(names):
            paths = (name, (addresses or {}).get(name, name))
            for path in paths:
                self._paths.setdefault(fold(path), name)
                self._paths.setdefault(_key(path), name)
            own = dict.fromkeys(_last(key) for path in paths for key in (fold(path), _key(path)))
            for called, words in zip(self._called, (own, map(fold, names[name]), map(slug, own)), strict=True):
                for word in filter(None, words):
                    if name not in (named := called.setdefault(word, [])):
                        named.append(name)
        for name in sorted(names):
            if _last(_key(name)) in ("index", "readme"):
                self._paths.setdefault(_key(posixpath.dirname(name)), name)

    def resolve(self, source: str, target: str, is_wiki: bool = True) -> Sequence[str]:
        """The files that a link in a file may lead to, best first: one if all is well. It may also be the path of
        something else that is there."""
        folders = ("",) if target.startswith("/") else (posixpath.dirname(source), "")
        paths = [posixpath.normpath(posixpath.join(folder, target.strip().lstrip("/"))) for folder in folders]
        for path in paths:
            if name := self._paths.get(fold(path)) or self._paths.get(_key(path)):
                return (name,)
        if is_wiki and (names := self._named(posixpath.dirname(source), target)):
            return names
        there = (path for path in paths if fold(path) in self._folders or (not is_wiki and self._is_there(path)))
        return [*there][:1]

    def _named(self, folder: str, target: str) -> list[str]:
        """The files that are called so, the nearest first."""
        key = _key(target)
        for called, word in zip(self._called, (_last(key), fold(target.strip()), slug(target)), strict=True):
            names = called.get(word, [])
            if "/" in key:  # the end of a path
                names = [name for name in names if _key(name).endswith(f"/{key}")]
            if names:
                return sorted(names, key=lambda name: (posixpath.dirname(name) != folder, name.count("/"), name))
        return []


def _key(path: str) -> str:
    return without_suffix(fold(path.strip()).rstrip("/"))


def _last(key: str) -> str:
    return key.rpartition("/")[2]
