"""The names and descriptions of all pages, and which of them have a word: what a reader of the links would find."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import accumulate

from memory_v2.text.words import content_words, has_cjk
from memory_v2.tree.graph import Graph
from memory_v2.tree.path import ROOT

MOST_PAGES = 60
"""In how many pages' lines a word is looked for at most: one that stands in more tells nothing."""
MOST_CANDIDATES = 20
"""How many pages are compared with a text word by word: those that have the most and rarest of its words."""


class Catalogue:
    """One line for each page that can be reached, except the root: its name, its title, its description."""

    def __init__(self, tree: Graph) -> None:
        self._tree = tree

    @cached_property
    def count(self) -> int:
        """How many pages there are."""
        return len(self._tree.pages)

    @cached_property
    def _described(self) -> dict[str, str]:
        links = self._tree.links.values()
        return {edge.target: edge.label for edges in links for edge in edges if edge.child and edge.label}

    @cached_property
    def _paths(self) -> list[str]:
        return [path for path in self._tree.pages if path != ROOT and path in self._tree.parents]

    @cached_property
    def _lines(self) -> tuple[str, list[int]]:
        """All lines in one string, which is searched much faster than one by one; and where each begins."""
        pages, described = self._tree.pages, self._described
        lines = "\n".join([f"  {path} {pages[path].title} {described.get(path, '')}" for path in self._paths])
        text = lines.casefold().replace("-", " ").replace("/", " ").replace("_", " ")
        return text, list(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))

    def pages_with(self, term: str) -> list[str]:
        """The pages whose line has a word that begins with this term, up to `MOST_PAGES`."""
        text, starts = self._lines
        wanted = term if has_cjk(term) or len(term) > 4 else f" {term}"
        found: list[str] = []
        place = text.find(wanted)
        while place >= 0 and len(found) < MOST_PAGES:
            line = bisect_right(starts, place) - 1
            found.append(self._paths[line])
            place = text.find(wanted, starts[line + 1])
        return found

    def name_terms(self, path: str) -> frozenset[str]:
        """The terms of the last part of a page's path."""
        return frozenset(content_words(path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")))

    def title_terms(self, path: str) -> frozenset[str]:
        """The terms of a page's title."""
        return frozenset(content_words(self._tree.pages[path].title))

    def described_terms(self, path: str) -> frozenset[str]:
        """The terms of the line by which a page is listed."""
        return frozenset(content_words(self._described.get(path, "")))

    def candidates(self, weights: Mapping[str, float], spread: Mapping[str, Iterable[str]]) -> list[str]:
        """The pages that have the most of these terms, by weight."""
        sums: dict[str, float] = defaultdict(float)
        for term, pages in spread.items():
            for path in pages:
                sums[path] += weights[term]
        return sorted(sums, key=lambda path: (-sums[path], path))[:MOST_CANDIDATES]
