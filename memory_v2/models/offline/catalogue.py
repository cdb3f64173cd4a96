"""The names and descriptions of all pages, and which of them have a word: what a reader of the links would find."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping

from memory_v2.text.words import content_words, has_cjk
from memory_v2.tree.graph import Graph

MOST_PAGES = 60
"""In how many pages' lines a word is looked for at most: one that stands in more tells nothing."""
MOST_CANDIDATES = 20
"""How many pages are compared with a text word by word: those that have the most and rarest of its words."""


class Catalogue:
    """One line for each page that can be reached, except the root: its name, its title, its description."""

    def __init__(self, tree: Graph) -> None:
        self._tree = tree

    @property
    def count(self) -> int:
        """How many pages there are."""
        return len(self._tree.pages)

    def pages_with(self, term: str) -> list[str]:
        """The pages whose line has a word that begins with this term, up to `MOST_PAGES`."""
        listing = self._tree.listing
        wanted = term if has_cjk(term) or len(term) > 4 else f" {term}"
        found: list[str] = []
        place = listing.text.find(wanted)
        while place >= 0 and len(found) < MOST_PAGES:
            line = bisect_right(listing.starts, place) - 1
            found.append(listing.paths[line])
            place = listing.text.find(wanted, listing.starts[line + 1])
        return found

    def name_terms(self, path: str) -> frozenset[str]:
        """The terms of the last part of a page's path."""
        return frozenset(content_words(path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")))

    def title_terms(self, path: str) -> frozenset[str]:
        """The terms of a page's title."""
        return frozenset(content_words(self._tree.pages[path].title))

    def described_terms(self, path: str) -> frozenset[str]:
        """The terms of the line by which a page is listed."""
        return frozenset(content_words(self._tree.descriptions.get(path, "")))

    def candidates(self, weights: Mapping[str, float], spread: Mapping[str, Iterable[str]]) -> list[str]:
        """The pages that have the most of these terms, by weight."""
        sums: dict[str, float] = defaultdict(float)
        for term, pages in spread.items():
            for path in pages:
                sums[path] += weights[term]
        return sorted(sums, key=lambda path: (-sums[path], path))[:MOST_CANDIDATES]
