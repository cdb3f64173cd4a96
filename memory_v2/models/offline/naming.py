"""What to call a page: the terms that tell its text from the text around it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from memory_v2.models.briefs import SplitBrief
from memory_v2.text.dates import find_dates
from memory_v2.text.plain import plain, shorten
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.speakers import speakers
from memory_v2.text.words import FILLERS, STOPWORDS, has_cjk, stem, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.path import TakenPaths, child_path

MAX_DESCRIPTION = 160
_SURFACE = re.compile(r"[^\W_][\w'’+#.-]*[\w+#]|[^\W_]")
_LABEL = re.compile(r"([^\W\d_][\w-]{0,30})[\"*_`]{0,3}:(?=\s|[\"*_`])")
_NOISE = re.compile(r"[`*_>#|\[\]()!~]+|https?://\S+|<[^>]*>")
COMMON = frozenset(
    stem(word)
    for line in (
        "january february march april may june july august september october november december am pm ago jan",
        "feb mar apr jun jul aug sep sept oct nov dec today tomorrow yesterday week weekend month year day",
        "time monday tuesday wednesday thursday friday saturday sunday morning evening night hour minute",
        "moment last next able about above across actually add added adding again allow almost along already",
        "always amazing another anything around ask asked away awesome back bad based became become began",
        "begin best better big bit bring brought call called came case catch change changed check come coming",
        "congrat cool could couple create created current currently deal decided definitely different done",
        "easy else end enjoy enough especially ever every everyone everything exciting excited experience",
        "express far feel feeling felt few final finally find fine first follow found full fun gave general",
        "get getting give given giving glad go goes going gone gonna good got great guess guy had happen",
        "happened happy hard has have having hear heard help helped helping here high hold hope hoping huge",
        "idea image important include including inspiring instead interesting issue it item job join just",
        "keep keeping kept kind know known lately later leave left less let life like liked list little live",
        "lives living long look looked looking lot love loved loving lovely low made main major make making",
        "many matter maybe mean means meant meet met might mind more most move much must name need needed",
        "needs never new nice note now number often ok okay old once one only open other otherwise part past",
        "people perfect photo pic picture place plan plus point possible pretty probably proud put quick",
        "quite ready real really reason remember right run said same saw say saying see seeing seem seen set",
        "share shared short show showing side sign similar simple since small some someone something soon",
        "sorry sort sound sounds special specific start started stay still stop story stuff such super",
        "support sure take taken taking talk talked talking tell thank thanks thing think third thought",
        "though thrilled through together told too took total totally toward tried true try trying turn two",
        "understand until upcoming use used useful using usually value various via want wanted watch way well",
        "went what when where which while whole wish without woman man wonderful wonder work worked working",
        "world worth would wow write wrote wrong yet young black white self",
    )
    for word in line.split()
)
"""Stems too common in notes and talk to name a page by."""


def telling_terms(inside: Sequence[str], outside: Sequence[str], most: int = 6) -> list[str]:
    """The words and pairs of words that are frequent in the one and rare in the other, most telling first, as they are
    written in the text."""
    own, told = _counted(inside), _spread(inside)
    others = _spread(outside)
    total = len(inside) + len(outside)
    names = _speaker_stems(inside) | _labels(inside)
    scores = {
        term: count * math.log((1 + total) / (1 + others[term])) * (2.0 if len(term) > 1 else 1.0)
        for term, count in own.items()
        if told[term] > 1 or len(inside) < 4 or len(term) > 1
        if not names.intersection(term) and (count > 1 or len(own) < 40)
    }
    ranked = sorted(scores, key=lambda term: (-scores[term], term))
    return _distinct(ranked, _surfaces(inside), most)


class Names:
    """The names that children of a page may not have, because a page or another child has them."""

    def __init__(self, brief: SplitBrief) -> None:
        self._brief = brief
        self._given = TakenPaths(())

    def __contains__(self, name: str) -> bool:
        if name in self._brief.view.page.path.split("/"):
            return True  # a child that is called like a page above it tells nothing
        path = child_path(self._brief.view.page.path, name)
        return path in self._brief.taken or path in self._given

    def give(self, name: str) -> str:
        """The name, from now on taken."""
        self._given.add(child_path(self._brief.view.page.path, name))
        return name


def name_for(terms: Iterable[str], taken: Names, fallback: str) -> str:
    """A name for a page made of the first of these terms that give one that says something and is not taken."""
    parts: list[str] = []
    for term in terms:
        if (part := slug(term)) and part not in parts:
            parts.append(part)
    for length in (1, 2, 3):
        name = slug("-".join(parts[:length]))
        if len(parts) >= length and is_meaningful(name) and name not in taken:
            return taken.give(name)
    stem_name = slug("-".join(parts[:2])) or slug(fallback) or "notes"
    if not is_meaningful(stem_name):
        stem_name = f"about-{stem_name}"
    number = 2
    while f"{stem_name}-{number}" in taken:
        number += 1
    return taken.give(f"{stem_name}-{number}" if stem_name in taken else stem_name)


def describe(lead: str, terms: Sequence[str]) -> str:
    """One line: the lead, and as many of the terms as there is room for, in bytes."""
    line = shorten(lead, MAX_DESCRIPTION // 2)
    told = line.casefold()
    fresh = [term for term in map(plain, terms) if term and term.casefold() not in told]
    mark = ": "
    for term in fresh:
        if len((line + mark + term).encode()) > MAX_DESCRIPTION:
            break
        line += (mark if line else "") + term
        mark = ", "
    return line


def heading_name(heading: str) -> str:
    """What a heading says a page is about: without dates, and what stands in brackets, behind a colon or a dash."""
    bare = re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", plain(heading)).strip()
    bare = re.sub(r"^(?:\d{1,3}|[A-Za-z])[.)]\s+", "", bare)
    for _, start, end in reversed(find_dates(bare)):
        bare = f"{bare[:start]} {bare[end:]}"
    short = re.split(r"\s[-–—]+\s|:\s", bare, maxsplit=1)[0]
    return " ".join(short.split()) or plain(heading)


def texts_of(blocks: Iterable[Block]) -> list[str]:
    """The blocks' contents, as terms are counted in them."""
    return [readable(block.content) for block in blocks]


