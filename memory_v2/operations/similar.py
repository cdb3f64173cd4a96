"""The lines that say most of what a text says: an older statement of it, if there is one, is among them."""

from __future__ import annotations

from memory_v2.agent.operation import operation
from memory_v2.operations.context import Context, refresh
from memory_v2.operations.results import SimilarLine
from memory_v2.text.words import plain

PLACES = 12
"""How many places are looked through: the older statement of a fact is among the first three of them, as a rule."""
MOST_SHOWN = 2
LEAST_TOLD = 0.15
"""How many lines are shown, and the least share of a text, its words weighed by rarity, that such a line says. In the
notes of two people (`bench.personas`), each on the page of its subject, 76 of 104 changes show a line about the
same thing, and so are .44 of the lines; if all of them were shown, 78 and .34."""


@operation("similar")
def similar(context: Context, text: str) -> list[SimilarLine]:
    """The two lines that are most like a text and do not stand in it, of different places, likest first."""
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
    likest = sorted(best.values(), key=lambda told: -told[0])
    return [line for _, line in likest[:MOST_SHOWN]]
