"""Texts as vectors that can be compared: by their telling words and, where it is installed, by their meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import TypeAlias

from memory_v2.models.offline.clusters import unit, weighted
from memory_v2.models.offline.naming import terms_of
from memory_v2.tree.block import readable

Meaning: TypeAlias = Callable[[str], Sequence[float]]
"""Gives the vector of a text, of length 1."""
WORDS_BESIDE_MEANING = 0.5
"""What the words count where there is a meaning too, relative to it. On the notes of two people, .3 and .7 put together
about as many notes of one subject."""


def vectors(texts: Sequence[str], meaning: Meaning | None) -> list[dict[str, float]]:
    """A vector for each text, to be compared with each other only."""
    told = weighted([Counter(term[0] for term in terms_of(readable(text)) if len(term) == 1) for text in texts])
    if meaning is None or not texts:
        return told
    meant = [meaning(text) for text in texts]
    middle = [sum(numbers) / len(meant) for numbers in zip(*meant, strict=True)]
    return [
        {term: WORDS_BESIDE_MEANING * weight for term, weight in words.items()}
        | unit({f"~{place}": one - all_ for place, (one, all_) in enumerate(zip(vector, middle, strict=True))})
        for words, vector in zip(told, meant, strict=True)
    ]


def middle_of(some: Sequence[dict[str, float]]) -> dict[str, float]:
    """The vector of some texts together."""
    sums = Counter[str]()
    for vector in some:
        sums.update(vector)
    return unit(sums)
