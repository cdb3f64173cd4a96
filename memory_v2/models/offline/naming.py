"""Names for pages: the terms that set some texts apart from those around them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TypeAlias

from memory_v2.models.briefs import SplitBrief
from memory_v2.text.dates import find_dates, is_month, named_span
from memory_v2.text.days import DAY, DAY_OR_MONTH
from memory_v2.text.lists import fillers, headings, read_words, stopwords, weekdays
from memory_v2.text.slug import is_meaningful, slug
from memory_v2.text.speakers import speakers
from memory_v2.text.words import content_words, general, has_cjk, plain, stem, words
from memory_v2.tree.block import Block, readable
from memory_v2.tree.page import MAX_DESCRIPTION
from memory_v2.tree.path import TakenPaths, child_path
from memory_v2.tree.source import is_source_line

MAX_TITLE = 110
"""Limits a title, in characters."""
LEAST_TEXTS = 4
"""From how many texts on a term must stand in two of them to be one of all."""
PAIR = 1.2
"""What two words beside each other count, if others have neither of them: more than one of them alone."""
TOLD_ALREADY = 0.3
"""What a text counts for a further term, relative to one that has none of the terms before it."""
MOSTLY, MOST_PLACES = 0.7, 100
"""At which share of its places a character is beside a term that it belongs to, and how many of them are looked at."""
MAX_RUN = 16
"""Up to how many characters a run without spaces is one word to look for; a longer one is a sentence."""
STAMP = re.compile(
    rf"\A[\W_]*(?:{DAY}(?:[T ]\d\d?:\d\d(?::\d\d)?(?:\.\d+)?)?|\d\d?:\d\d(?::\d\d)?"
    r"(?:(?:\s?[-–]\s?| (?:to|until|bis|al?|à|às|hasta|até) )\d{1,2}:\d{2}(?::\d{2})?)?)"
    r"(?: ?[AaPp][Mm]\b)?(?:Z|[+-]\d{2}:?\d{2}| ?[A-Z]{3,4}\b)?(?!\w)[\W_]*"
)
"""A day or a time at the start of a line."""
_NUMBERING = re.compile(
    r"^(?:[^\w\s(\"'“‘¿¡`~/]+\s*)*(?:(?:\d{1,2}(?:\.\d{1,2})*|[A-Za-z]|\d{1,2}[a-z])[.):]\s+|\d{1,2}(?:\.\d{1,2})+\s+)?"
)
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_DAY = re.compile(rf"\b{DAY_OR_MONTH}\b")
_CLOCK = re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[AaPp][Mm]\b| [A-Z]{3,4}\b)?")
_PARTS = re.compile(r"\s+[-–—|]+\s+|:\s+|\s*：\s*")
_ENUMERATED = re.compile(r"[^\W\d_]+ \d{1,2}[a-z]?")
_TRAILING = re.compile(r"""(?<![^\w)\]"'”’»…%+#!?])[^\w)\]"'”’»…%+#!?]+$""")
LEAST_SUBJECTS, MOST_SUBJECTS = 3, 24
"""How many terms tell more of a page than its first sentence does, and how many are tried."""
_SPOKEN = frozenset(["heading", "paragraph", "item", "quote"])
_SURFACE = re.compile(r"[^\W_][\w'’+#.-]*[\w+#]|[^\W_]")
_NOISE = re.compile(r"[`*_>#|\[\]()!~]+|https?://\S+|<[^<>]*>|\{[%{#][^{\n]*?[%#}]\}")

Term: TypeAlias = tuple[str, ...]
"""A word or a pair of words, as stems."""


@cache
def common_stems() -> frozenset[str]:
    """Stems that are too common in notes and talk to name a page after."""
    return frozenset(map(stem, read_words(Path(__file__).with_name("common.txt"))))


@cache
def _ignored() -> frozenset[str]:
    return common_stems() | general() | fillers()


@cache
def unnaming() -> frozenset[str]:
    """Words that are part of no name."""
    return stopwords() | fillers()


def telling_terms(text: str) -> list[str]:
    """The terms of a text that are not common in notes of any kind, such as `work`, `week` or `use`."""
    return [term for term in content_words(readable(text)) if term not in _ignored() and not term.isdecimal()]


