"""Which page a note is about: the one that it names, or the one that has already most of what it says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

from memory_v2.models.briefs import WriteBrief
from memory_v2.models.offline.naming import common_stems
from memory_v2.models.offline.page_features import MOST_PAGES, Catalogue, Look, is_of_a_time, telling_terms
from memory_v2.text.dates import find_dates
from memory_v2.text.lists import fillers
from memory_v2.text.sentences import sentences
from memory_v2.text.words import content_words, general, has_cjk
from memory_v2.tree.block import Block, readable
from memory_v2.tree.path import ROOT

COMMON = 0.3
"""The weight of a word that is common in any notes, such as `work` or `week`, relative to another word."""
NAME = 2.0
"""The weight of a name: of a word with a capital within a sentence, with a digit, or in code."""
PERHAPS_A_NAME = 1.5
"""The weight of a word with a capital at the beginning of a sentence, or of a script without capitals."""
FEW_NAMESAKES = 2
"""How many pages at most have a word in their names when the word, a name, stands for a page with a longer name."""
NAMED_WHOLE, NAMED_IN_PART, NAMED_BY_SECTION, FIRST_KNOWN = 0.45, 0.3, 0.2, 0.1
"""What it counts that the note has the whole name of a page, half of it, the name of one of its sections, or among
its first words a name that no other page has; relative to a page that has all words of the note."""
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


@dataclass(frozen=True)
class _Evidence:
    """How much of a note a page has, and how the note names the page."""

    path: str
    known: float
    named: float


class Subject:
    """The words of a note, and what each of them weighs among these pages."""

    def __init__(
        self, brief: WriteBrief, looks: Mapping[str, Look], blocks: Sequence[Block], catalogue: Catalogue
    ) -> None:
        self._brief = brief
        self._looks = looks
        self._catalogue = catalogue
        text = readable("".join(block.text for block in blocks))
        self._order = [term for term in content_words(text) if term not in fillers()]
        self._wanted = frozenset(self._order)
        opening = next(sentences(_LINE_END.sub(" ", text.lstrip())), "")  # with the list that it leads into
        self._opening = frozenset(content_words(opening))
        self._names = _names_in(text)

    def page(self, *, by_name: bool = False) -> str | None:
        """The path of the page that the note belongs to, or only of one `by_name`; `None` if there is none."""
        found = [each for each in self._accepted_pages if each.named >= NAMED_IN_PART or not by_name]
        best = max(found, key=lambda each: (each.named + each.known, each.path), default=None)
        return best.path if best else None

    @cached_property
    def _accepted_pages(self) -> list[_Evidence]:
        paths = self._candidates() if self._wanted else ()
        return [found for path in paths if (found := self._accepted(path))]

    # the words

    @cached_property
    def _listed(self) -> dict[str, list[str]]:
        """The pages whose line has each word."""
        return {term: self._catalogue.pages_with(term) for term in sorted(self._wanted)}

    @cached_property
    def _passages(self) -> dict[str, list[frozenset[str]]]:
        """The terms of each passage that is known of a page: of its blocks if it is shown, else of its places."""
        known = {path: look.passages for path, look in self._looks.items()}
        for hit in self._brief.places:
            if hit.path not in self._looks:
                terms = frozenset(content_words(" ".join([hit.text, *hit.section])))
                known.setdefault(hit.path, []).append(terms)
        return known

    @cached_property
    def _said(self) -> dict[str, frozenset[str]]:
        return {path: frozenset[str]().union(*passages) for path, passages in self._passages.items()}

    @cached_property
    def _weights(self) -> dict[str, float]:
        """Rare words weigh more, names most, and words that are common everywhere least."""
        plain = common_stems() | general()
        count = max(self._catalogue.count, len(self._said)) + 1
        weights = {}
        for term in sorted(self._wanted):
            known = {*self._listed[term], *(path for path, terms in self._said.items() if term in terms)}
            weight = math.log(1 + count / (0.5 + len(known)))
            if len(self._listed[term]) >= MOST_PAGES:
                weight = min(weight, 1.0)
            kind = COMMON if term in plain or term.isdecimal() else self._names.get(term, 1.0)
            weights[term] = weight * kind
        return weights

    @cached_property
    def _total(self) -> float:
        return sum(self._weights.values())

    # the pages

    def _candidates(self) -> Iterator[str]:
        listed = self._catalogue.candidates(self._weights, self._listed)
        reachable = self._brief.tree.parents
        for path in dict.fromkeys([*self._looks, *(hit.path for hit in self._brief.places), *listed]):
            if path in reachable and not is_of_a_time(path):
                yield path

    def _accepted(self, path: str) -> _Evidence | None:
        """What the page has of the note, if that is enough."""
        known, named = self._known(path), self._named(path)
        if named:
            return _Evidence(path, known, named)
        look = self._looks.get(path)
        if look is not None and look.is_log:
            return None  # a subject does not belong in a log, unless the note names it
        found = self._terms_of(path) & self._wanted
        alone = [term for term in found if self._only_there(term, path)]
        if len(self._wanted) > 1 and any(term in self._order[:FIRST_WORDS] for term in alone):
            return _Evidence(path, known, FIRST_KNOWN)
        least = MIN_KNOWN_BY_NAME if alone else MIN_KNOWN
        telling = [term for term in found if self._weights[term] >= 1.0]
        return _Evidence(path, known, 0.0) if len(telling) >= 2 and known >= max(least, self._on_root) else None

    def _known(self, path: str) -> float:
        """The share of the note's words, by weight, that the page has; half of it for what one passage has of them, as
        a long page has some of any words."""
        whole = self._share(self._terms_of(path))
        return (whole + max((self._share(terms) for terms in self._passages.get(path, ())), default=0.0)) / 2

    @cached_property
    def _on_root(self) -> float:
        """The share of the note's words that a passage on the root has."""
        return max((self._share(terms) for terms in self._passages.get(ROOT, ())), default=0.0)

    def _share(self, terms: AbstractSet[str]) -> float:
        return math.fsum(self._weights[term] for term in terms & self._wanted) / self._total

    def _terms_of(self, path: str) -> AbstractSet[str]:
        catalogue = self._catalogue
        above = (catalogue.name_terms(page) for page in self._above(path))
        named = catalogue.name_terms(path) | catalogue.title_terms(path) | catalogue.described_terms(path)
        return named.union(self._said.get(path, ()), *above)

    def _above(self, path: str) -> list[str]:
        return list(self._brief.tree.breadcrumb(path)[1:-1])

    def _named(self, path: str) -> float:
        """How much of the note's attention the page has by its name; 0 if the note does not name it."""
        best = 0.0
        for terms in self._full_names(path):
            said = terms & self._wanted
            if not said:
                continue
            rare = any(self._in_names(term) <= FEW_NAMESAKES and term in self._names for term in said)
            whole = said == terms and any(self._weights[term] >= 1.0 for term in terms)
            part = (rare or len(said) > 1) and 2 * _length(said) >= _length(terms)
            if whole or part:
                counts = (NAMED_WHOLE if whole else NAMED_IN_PART) if said & self._opening else NAMED_LATER
                best = max(best, counts + self._share(said) + self._first(said))
        if best == 0.0 and (look := self._looks.get(path)):
            best = max((NAMED_BY_SECTION + self._share(terms) for terms in self._sections(look)), default=0.0)
        return best

    def _first(self, said: AbstractSet[str]) -> float:
        """`NAMED_FIRST` if these are the first of the note's words that stand in the name of a page, in its first
        sentence."""
        place = min(self._order.index(term) for term in said)
        return NAMED_FIRST if place <= min(self._first_names, default=0) and said & self._opening else 0.0

    def _sections(self, look: Look) -> Iterator[frozenset[str]]:
        """The names of the sections that the note names, together with another word of the page."""
        for _, block, terms in look.headings:
            is_dated = bool(find_dates(readable(block.words)))
            if (
                not is_dated
                and telling_terms(block.words)
                and terms <= self._wanted
                and len(look.terms & self._wanted) > 1
            ):
                yield terms

    @cached_property
    def _first_names(self) -> list[int]:
        return [place for place, term in enumerate(self._order) if self._in_names(term)]

    def _full_names(self, path: str) -> Iterator[frozenset[str]]:
        for terms in (self._catalogue.name_terms(path), self._catalogue.title_terms(path)):
            if terms:
                yield terms

    def _in_names(self, term: str) -> int:
        """How many pages have a word in their name or title."""
        counts = self._name_counts
        if term not in counts:
            catalogue = self._catalogue
            counts[term] = sum(
                1 for path in self._listed[term] if term in catalogue.name_terms(path) | catalogue.title_terms(path)
            )
        return counts[term]

    @cached_property
    def _name_counts(self) -> dict[str, int]:
        return {}

    def _only_there(self, term: str, path: str) -> bool:
        """Whether a word is a name, and no other page is known to have it."""
        if term not in self._names:
            return False
        return all(
            path == other for other in [*self._listed[term], *(p for p, said in self._said.items() if term in said)]
        )


def _length(name: AbstractSet[str]) -> int:
    """How many words a name has that say something; in a script without spaces, two characters are a word."""
    telling = [term for term in name if not term.isdecimal() and term not in common_stems()]
    return sum(1 for term in telling if not has_cjk(term)) + (sum(1 for term in telling if has_cjk(term)) + 1) // 2


def _names_in(text: str) -> dict[str, float]:
    """The words of a text that look like names, with what they weigh."""
    found: dict[str, float] = {}
    for match in _TOKEN.finditer(text):
        token = match[0]
        starts = _SENTENCE_START.search(text[max(0, match.start() - 8) : match.start()]) is not None
        coded = any(map(str.isdigit, token)) or "_" in token or token[1:] != token[1:].lower()
        in_code = text[max(0, match.start() - 1) : match.start()] == "`"
        weight = NAME if coded or in_code or (token[0].isupper() and not starts) else PERHAPS_A_NAME
        if weight == PERHAPS_A_NAME and not token[0].isupper() and not has_cjk(token):
            continue
        for term in content_words(token):
            if not term.isdecimal() and term not in common_stems():
                found[term] = max(found.get(term, 0.0), weight)
    return found
