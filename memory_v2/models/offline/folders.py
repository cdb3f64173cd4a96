"""Listed pages by the folder of their sources: somebody has put them together already."""

from __future__ import annotations

from collections.abc import Sequence

from memory_v2.models.offline.listed import Group, Listed, shared_folder
from memory_v2.text.lists import empty_names
from memory_v2.text.plain import capitalized
from memory_v2.text.slug import slug

MIN_FOLDER = 2
"""The least pages of a folder with a group of its own; fewer join the group of the folder above, or are left."""
_COMMON = frozenset(["memory", "docs", "doc", "src", "archive", "content", "data", "main", "notes", "public", "source"])


def by_folder(leaves: Sequence[Listed], homes: Sequence[Listed], most: int) -> list[Group]:
    """A group for each folder, or more of the same folder in the group that it has; nothing if all have one folder.
    While there are more groups than `most`, the smallest folder joins the one above."""
    folders = {each.folder for each in (*leaves, *homes) if each.folder}
    if len(folders) < 2:
        return []
    there = {home.folder: home for home in reversed(homes) if home.folder}
    shared = shared_folder(sorted(folders))
    together: dict[str, list[Listed]] = {}
    for leaf in leaves:
        if leaf.folder:
            together.setdefault(leaf.folder, []).append(leaf)
    while (smallest := _to_join(together, there, most - len(homes))) is not None:
        members, above = together.pop(smallest), smallest.rpartition("/")[0]
        while above and above != shared and not (above in together or above in there or _has_siblings(above, together)):
            above = above.rpartition("/")[0]
        if above and above != shared:
            together[above] = together.get(above, []) + members
    called = _titles([*together, *there])
    return [
        Group(
            tuple(sorted(members, key=lambda leaf: leaf.number)),
            there.get(folder),
            slug(called[folder]),
            called[folder],
        )
        for folder, members in sorted(together.items())
    ]


def _to_join(together: dict[str, list[Listed]], there: dict[str, Listed], most: int) -> str | None:
    """The smallest folder that is too small for a group, or one too many."""
    new = [folder for folder in together if folder not in there]
    smallest = min(new, key=lambda folder: (len(together[folder]), -folder.count("/"), folder), default=None)
    if smallest is None or (len(together[smallest]) >= MIN_FOLDER and len(new) <= most):
        return None
    return smallest


def _has_siblings(above: str, together: dict[str, list[Listed]]) -> bool:
    return any(folder.startswith(f"{above}/") and len(members) < MIN_FOLDER for folder, members in together.items())


def _titles(folders: Sequence[str]) -> dict[str, str]:
    """What each folder is called: its last part, and the part above it if that says little or two have it."""
    last = [folder.rsplit("/", 1)[-1] for folder in folders]
    called = {}
    for folder, name in zip(folders, last, strict=True):
        parts = folder.split("/")
        says_little = name.casefold() in _COMMON or name.casefold() in empty_names()
        if len(parts) > 1 and (says_little or last.count(name) > 1):
            name = parts[-2] if says_little and last.count(name) <= 1 else f"{parts[-2]} {name}"
        called[folder] = capitalized(" ".join(name.replace("-", " ").replace("_", " ").split()))
    return called
