"""The page that a file's place asks for: `projects/Silica/architecture.md` → `projects/silica/architecture`.

A note about its folder (`README.md`, `index.md`, one that is called like the folder) is the folder's page, unless a
file beside the folder is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import dropwhile

from memory_v2.files.listing import without_suffix
from memory_v2.text.slug import slug
from memory_v2.tree.path import MAX_DEPTH, MAX_PATH_BYTES, ROOT

LASTING = "long-term-memory"
"""The page of a `MEMORY.md`: the root has that name already."""
UNNAMED = "note"
"""The page of a file whose name and title have no letter or digit."""
_ABOUT_THE_FOLDER = ("index", "readme")


def find_places(names: Iterable[str], title_of: Callable[[str], str]) -> dict[str, str]:
    """The place of each file, by its name within the source. What its name does not say, its title says."""
    split = {name: _split(name) for name in names}
    plain = {(*folders, last) for folders, last in split.values() if not _rank(folders, last)}
    about: dict[tuple[str, ...], str] = {}  # the one note that is the page of its folder
    for name, (folders, last) in sorted(split.items(), key=lambda item: (_rank(*item[1]), item[0])):
        if folders and _rank(folders, last) and folders not in plain:
            about.setdefault(folders, name)
    places = {}
    for name, (folders, last) in split.items():
        if about.get(folders) == name:
            folders, last = folders[:-1], folders[-1]
        elif not last or (not folders and last in _ABOUT_THE_FOLDER):
            last = slug(title_of(name)) or last or UNNAMED
        places[name] = _fitted(folders, last)
    return places


def _split(name: str) -> tuple[tuple[str, ...], str]:
    """The folders and the file as parts of a path. A folder `memory` at the top is the root's."""
    *above, last = name.split("/")
    folders = filter(None, map(slug, above))
    file = slug(without_suffix(last))
    return tuple(dropwhile(lambda folder: folder == ROOT, folders)), LASTING if file == ROOT else file


def _rank(folders: tuple[str, ...], last: str) -> int:
    """How well a file serves as the page of its folder, 1 being best; 0 for a note about something else."""
    if folders[-1:] == (last,):
        return 1
    return 2 + _ABOUT_THE_FOLDER.index(last) if last in _ABOUT_THE_FOLDER else 0


def _fitted(folders: tuple[str, ...], last: str) -> str:
    """The path; of folders that are too deep or too long for one, the lowest are dropped."""
    kept = list(folders[: MAX_DEPTH - 1])
    while kept and len("/".join([*kept, last]).encode()) > MAX_PATH_BYTES // 2:
        kept.pop()
    return "/".join([*kept, last]) if kept or last != ROOT else LASTING
