"""Which page a note is about: the one that it names, or the one that has already most of what it says."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from memory_v2.models.briefs import WriteBrief
from memory_v2.models.offline.naming import common_stems
from memory_v2.models.offline.outline import is_log, is_of_a_time
from memory_v2.text.lists import fillers
from memory_v2.text.words import content_words, general, has_cjk, sentences
from memory_v2.tree.block import Block, readable
from memory_v2.tree.path import ROOT

MOST_PAGES = 60
"""In how many pages' lines a word is looked for at most: one that stands in more tells nothing."""
MOST_CANDIDATES = 20
"""How many pages are compared with a text word by word: those that have the most and rarest of its words."""
COMMON = 0.3
"""The weight of a word that is common in any notes, such as `work` or `week`, relative to another word."""
NAME = 2.0
"""The weight of a name: of a word with a capital within a sentence, with a digit, or in code."""
PERHAPS_A_NAME = 1.5
"""The weight of a word with a capital at the beginning of a sentence, or of a script without capitals."""
FEW_NAMESAKES = 2
"""How many pages at most have a word in their names when the word, a name, stands for a page with a longer name."""
NAMED_WHOLE, NAMED_IN_PART = 0.45, 0.3
"""What it counts that the note has the whole name of a page, or half of it, relative to a page that has all words of
the note."""
NAMED_LATER = 0.15
"""What it counts instead that the note names a page below its first sentence: that is an aside."""
NAMED_FIRST = 0.35
"""What it counts that no other page is named earlier in the note."""
FIRST_WORDS = 3
"""Among how many words of the note a name is the subject rather than an aside."""
MIN_KNOWN = 0.4
"""The least share of a note's words, by weight, that a page that the note does not name has to have."""
MIN_KNOWN_BY_NAME = 0.25
"""The same if one of these words is a name that no other page has."""
_LINE_END = re.compile(r"\n(?!\n)")
_TOKEN = re.compile(r"[^\W_][\w'’.+#-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;。！？\n]\s*|[-*+>]\s+|\d[.)]\s+|[\"“„(\[]\s*)\W*$")


class Pages:
    """What is known of the pages to which a note may go."""

    def __init__(self, brief: WriteBrief) -> None:
        self._tree = brief.tree
        self.shown = {view.page.path: view.page for view in brief.pages if view.page.piece is None}
        self._places = brief.places
        self._listed: dict[str, list[str]] = {}

    def about(self, blocks: Sequence[Block], *, by_name: bool = False) -> str | None:
        """The path of the page that a note belongs to, or only of one that it names; `None` if there is none."""
        note = _Note(self, blocks)
        found = [each for path in note.candidates() if (each := note.accepted(path))]
        found = [each for each in found if each.named >= NAMED_IN_PART or not by_name]
        best = max(found, key=lambda each: (each.named + each.known, each.path), default=None)
        return best.path if best else None

    @property
    def count(self) -> int:
        """How many pages there are."""
        return max(len(self._tree.pages), len(self.said)) + 1

    @cached_property
    def passages(self) -> dict[str, list[frozenset[str]]]:
        """The terms of each passage that is known of a page: of its blocks, each with those of the heading above it, if
        it is shown, else of its places."""
        known: dict[str, list[frozenset[str]]] = {}
        for path, page in self.shown.items():
            heading = frozenset[str]()
            for block in page.blocks:
                terms = frozenset(content_words(readable(block.content)))
                heading = terms if block.kind == "heading" else heading
                known.setdefault(path, []).append(terms | heading)
        for hit in self._places:
            if hit.path not in self.shown:
                known.setdefault(hit.path, []).append(frozenset(content_words(" ".join([hit.text, *hit.section]))))
        return known

    @cached_property
    def said(self) -> dict[str, frozenset[str]]:
        """The terms of what is known of each page."""
        return {path: frozenset[str]().union(*passages) for path, passages in self.passages.items()}

    def listed(self, term: str) -> list[str]:
        """The pages whose line has a word that begins with this term, up to `MOST_PAGES`."""
        if term not in self._listed:
            listing = self._tree.listing
            wanted = term if has_cjk(term) or len(term) > 4 else f" {term}"
            found = self._listed[term] = []
            place = listing.text.find(wanted)
            while place >= 0 and len(found) < MOST_PAGES:
                line = bisect_right(listing.starts, place) - 1
                found.append(listing.paths[line])
                place = listing.text.find(wanted, listing.starts[line + 1])
        return self._listed[term]

    def names(self, path: str) -> tuple[frozenset[str], frozenset[str]]:
        """The terms of the last part of a page's path, and those of its title."""
        name = path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")
        return frozenset(content_words(name)), frozenset(content_words(self._tree.pages[path].title))

    def terms(self, path: str) -> AbstractSet[str]:
        """The terms of a page, of its line, and of the names of the pages above it."""
        described = content_words(self._tree.descriptions.get(path, ""))
        above = (self.names(page)[0] for page in self._tree.breadcrumb(path)[1:-1])
        return frozenset(described).union(self.said.get(path, ()), *self.names(path), *above)

    def namesakes(self, term: str) -> int:
        """How many pages have a word in their name or title."""
        return sum(1 for path in self.listed(term) if any(term in name for name in self.names(path)))

    def with_term(self, term: str) -> set[str]:
        """The pages that are known to have a word."""
        return {*self.listed(term), *(path for path, terms in self.said.items() if term in terms)}

    def reachable(self, paths: Iterable[str]) -> Iterator[str]:
        """Those of the pages that a reader reaches and that are not of a time, each once."""
        for path in dict.fromkeys([*self.shown, *(hit.path for hit in self._places), *paths]):
            if path in self._tree.parents and not is_of_a_time(path):
                yield path