def _terms_of(text: str) -> list[tuple[str, ...]]:
    """The single words and pairs of neighbours of a text, stemmed; words that say nothing part the pairs."""
    terms: list[tuple[str, ...]] = []
    before: str | None = None
    for word in words(_NOISE.sub(" . ", text)):
        stemmed = stem(word)
        if word in STOPWORDS or word in FILLERS or stemmed in COMMON or not _says(word):
            before = None
            continue
        terms.append((stemmed,))
        if before is not None and before != stemmed:
            terms.append((before, stemmed))
        before = stemmed
    return terms


def _says(word: str) -> bool:
    return (len(word) > 2 or has_cjk(word)) and not word[0].isdigit()


def _counted(texts: Iterable[str]) -> Counter[tuple[str, ...]]:
    return Counter(term for text in texts for term in _terms_of(text))


def _spread(texts: Iterable[str]) -> Counter[tuple[str, ...]]:
    return Counter(term for text in texts for term in set(_terms_of(text)))


def _speaker_stems(texts: Sequence[str]) -> frozenset[str]:
    lines = [line for text in texts for line in text.splitlines()]
    return frozenset(stem(word) for name in speakers(lines) for word in words(name))


def _labels(texts: Sequence[str]) -> frozenset[str]:
    """The stems of words that stand before a colon time and again: names of fields, not what the fields are about."""
    found = Counter(stem(word) for text in texts for label in _LABEL.findall(text) for word in words(label))
    return frozenset(label for label, count in found.items() if count >= 3)


def _surfaces(texts: Iterable[str]) -> dict[str, str]:
    """For each stem, the way it is written most often."""
    seen: dict[str, Counter[str]] = {}
    for text in texts:
        for found in _SURFACE.findall(_NOISE.sub(" ", text)):
            for word in words(found):
                seen.setdefault(stem(word), Counter())[found if len(words(found)) == 1 else word] += 1
    return {stemmed: min(forms, key=lambda form: (-forms[form], form)) for stemmed, forms in seen.items()}


def _distinct(ranked: Iterable[tuple[str, ...]], surfaces: dict[str, str], most: int) -> list[str]:
    chosen: list[str] = []
    used: set[str] = set()
    for term in ranked:
        if used.intersection(term):
            continue
        used.update(term)
        chosen.append(_joined([surfaces.get(part, part) for part in term]))
        if len(chosen) == most:
            break
    return chosen


def _joined(parts: Sequence[str]) -> str:
    """The parts as they stand in a text: pairs of characters of unspaced scripts overlap by one."""
    if not all(map(has_cjk, parts)):
        return " ".join(parts)
    joined = parts[0]
    for part in parts[1:]:
        joined += part[1:] if joined[-1] == part[0] else part
    return joined
