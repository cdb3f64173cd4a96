"""The lines that say most of what a text says: an older statement of it, if there is one, is among them."""

from __future__ import annotations

from memory_v2.operations.context import Context, refresh
from memory_v2.operations.operation import operation
from memory_v2.operations.results import SimilarLine
from memory_v2.text.words import plain

PLACES = 12
"""How many places are looked through: the older statement of a fact is among the first three of them, as a rule."""
LEAST_TOLD = 0.15
"""The least share of a text, its words weighed by rarity, that a line says to be like it. In the notes of two people
(`bench.personas`), 31 of 40 changes show the line that they change, and so do 3 of 10 notes that change nothing; with
.1 it is 34, and 6 of 10."""


@operation("similar")
def similar(context: Context, text: str) -> list[SimilarLine]:
    """The best line of each place that is like a text and does not stand in it, best first. No model is asked."""
    refresh(context)
    own = {plain(line) for line in text.splitlines()}
    lines = [
        (place, SimilarLine(hit.path, line.strip()))
        for place, hit in enumerate(context.index.recall(text, PLACES))
        for line in hit.text.splitlines()
        if plain(line) and plain(line) not in own
    ]
    shares = context.index.told(text, [(line.text, None) for _, line in lines]) if lines else []
    best: dict[int, tuple[float, SimilarLine]] = {}
    for (place, line), share in zip(lines, shares, strict=True):
        if share >= LEAST_TOLD and share > best.get(place, (0.0,))[0]:
            best[place] = share, line
    return [line for _, line in best.values()]