@dataclass(frozen=True)
class _Evidence:
    """How much of a note a page has, and how the note names the page."""

    path: str
    known: float
    named: float


class _Note:
    """The words of a note, and what each of them weighs among the pages: rare words more, names most, and words that
    are common everywhere least."""

    def __init__(self, pages: Pages, blocks: Sequence[Block]) -> None:
        text = readable("".join(block.text for block in blocks))
        self.pages = pages
        self.order = [term for term in content_words(text) if term not in fillers()]
        self.wanted = frozenset(self.order)
        opening = next(sentences(_LINE_END.sub(" ", text.lstrip())), "")  # with the list that it leads into
        self.opening = frozenset(content_words(opening))
        self.names = _names_in(text)
        self.namesakes = {term: pages.namesakes(term) for term in sorted(self.wanted)}
        first = (place for place, term in enumerate(self.order) if self.namesakes[term])
        self.first_name = next(first, 0)
        self.weights: dict[str, float] = {}
        for term in sorted(self.wanted):
            weight = math.log(1 + pages.count / (0.5 + len(pages.with_term(term))))
            if len(pages.listed(term)) >= MOST_PAGES:
                weight = min(weight, 1.0)
            is_common = term in common_stems() or term in general() or term.isdecimal()
            self.weights[term] = weight * (COMMON if is_common else self.names.get(term, 1.0))
        self.total = sum(self.weights.values())

    def candidates(self) -> Iterator[str]:
        """The pages that may be meant: what is shown, and those whose lines have the most of its words, by weight."""
        sums: dict[str, float] = defaultdict(float)
        for term, weight in self.weights.items():
            for path in self.pages.listed(term):
                sums[path] += weight
        best = sorted(sums, key=lambda path: (-sums[path], path))[:MOST_CANDIDATES]
        yield from self.pages.reachable(best) if self.wanted else ()

    def accepted(self, path: str) -> _Evidence | None:
        """What the page has of the note, if that is enough."""
        found = self.pages.terms(path) & self.wanted
        known = (self.share(found) + self.in_one_passage(path)) / 2  # as a long page has some of any words
        if named := self._named(path):
            return _Evidence(path, known, named)
        if (page := self.pages.shown.get(path)) and is_log(page):
            return None  # a subject does not belong in a log, unless the note names it
        alone = {term for term in found & self.names.keys() if self.pages.with_term(term) <= {path}}
        if len(self.wanted) > 1 and not alone.isdisjoint(self.order[:FIRST_WORDS]):
            return _Evidence(path, known, 0.0)
        least = max(MIN_KNOWN_BY_NAME if alone else MIN_KNOWN, self.in_one_passage(ROOT))
        is_told = sum(self.weights[term] >= 1.0 for term in found) > 1
        return _Evidence(path, known, 0.0) if is_told and known >= least else None

    def share(self, terms: AbstractSet[str]) -> float:
        """The share of the note's words, by weight, that are among these."""
        return math.fsum(self.weights[term] for term in terms & self.wanted) / self.total

    def in_one_passage(self, path: str) -> float:
        """The share of the note's words that a passage of a page has."""
        return max((self.share(terms) for terms in self.pages.passages.get(path, ())), default=0.0)

    def _named(self, path: str) -> float:
        """How much of the note's attention the page has by its name; 0 if the note does not name it."""
        best = 0.0
        for terms in filter(None, self.pages.names(path)):
            said = terms & self.wanted
            is_rare = any(self.namesakes[term] <= FEW_NAMESAKES and term in self.names for term in said)
            is_whole = said == terms and any(self.weights[term] >= 1.0 for term in terms)
            is_part = (is_rare or len(said) > 1) and 2 * _length(said) >= _length(terms)
            if said and (is_whole or is_part):
                counts = (NAMED_WHOLE if is_whole else NAMED_IN_PART) + self._first(said)
                best = max(best, self.share(said) + (counts if said & self.opening else NAMED_LATER))
        return best

    def _first(self, said: AbstractSet[str]) -> float:
        """`NAMED_FIRST` if these are the first of the note's words that stand in the name of a page."""
        return NAMED_FIRST if min(self.order.index(term) for term in said) <= self.first_name else 0.0


def _length(name: AbstractSet[str]) -> int:
    """How many words a name has that say something; in a script without spaces, two characters are a word."""
    telling = [term for term in name if not term.isdecimal() and term not in common_stems()]
    return sum(1 for term in telling if not has_cjk(term)) + (sum(1 for term in telling if has_cjk(term)) + 1) // 2


def _names_in(text: str) -> dict[str, float]:
    """The words of a text that look like names, with what they weigh."""
    found: dict[str, float] = {}
    for match in _TOKEN.finditer(text):
        token = match[0]
        coded = any(map(str.isdigit, token)) or "_" in token or token[1:] != token[1:].lower()
        in_code = text[max(0, match.start() - 1) : match.start()] == "`"
        if coded or in_code:
            weight = NAME
        elif token[0].isupper():
            starts = _SENTENCE_START.search(text[max(0, match.start() - 8) : match.start()])
            weight = PERHAPS_A_NAME if starts else NAME
        elif has_cjk(token):
            weight = PERHAPS_A_NAME
        else:
            continue
        for term in content_words(token):
            if not term.isdecimal() and term not in common_stems():
                found[term] = max(found.get(term, 0.0), weight)
    return found
