"""Which file names are pages, in every store."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from memory_v2.errors import InvalidPath
from memory_v2.tree.path import ENTRIES, fold, is_page_path, is_reserved, page_path, prefixes

SUFFIX = ".md"
_ENTRY_PLACE = re.compile(rf"{ENTRIES}/(?:agents/[^/]+/memory/(?:vault|archive)|shared/(?:observations|archive))/.")
RESERVED = f"the name {ENTRIES!r} is kept for the entries"


def is_markdown(name: str) -> bool:
    """Whether a file of this name looks like a page."""
    return name[-len(SUFFIX) :].lower() == SUFFIX


def is_entry_place(path: str) -> bool:
    """Whether a file below `entries` is where entries are: `entries/agents/hawk/memory/vault/…`."""
    return _ENTRY_PLACE.match(path) is not None


def name_problem(name: str) -> str | None:
    """Why a Markdown file of this name is not a page; `None` if it is."""
    if problem := file_problem(name):
        return problem
    return f"{RESERVED}; rename it" if is_reserved(name.removesuffix(SUFFIX)) else None


def file_problem(name: str) -> str | None:
    """Why a Markdown file of this name can be neither a page nor an entry; `None` if it can."""
    if not name.endswith(SUFFIX):
        return f"the name of a page ends in {SUFFIX!r}, in lower case"
    path = name.removesuffix(SUFFIX)
    return None if _is_page_path(path) else _broken_rule(path)


def part_clashes(pages: dict[str, Any]) -> list[tuple[str, str]]:
    """Removes pages whose paths differ from another page's only in case; returns their file names and the reasons."""
    ignored = []
    for path, other in _case_clashes(pages).items():
        del pages[path]
        ignored.append((f"{path}{SUFFIX}", f"its path equals {other!r} in all but case; rename one of the two"))
    return ignored


_is_page_path = lru_cache(maxsize=1 << 20)(is_page_path)  # every walk asks for the same names: 0.1 µs, not 7


def _broken_rule(path: str) -> str:
    try:
        page_path(path)
    except InvalidPath as error:
        return str(error)
    return "its name is not in Unicode NFC, as names that a Mac has written may be; type the name anew"


def _case_clashes(paths: Iterable[str]) -> dict[str, str]:
    """The paths that a disk that ignores case confuses with another path or a folder, each with that other one.

    Of names that differ only in case, the last in code point order stays a page: the one in lower case.
    """
    names = set(paths)
    for path in list(names):
        while (path := path.rpartition("/")[0]) and path not in names:
            names.add(path)
    if len({fold(name) for name in names}) == len(names):
        return {}
    chosen = {fold(name): name for name in sorted(names)}
    clashes = {}
    for path in paths:
        for prefix in prefixes(path):
            if (other := chosen[fold(prefix)]) != prefix:
                clashes[path] = other
                break
    return clashes
