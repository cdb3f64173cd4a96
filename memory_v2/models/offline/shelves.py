"""Which page is to list a new document: the group of its folder, or the group whose line a reader would take who looks
for its title; else the root."""

from __future__ import annotations

import re
from collections import Counter

from memory_v2.models.briefs import WriteBrief
from memory_v2.models.offline.looks import is_of_a_time
from memory_v2.models.offline.naming import common_stems
from memory_v2.text.lists import fillers
from memory_v2.text.slug import slug
from memory_v2.text.words import content_words
from memory_v2.tree.graph import Edge
from memory_v2.tree.path import ROOT, fold

MIN_SHARED = 0.5
"""The least share of the title's words that stand in a group's line."""
_FIRST = re.compile(r"(.{2,40}?)(?::|,|\s[-–—])\s|([^\s:：，]{2,20})[：，]")


def shelf_for(brief: WriteBrief, title: str, folder: str) -> str:
    """The page that is to list a document with this title, whose path is in this folder."""
    if folder:
        return _group_of_folder(brief, folder) or ROOT
    return _named_first(brief, title) or _group_about(brief, title) or ROOT


def _named_first(brief: WriteBrief, title: str) -> str | None:
    """The page of the subject that a title names before its colon, comma or dash."""
    first = _FIRST.match(title)
    name = slug(first[1] or first[2]) if first else ""
    same = [path for path in brief.tree.parents if name and path.rsplit("/", 1)[-1] == name and not is_of_a_time(path)]
    return min(same, key=lambda path: (path.count("/"), path), default=None)


def _group_of_folder(brief: WriteBrief, folder: str) -> str | None:
    """The group that lists most pages of the folder."""
    tree, start = brief.tree, fold(folder) + "/"
    parents = Counter(tree.parents[path] for path in tree.parents if fold(path).startswith(start))
    groups = [path for path in parents if tree.lists_only(path) and not fold(path).startswith(start)]
    return min(groups, key=lambda path: (-parents[path], path), default=None)


def _group_about(brief: WriteBrief, title: str) -> str | None:
    """The lowest group that a reader reaches from the root who takes the one line with most words of the title."""
    looked_for = set(content_words(title)) - fillers() - common_stems()
    found, seen = None, {ROOT}
    while looked_for and (group := _next_group(brief, found or ROOT, looked_for)) and group not in seen:
        found = group
        seen.add(group)
    return found


def _next_group(brief: WriteBrief, page: str, looked_for: set[str]) -> str | None:
    lines = {edge.target: edge for edge in brief.tree.links.get(page, ()) if edge.child}
    shared = {path: len(looked_for & _said_in(edge)) for path, edge in lines.items()}
    best, second, *_ = [*sorted(shared.values(), reverse=True), 0, 0]
    if best == second or best < MIN_SHARED * len(looked_for):
        return None
    path = max(shared, key=lambda path: shared[path])
    return path if not is_of_a_time(path) and brief.tree.lists_only(path) else None


def _said_in(line: Edge) -> set[str]:
    name = line.target.rsplit("/", 1)[-1].replace("-", " ")
    return set(content_words(f"{name} {line.label}"))
