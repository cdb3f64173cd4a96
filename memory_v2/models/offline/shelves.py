"""Which page is to list a new document: the one that lists its folder, or documents about the same."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

from memory_v2.models.briefs import WriteBrief
from memory_v2.models.offline.looks import is_of_a_time
from memory_v2.text.lists import fillers
from memory_v2.text.slug import slug
from memory_v2.text.words import content_words
from memory_v2.tree.block import readable
from memory_v2.tree.path import ROOT, fold

LEAST_CHILDREN = 2
"""How many pages a page lists at least to count as a place for more."""
TITLE_WEIGHT = 3.0
"""The weight of a word of the title, relative to one that is only in the text."""
MOST_WORDS = 24
"""How many words of a text are compared, the most frequent ones."""
MIN_SHARED, MIN_KNOWN = 0.25, 0.5
"""The least share of these words, by weight, that stand in the names and descriptions on the page: of all of them, and
of those that stand on any such page."""
_FIRST = re.compile(r"(.{2,40}?)(?::|,|\s[-–—])\s|([^\s:：，]{2,20})[：，]")


def shelf_for(brief: WriteBrief, title: str, folder: str) -> str:
    """The page that is to list a document with this title, whose path is in this folder."""
    of_folder = _shelf_of_folder(brief, folder) if folder else None
    return of_folder or _named_first(brief, title) or _shelf_about(brief, title) or ROOT


def _named_first(brief: WriteBrief, title: str) -> str | None:
    """The page of the subject that a title names before its colon, comma or dash."""
    first = _FIRST.match(title)
    name = slug(first[1] or first[2]) if first else ""
    same = [path for path in brief.tree.parents if name and path.rsplit("/", 1)[-1] == name and not is_of_a_time(path)]
    return min(same, key=lambda path: (path.count("/"), path), default=None)


def _shelf_of_folder(brief: WriteBrief, folder: str) -> str | None:
    """The page of that name that lists pages, or the one that lists most pages of the folder."""
    tree, start = brief.tree, fold(folder) + "/"
    parents = Counter(tree.parents[path] for path in tree.parents if fold(path).startswith(start))
    parents = Counter({path: count for path, count in parents.items() if not fold(path).startswith(start)})
    if not parents:
        return None
    return min(parents, key=lambda path: (-parents[path], path))


def _shelf_about(brief: WriteBrief, title: str) -> str | None:
    """The page whose name and description and those of its children have most of the document's words."""
    tree, weights = brief.tree, _words_of(brief, title)
    shelves = [path for path in _near(brief) if len(tree.children.get(path, ())) >= LEAST_CHILDREN]
    if not shelves or not weights:
        return None
    lines = {path: _told_on(brief, path) for path in [*shelves, ROOT]}
    spread = Counter(term for told in lines.values() for term in told & weights.keys())
    rare = {term: weight * math.log(1 + (1 + len(lines)) / (0.5 + spread[term])) for term, weight in weights.items()}
    shares = {path: sum(rare[term] for term in lines[path] & rare.keys()) for path in shelves}
    best = min(shares, key=lambda path: (-shares[path], path))
    known = sum(rare[term] for term in rare if spread[term])
    is_near = len(lines[best] & rare.keys()) > 1 and shares[best] >= MIN_KNOWN * known
    return best if is_near and shares[best] >= MIN_SHARED * sum(rare.values()) else None


def _words_of(brief: WriteBrief, title: str) -> dict[str, float]:
    told = set(content_words(title)) - fillers()
    counts = Counter(term for term in content_words(readable(brief.text)) if term not in fillers())
    often = [term for term, count in counts.most_common(MOST_WORDS) if count > 1]
    return {term: TITLE_WEIGHT if term in told else 1.0 for term in dict.fromkeys([*sorted(told), *often])}


def _near(brief: WriteBrief) -> list[str]:
    """The pages that list others and stand close to the document: below the root, or above pages that say the same."""
    tree = brief.tree
    above = (page for hit in brief.places if hit.path in tree.parents for page in tree.breadcrumb(hit.path)[1:])
    found: Iterable[str] = dict.fromkeys([*tree.children.get(ROOT, ()), *above])
    return [path for path in found if not is_of_a_time(path)]


def _told_on(brief: WriteBrief, path: str) -> set[str]:
    """The terms of a page's name and title and of the lines that it lists its children by."""
    tree = brief.tree
    names = [] if path == ROOT else [path.rsplit("/", 1)[-1].replace("-", " "), tree.pages[path].title]
    listed = [
        f"{edge.target.rsplit('/', 1)[-1].replace('-', ' ')} {edge.label}"
        for edge in tree.links.get(path, ())
        if edge.child
    ]
    return set(content_words("\n".join([*names, *listed])))
