"""The paths of Claude's memory tool and the pages of the tree: `/memories/projects/silica.md` is `projects/silica`.

A file is called like its page with `.md`, or like its page alone if the last part of that has an ending of its own, as
in `/memories/plan.txt`. A command may leave `.md` out wherever no folder is called so.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from memory_v2.errors import ToolProblem
from memory_v2.tree.path import page_path

ROOT_FOLDER = "/memories"
LONGEST_PATH = 1_000
"""Limits a path, in characters: answers repeat it."""
_ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Place:
    """What a command names: the path `given`, and the page or folder, which is empty for `/memories` itself."""

    given: str
    page: str

    @property
    def is_top(self) -> bool:
        """Whether it is `/memories`."""
        return not self.page

    @property
    def may_be_folder(self) -> bool:
        """Whether it may be a folder: it does not name a file."""
        return not self.given.rstrip("/").endswith(_ENDING)

    def is_folder(self, pages: Collection[str]) -> bool:
        """Whether it is a folder, if these are the pages: some are below it, and the path is not that of a file."""
        is_file = self.page in pages and self.given.endswith(file_name(self.page))
        return self.is_top or (
            self.may_be_folder and not is_file and any(page.startswith(f"{self.page}/") for page in pages)
        )


def place(path: str) -> Place:
    """What a path names. Raises `ToolProblem` if it is outside of `/memories`, and `InvalidPath` if no page can have
    it."""
    if len(path) > LONGEST_PATH:
        raise ToolProblem(f"The path {path[:80]}… is longer than {LONGEST_PATH:,} characters. Choose a shorter path.")
    if path != ROOT_FOLDER and not path.startswith(f"{ROOT_FOLDER}/"):
        raise ToolProblem(f"Path must start with {ROOT_FOLDER}, got: {path}")
    inside = posixpath.normpath(path[len(ROOT_FOLDER) :].lstrip("/") or ".")
    if inside == ".." or inside.startswith("../"):
        raise ToolProblem(f"Path {path} would escape {ROOT_FOLDER} directory")
    return Place(path, "" if inside == "." else page_path(inside.removesuffix(_ENDING)))


def file_name(page: str) -> str:
    """The name of the file that stands for a page, below its folder."""
    name = page.rsplit("/", 1)[-1]
    return name if "." in name else name + _ENDING


def file_path(page: str) -> str:
    """The path of the file that stands for a page."""
    return posixpath.join(ROOT_FOLDER, posixpath.dirname(page), file_name(page))


def listed(pages: Collection[str], folder: str) -> Iterator[tuple[str, str]]:
    """What a folder shows, two levels deep: the path from the folder of each file, with its page; and of each folder,
    which ends in `/`, with the path before its pages. Sorted by name."""
    above = f"{folder}/" if folder else ""
    shown: dict[tuple[str, ...], tuple[str, str]] = {}
    for page in pages:
        if not page.startswith(above):
            continue
        *folders, _ = parts = page[len(above) :].split("/")
        for depth in range(1, min(len(folders), 2) + 1):
            within = "/".join(folders[:depth])
            shown[tuple(folders[:depth])] = (f"{within}/", f"{above}{within}/")
        if len(parts) <= 2:
            shown[(*folders, file_name(page))] = ("/".join([*folders, file_name(page)]), page)
    return (shown[key] for key in sorted(shown))
