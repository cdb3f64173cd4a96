"""Names for pages: the terms that set a text apart from the text around it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from memory_v2.models.briefs import SplitBrief
from memory_v2.text.dates import find_dates, is_month, named_span
from memory_v2.text.lists import fillers, read_words, stopwords, weekdays
from memory_v2.text.plain import plain
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.speakers import speakers
from memory_v2.text.words import has_cjk, stem, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.path import TakenPaths, child_path

MAX_DESCRIPTION = 160
"""Limits a description written offline, in characters: about one line."""
MAX_TERMS = 6
"""How many terms follow the title of a document that has neither a heading nor a sentence."""
HEADING_WEIGHT = 3
"""How often a term of a heading counts."""
LEAST_TEXTS = 4
"""From how many texts on a term must stand in two of them to be one of all."""
PAIR = 1.2
"""What two words beside each other count, if others have neither of them: more than one of them alone."""
TOLD_ALREADY = 0.3
"""What a text counts for a further term, relative to one that has none of the terms before it."""
_NOT_PROSE = frozenset(["fence", "code", "table", "html", "front matter", "rule", "piece"])
_SURFACE = re.compile(r"[^\W_][\w'’+#.-]*[\w+#]|[^\W_]")
_LABEL = re.compile(r"([^\W\d_][\w-]{0,30})[\"*_`]{0,3}:(?=\s|[\"*_`])")
_NOISE = re.compile(r"[`*_>#|\[\]()!~]+|https?://\S+|<[^<>]*>|\{[%{#][^{\n]*?[%}#]\}")


@cache
def common_stems() -> frozenset[str]:
    """Stems that are too common in notes and talk to name a page after."""
    return frozenset(map(stem, read_words(Path(__file__).with_name("common.txt"))))


Term: TypeAlias = tuple[str, ...]
"""A word or a pair of words, as stems."""


class Terms:
    """The terms of some texts, counted once for all parts that are told apart, and of others counted before."""

    def __init__(self, texts: Sequence[str], others: Terms | None = None) -> None:
        self._texts: list[str] = [*texts, *(others._texts if others else ())]
        self._terms: list[list[Term]] = [*map(terms_of, texts), *(others._terms if others else ())]
        self._spread = _spread(self._terms)

    def telling(self, part: Iterable[int], most: int = 6) -> list[str]:
        """The terms that most of the texts at these places have and few others, most telling first, spelled as in the
        text. Each further one is rather of texts that have none of those before it."""
        places = list(part)
        inside, terms = [self._texts[place] for place in places], [set(self._terms[place]) for place in places]
        told, total = _spread(terms), len(self._texts)
        names = _speaker_stems(inside) | _labels(inside)
        single = {term: math.log((1 + total) / (0.5 + self._spread[term] - count)) for term, count in told.items()}
        rarity = {
            term: PAIR * sum(single[(part,)] for part in term) / len(term) if len(term) > 1 else worth
            for term, worth in single.items()
            if (told[term] > 1 or len(inside) < LEAST_TEXTS) and not names.intersection(term)
        }
        left = dict.fromkeys(range(len(terms)), 1.0)
        chosen: list[Term] = []
        while rarity and len(chosen) < most:
            worth = dict.fromkeys(rarity, 0.0)
            for place, has in enumerate(terms):
                for term in has & rarity.keys():
                    worth[term] += left[place] * rarity[term]
            best = min(rarity, key=lambda term: (-worth[term], term))
            chosen.append(best)
            for place, has in enumerate(terms):
                left[place] *= TOLD_ALREADY if best in has else 1.0
            rarity = {term: worth for term, worth in rarity.items() if not set(term).intersection(best)}
        return _distinct(chosen, surfaces_of(inside), most)


class Names:
    """The names that a new child cannot have, because a page or another new child has them."""

    def __init__(self, brief: SplitBrief) -> None:
        self._brief = brief
        self._given = TakenPaths(())

    def __contains__(self, name: str) -> bool:
        if name in self._brief.view.page.path.split("/"):
            return True  # the name of a page above says nothing about a child
        path = child_path(self._brief.view.page.path, name)
        return path in self._brief.taken or path in self._given

    def give(self, name: str) -> str:
        """Marks the name as taken and returns it."""
        self._given.add(child_path(self._brief.view.page.path, name))
        return name


def name_for(terms: Iterable[str], taken: Names, fallback: str) -> str:
    """The first of these terms that is meaningful and free as a name; then the first together with another one; else
    the first with a number, which can not be read as a part of a date."""
    parts = list(dict.fromkeys(filter(None, map(slug, terms))))
    for name in (*parts, *(slug(f"{parts[0]}-{part}") for part in parts[1:])):
        if is_meaningful(name) and name not in taken:
            return taken.give(name)
    stem_name = next(iter(parts), "") or slug(fallback) or "notes"
    if not is_meaningful(stem_name):
        stem_name = f"about-{stem_name}"
    if named_span(stem_name):
        stem_name = f"{stem_name}-log"
    number = 2
    while f"{stem_name}-{number}" in taken:
        number += 1
    return taken.give(f"{stem_name}-{number}" if stem_name in taken else stem_name)


def name_of_subject(subjects: Sequence[str], taken: Names, fallback: str) -> tuple[str, str]:
    """A name and the subject that it stands for: the first one whose name is meaningful and free."""
    for subject in subjects:
        name = slug(subject)
        if is_meaningful(name) and name not in taken:
            return taken.give(name), subject
    return name_for(subjects, taken, fallback), subjects[0] if subjects else fallback


def telling_words(title: str, blocks: Sequence[Block]) -> list[str]:
    """The most frequent terms of the headings and the text, without those of the title."""
    told = [block for block in blocks if block.kind not in _NOT_PROSE]
    texts = texts_of(told)
    names = _speaker_stems(texts) | _labels(texts) | {stem(word) for word in words(title)}
    counts: Counter[Term] = Counter()
    for block, text in zip(told, texts, strict=True):
        for term in terms_of(text):
            if not names.intersection(term):
                counts[term] += HEADING_WEIGHT if block.kind == "heading" else 1
    ranked = sorted((term for term in counts if counts[term] > 1), key=lambda term: (-counts[term] * len(term), term))
    return _distinct(ranked, surfaces_of(texts), MAX_TERMS)


def heading_name(heading: str) -> str:
    """The subject of a heading: without dates, brackets, and anything after a colon or a dash."""
    bare = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", plain(heading)).strip()
    bare = re.sub(r"^(?:\d{1,3}|[A-Za-z])[.)]\s+", "", bare)
    bare = undated(bare)
    short = re.split(r"\s[-–—]+\s|:\s", bare, maxsplit=1)[0]
    short = bare if short.rstrip()[-1:].isdecimal() else short  # "Tool 1: the calendar" is about the calendar
    return " ".join(short.split()) or plain(heading)


def undated(text: str) -> str:
    """The text without its dates."""
    for _, start, end in reversed(find_dates(text)):
        text = f"{text[:start]} {text[end:]}"
    return text


def texts_of(blocks: Iterable[Block]) -> list[str]:
    """The contents of the blocks, in which terms are counted."""
    return [readable(block.content) for block in blocks]


def _spread(texts: Iterable[Iterable[Term]]) -> Counter[Term]:
    """How many of the texts have each term."""
    return Counter(term for terms in texts for term in set(terms))


def terms_of(text: str) -> list[Term]:
    """The stemmed words of a text and the pairs of neighbours; a word without meaning separates its neighbours."""
    terms: list[Term] = []
    before: str | None = None
    ignored, common = stopwords() | fillers(), common_stems()
    for word in words(_NOISE.sub(" . ", text)):
        stemmed = stem(word)
        if word in ignored or stemmed in common or not _says(word):
            before = None
            continue
        terms.append((stemmed,))
        if before is not None and before != stemmed:
            terms.append((before, stemmed))
        before = stemmed
    return terms


def _says(word: str) -> bool:
    is_of_a_time = is_month(word) or word in weekdays()
    return (len(word) > 2 or has_cjk(word)) and not (word[0].isdigit() or is_of_a_time)


def _speaker_stems(texts: Sequence[str]) -> frozenset[str]:
    lines = [line for text in texts for line in text.splitlines()]
    return frozenset(stem(word) for name in speakers(lines) for word in words(name))


def _labels(texts: Sequence[str]) -> frozenset[str]:
    """The stems of words that appear before a colon three times or more: names of fields rather than subjects."""
    found = Counter(stem(word) for text in texts for label in _LABEL.findall(text) for word in words(label))
    return frozenset(label for label, count in found.items() if count >= 3)


def surfaces_of(texts: Iterable[str]) -> dict[str, str]:
    """The most frequent spelling of each stem."""
    seen: dict[str, Counter[str]] = {}
    surfaces = Counter(surface for text in texts for surface in _SURFACE.findall(_NOISE.sub(" ", text)))
    for surface, times in surfaces.items():
        found = words(surface)
        for word in found:
            seen.setdefault(stem(word), Counter())[surface if len(found) == 1 else word] += times
    return {stemmed: min(forms, key=lambda form: (-forms[form], form)) for stemmed, forms in seen.items()}


def _distinct(ranked: Iterable[Term], surfaces: dict[str, str], most: int) -> list[str]:
    chosen: list[str] = []
    used: set[str] = set()
    for term in ranked:
        if used.intersection(term):
            continue
        used.update(term)
        chosen.append(joined([surfaces.get(part, part) for part in term]))
        if len(chosen) == most:
            break
    return chosen


def joined(parts: Sequence[str]) -> str:
    """The parts of a term as they are written; in scripts without spaces, pairs of characters overlap by one."""
    if not all(map(has_cjk, parts)):
        return " ".join(parts)
    joined = parts[0]
    for part in parts[1:]:
        joined += part[1:] if joined[-1] == part[0] else part
    return joined
