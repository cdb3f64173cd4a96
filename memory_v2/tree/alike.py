"""Texts that are alike: copies, and copies that were changed a little.

Each text is the set of its words, and two texts are alike if they share at least `ALIKE` of all their words (the
Jaccard index). Texts that are alike share some of their rarest words, so only texts that do are compared; and a text is
compared with the first of each group only. So the time grows about as the number of texts does.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil

from memory_v2.text.words import content_words, normal
from memory_v2.tree.block import readable

ALIKE = 0.8
"""How much of their words two texts share at least to be alike."""
LEAST_WORDS = 8
"""How many different words a text has at least to be alike to another: shorter ones are the same, or are not."""
SHARED = 3
"""How many of their rarest words two texts share at least to be compared. More make it slower to find them; with fewer,
more texts are compared."""
MOST_COMPARED = 200
"""How many of the latest texts with a rare word are compared. Only where thousands of texts are made of the same words
are there more."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Texts that are alike, by number, and how much of their words the least alike shares with the first; 1.0 if they
    are the same but for marks, case and blanks."""

    members: tuple[int, ...]
    share: float


def alike(
    texts: Sequence[str],
    least_words: int = 0,
    words_of: Callable[[str], Iterable[str]] = content_words,
    least_share: float = ALIKE,
) -> list[Cluster]:
    """The groups of two and more texts, in the order of their first texts. Texts with fewer different words than
    `least_words` are in no group. `words_of` gives the content words of a text, for who has them already; `least_share`
    is how much of their words two texts share that are alike."""
    firsts: dict[str, int] = {}
    copies: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        if said := normal(readable(text)):
            copies.setdefault(firsts.setdefault(said, number), []).append(number)
    vocabulary: dict[str, int] = {}
    words: dict[int, tuple[int, ...]] = {}
    for number in copies:
        said_words = dict.fromkeys(words_of(readable(texts[number])))
        if len(said_words) >= least_words:
            words[number] = tuple(vocabulary.setdefault(word, len(vocabulary)) for word in said_words)
    groups = []
    for shares in _near(words, least_share).values():
        members = sorted(copy for number in shares for copy in copies[number])
        if len(members) > 1:
            groups.append(Cluster(tuple(members), min(shares.values())))
    return sorted(groups, key=lambda group: group.members)


def _near(words: Mapping[int, tuple[int, ...]], least: float) -> dict[int, dict[int, float]]:
    """For the first text of each group its members, itself included, and how much of their words each shares with it.
    Shorter texts come first, since a text can be alike only to texts of about its length."""
    counts = Counter(word for said in words.values() for word in said)
    groups: dict[int, dict[int, float]] = {}
    by_word: dict[int, deque[int]] = {}
    for number in sorted(words, key=lambda number: (len(words[number]), number)):
        size = len(words[number])
        by_rarity = sorted(words[number], key=lambda word: (counts[word], word))
        rare = by_rarity[: size - ceil(least * size) + SHARED] if size >= LEAST_WORDS else []
        shared = Counter(chain.from_iterable(by_word.get(word, ()) for word in rare))
        likely = [first for first, count in shared.items() if count >= SHARED and len(words[first]) >= least * size]
        said = frozenset(words[number])
        shares = [(_share(said, words[first]), -first) for first in likely]
        share, first = max(shares, default=(0.0, 0))
        if share >= least:
            groups[-first][number] = round(share, 2)
            continue
        groups[number] = {number: 1.0}
        for word in rare:
            by_word.setdefault(word, deque(maxlen=MOST_COMPARED)).append(number)
    return groups


def _share(said: frozenset[int], other: tuple[int, ...]) -> float:
    common = len(said.intersection(other))
    return common / (len(said) + len(other) - common)
