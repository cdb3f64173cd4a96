"""Which names files in any store may have to be pages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from memory_v2.errors import InvalidPath
from memory_v2.tree.path import fold, is_page_path, page_path, prefixes

SUFFIX = ".md"


def is_markdown(name: str) -> bool:
    """Whether one could take a file of this name for a page."""
    return name[-len(SUFFIX) :].lower() == SUFFIX


def name_problem(name: str) -> str | None:
    """Why no page has this name of a Markdown file."""
    if not name.endswith(SUFFIX):
        return f"the name of a page ends in {SUFFIX!r}, in lower case"
    path = name.removesuffix(SUFFIX)
    return None if _is_page_path(path) else _broken_rule(path)


def part_clashes(pages: dict[str, Any]) -> list[tuple[str, str]]:
    """Takes those pages out that are the same as others on a disk that ignores case; gives their names, and why."""
    strays = []
    for path, kept in _case_clashes(pages).items():
        del pages[path]
        strays.append((f"{path}{SUFFIX}", f"its path equals {kept!r} in all but case; rename one of the two"))
    return strays


_is_page_path = lru_cache(maxsize=1 << 20)(is_page_path)  # the same names at every walk: 0.1 µs instead of 7


def _broken_rule(path: str) -> str:
    try:
        page_path(path)
    except InvalidPath as error:
        return str(error)
    return "its name is not in Unicode NFC"


def _case_clashes(paths: Iterable[str]) -> dict[str, str]:
    """The paths that a disk without case would hold to be another one (or below it), each with that other one.

    Of such names the last in code point order stays a page, which is the one in lower case.
    """
    names = set(paths)
    for path in list(names):
        while (path := path.rpartition("/")[0]) and path not in names:
            names.add(path)
    if len({fold(name) for name in names}) == len(names):
        return {}
    kept = {fold(name): name for name in sorted(names)}
    clashes = {}
    for path in paths:
        for prefix in prefixes(path):
            if (other := kept[fold(prefix)]) != prefix:
                clashes[path] = other
                break
    return clashes