class Terms:
    """The terms of some texts, counted once for all parts that are told apart."""

    def __init__(self, texts: Sequence[str], of: Callable[[str], list[Term]] | None = None) -> None:
        self.texts = texts
        terms = {text: (of or terms_of)(text) for text in dict.fromkeys(texts)}
        self.terms = [terms[text] for text in texts]
        self._spread = Counter(term for terms in self.terms for term in set(terms))

    def counts(self, part: Iterable[int]) -> Counter[str]:
        """How often each word stands in the texts at these places."""
        return Counter(term[0] for place in part for term in self.terms[place] if len(term) == 1)

    def telling(self, part: Iterable[int], most: int, least: int = 2) -> list[str]:
        """The terms that most of the texts at these places have and few others, most telling first, spelled as in the
        text, of many texts only those that `least` of them have. Each further one is rather of texts that have none of
        those before it."""
        places = list(part)
        inside, terms = [self.texts[place] for place in places], [set(self.terms[place]) for place in places]
        told, total = Counter(term for each in terms for term in each), len(self.texts)
        names = _speaker_stems(inside)
        single = {term: math.log((1 + total) / (0.5 + self._spread[term] - count)) for term, count in told.items()}
        rarity = {
            term: PAIR * sum(single[(part,)] for part in term) / len(term) if len(term) > 1 else worth
            for term, worth in single.items()
            if (told[term] >= least or len(inside) < LEAST_TEXTS) and not names.intersection(term)
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
        spelled = surfaces_of(inside)
        return [_grown(_joined([spelled.get(part, part) for part in term]), inside) for term in chosen]

    def is_of_most(self, part: Iterable[int], term: str) -> bool:
        """Whether at least half of the texts at these places have a term."""
        stems = tuple(map(stem, words(term)))
        having = [stems in self.terms[place] for place in part]
        return 2 * sum(having) >= len(having)


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

    def give(self, terms: Iterable[str], fallback: str) -> tuple[str, str]:
        """A name, which is taken then, and the words that it stands for: the first of these terms that is meaningful
        and free; then the first together with another one; else the first with a number, which can not be read as a
        part of a date."""
        told = list(dict.fromkeys(filter(slug, map(plain, terms))))
        for title in (*told, *(f"{told[0]} {term}" for term in told[1:])):
            name = slug(title)
            if is_meaningful(name) and name not in self:
                return self._given_as(name), title
        title = told[0] if told else fallback
        name = slug(title) or "notes"
        if not is_meaningful(name):
            name = f"about-{name}"
        if named_span(name) and not name.endswith("-log"):
            name = f"{name}-log"
        number = 2
        while f"{name}-{number}" in self:
            number += 1
        return self._given_as(f"{name}-{number}" if name in self else name), title

    def _given_as(self, name: str) -> str:
        self._given.add(child_path(self._brief.view.page.path, name))
        return name


def keyword_line(title: str, terms: Iterable[str], most: int) -> str:
    """The line of a page that is told by single words: its title, and as many of the terms as fit and say more."""
    line, said, mark = plain(title), {stem(word) for word in words(title)}, ": "
    for term in map(plain, terms):
        stems = {stem(word) for word in words(term)}
        if stems - said and len(line + mark + term) <= most:
            line, mark = f"{line}{mark}{term}", ", "
            said |= stems
    return line


def telling_words(blocks: Iterable[Block], most: int = 6) -> list[str]:
    """The most telling words of the prose of a text: code and tables may have secrets and figures."""
    texts = texts_of(block for block in blocks if block.kind in _SPOKEN)
    return Terms(texts).telling(range(len(texts)), most)


def subjects(title: str, blocks: Iterable[Block]) -> str:
    """What a page of several statements holds: their telling terms, but those of the title. No numbers and days of the
    week: they change while the line stays. Empty if there are too few terms to choose a page by."""
    spoken = [block for block in blocks if block.kind in _SPOKEN and block.kind != "heading"]
    texts, line = texts_of(block for block in spoken if not is_source_line(block)), ""
    of_title = set(terms_of(title))
    for term in Terms(texts).telling(range(len(texts)), MOST_SUBJECTS, least=1) if len(texts) > 1 else ():
        longer = f"{line}; {term}" if line else term
        if of_title.isdisjoint(terms_of(term)) and len(longer) <= MAX_DESCRIPTION:
            line = longer
    return line if line.count("; ") >= LEAST_SUBJECTS - 1 else ""


def is_of_subjects(line: str, blocks: Iterable[Block]) -> bool:
    """Whether the line of a page with these blocks tells it by `subjects`: by words of its own, one or two each, or by
    runs of characters."""
    told = [words(term) for term in line.split("; ")]
    if len(told) < LEAST_SUBJECTS or not all(
        term and len(term) <= (MAX_RUN if has_cjk(term[0]) else 2) for term in told
    ):
        return False
    own = {stem(word) for text in texts_of(blocks) for word in words(text)}
    return all(own.issuperset(map(stem, term)) for term in told)


def is_common_heading(heading: str) -> bool:
    """Whether a heading stands in notes of any kind, such as `Key findings`, and does not say what its own is about."""
    told = re.findall(r"[^\W_]+(?:-[^\W_]+)*", _CLOCK.sub(" ", bare(heading)).casefold())
    return not any(
        telling_terms(word) for word in told if word not in headings() and not headings().issuperset(word.split("-"))
    )


def bare(heading: str) -> str:
    """A heading without its number, brackets, days, times and marks: many other titles have a day too."""
    shown = " ".join(_DAY.sub(" ", _BRACKETS.sub(" ", STAMP.sub("", plain(heading)))).split())
    return _TRAILING.sub("", _NUMBERING.sub("", shown) or shown)


def subject_of(heading: str) -> str:
    """What a heading says of its own, without what any heading may begin with: `Update: The new server` is about the
    new server, and so is `Step 2: The new server`."""
    told = bare(heading)
    for part in _PARTS.finditer(told):
        before, after = told[: part.start()], told[part.end() :]
        if not (is_common_heading(before) or _ENUMERATED.fullmatch(before)):
            break
        if not is_common_heading(after):
            return subject_of(after)
    return told


def heading_name(heading: str) -> str:
    """What a page is called after a heading: its subject, without anything after a colon or a dash."""
    subject = subject_of(undated(heading))
    return _PARTS.split(subject)[0] or subject or plain(heading)


def undated(text: str) -> str:
    """The text without its dates."""
    for _, start, end in reversed(find_dates(text)):
        text = f"{text[:start]} {text[end:]}"
    return text


def texts_of(blocks: Iterable[Block]) -> list[str]:
    """The contents of the blocks, in which terms are counted."""
    return [readable(block.content) for block in blocks]


def terms_of(text: str) -> list[Term]:
    """The stemmed words of a text and the pairs of neighbours; a word without meaning separates its neighbours."""
    terms: list[Term] = []
    before: str | None = None
    ignored, common = unnaming(), common_stems()
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


def surfaces_of(texts: Iterable[str]) -> dict[str, str]:
    """The most frequent spelling of each stem: as a word of its own, if it is one, rather than in an address."""
    seen: dict[str, Counter[str]] = {}
    within: dict[str, Counter[str]] = {}
    surfaces = Counter(surface for text in texts for surface in _SURFACE.findall(_NOISE.sub(" ", text)))
    for surface, times in surfaces.items():
        found = words(surface)
        for word in found:
            spelled = seen if len(found) == 1 else within
            spelled.setdefault(stem(word), Counter())[surface if len(found) == 1 else word] += times
    return {stemmed: min(forms, key=lambda form: (-forms[form], form)) for stemmed, forms in (within | seen).items()}


def _grown(term: str, texts: Sequence[str]) -> str:
    """A term of a script without spaces, with the characters that are mostly beside it: pairs may end amid a word."""
    while has_cjk(term) and len(term) < MAX_RUN:
        beside = re.compile(f"(?=(.?){re.escape(term)}(.?))")
        matches = list(islice((match for text in texts for match in beside.finditer(text)), MOST_PLACES))
        before, after = (_mostly([match[side] for match in matches]) for side in (1, 2))
        if not before + after:
            break
        term = (before + term + after)[:MAX_RUN]
    return term


def _mostly(beside: Sequence[str]) -> str:
    """The character of a script without spaces that is at most of several places; else an empty text."""
    most, times = max(Counter(beside).items(), key=lambda one: one[1], default=("", 0))
    return most if times > 1 and times >= MOSTLY * len(beside) and most.isalpha() and has_cjk(most) else ""


def _joined(parts: Sequence[str]) -> str:
    """The parts of a term as they are written; in scripts without spaces, pairs of characters overlap by one."""
    if not all(map(has_cjk, parts)):
        return " ".join(parts)
    joined = parts[0]
    for part in parts[1:]:
        joined += part[1:] if joined[-1] == part[0] else part
    return joined
