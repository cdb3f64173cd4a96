"""The folder of the entries: what stands in it, and how pages of an older store make room for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import count

from memory_v2.storage.history import PageChange
from memory_v2.tree.page import read_page
from memory_v2.tree.path import ENTRIES, TakenPaths, fold, unreserved

_PLACE = re.compile(rf"{ENTRIES}/(?:agents/[^/]+/memory/(?:vault|archive)|shared/(?:observations|archive))/.")


def is_entry_place(path: str) -> bool:
    """Whether a file below `entries` stands where entries do: `entries/agents/hawk/memory/vault/…`."""
    return _PLACE.match(path) is not None


def new_paths(reserved: Iterable[str], pages: Iterable[str]) -> dict[str, str]:
    """A free path for each of these pages: `entries-pages/a` for `entries/a`."""
    reserved = list(reserved)
    for number in count(1):
        moved = {path: _numbered(unreserved(path), number) for path in reserved}
        taken = TakenPaths(path for path in pages if path not in moved)
        if not any(path in taken for path in moved.values()):
            return moved
    raise AssertionError("a count has no end")


def _numbered(path: str, number: int) -> str:
    first, slash, rest = path.partition("/")
    return path if number == 1 else f"{first}-{number}{slash}{rest}"


def moving_away(pages: Mapping[str, bytes], moved: Mapping[str, str]) -> tuple[PageChange, ...]:
    """The changes that move pages to other paths: new pages first, then those that link to them, then removals."""
    keys = {fold(old): new for old, new in moved.items()}
    after = {
        path: read_page(path, data).map_links(lambda link: link.to(keys[link.key]) if link.key in keys else None).data
        for path, data in pages.items()
    }
    return (
        *(PageChange(new, None, after[old]) for old, new in moved.items()),
        *(PageChange(path, pages[path], after[path]) for path in pages if path not in moved),
        *(PageChange(old, pages[old], None) for old in moved),
    )
