"""How near in meaning places are to a question: word by word, with the places around each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_v2.index.dense.encoder import Vectors
from memory_v2.index.lookup import REACH
from memory_v2.index.texts import Place

_ROWS = 256
"""How many vectors are compared in one step: so few that it stays in one thread. Several would wait for each other."""
_FARTHEST = -1.0
"""How near a word of the question is to a place without words."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each nearness: of a place alone, with the one before it, and with `REACH` on each side. Fitted and
    rounded; `docs/measured.md` says on what and how."""

    own: float
    near: float = 0.0
    wide: float = 0.0


TALK = Weights(own=5.0, near=6.0, wide=14.0)
"""In a conversation, what is meant stands in the turns around, too."""
NOTE = Weights(own=0.5)
"""Notes can be read on their own: the places around them are not even encoded. A larger weight brings the right note
among the best three more often, but to the top less often."""


def nearness(
    asked: Vectors, considered: Sequence[Place], places: Sequence[Place], vectors: Mapping[int, Vectors]
) -> dict[int, float]:
    """What its meaning adds to the score of each place that is considered: 0 for one as near as they are on average.
    `asked` are the vectors of the question, `places` are those around them too, in order, and `vectors` theirs."""
    if not (len(asked) and considered):
        return {}
    row = {place.id: number for number, place in enumerate(places)}
    best = _best(asked, [vectors[place.id] for place in places])
    chosen = [row[place.id] for place in considered]
    windows = [best, _with_those_around(best, places, 1, 0), _with_those_around(best, places, REACH, REACH)]
    means = np.stack([window[chosen].mean(1) for window in windows], 1)
    weights = [TALK if places[number].speaker is not None else NOTE for number in chosen]
    weighted = (means - means.mean(0)) * np.array([[w.own, w.near, w.wide] for w in weights])
    return {place.id: added for place, added in zip(considered, weighted.sum(1).tolist(), strict=True)}


def _best(asked: Vectors, vectors: list[Vectors]) -> NDArray[np.float32]:
    """For each place and each word of the question, how near the nearest word of the place is, from -1 to 1."""
    stacked, wanted = np.concatenate(vectors), asked.astype(np.float32).T / np.float32(127 * 127)
    parts = range(0, max(len(stacked), 1), _ROWS)
    compared = np.concatenate([stacked[start : start + _ROWS].astype(np.float32) @ wanted for start in parts])
    best = np.full((len(vectors), len(asked)), _FARTHEST, np.float32)
    starts = np.cumsum([0, *(len(one) for one in vectors)])
    filled = [number for number, one in enumerate(vectors) if len(one)]
    if filled:
        best[filled] = np.maximum.reduceat(compared, starts[filled], axis=0)
    return best


def _with_those_around(
    best: NDArray[np.float32], places: Sequence[Place], before: int, after: int
) -> NDArray[np.float32]:
    """The same of each place read together with the places before and after it under the same heading."""
    wide = best.copy()
    numbers = np.array([(place.page, place.run, place.id) for place in places])
    for step in [*range(-before, 0), *range(1, after + 1)]:
        beside = np.clip(np.arange(len(places)) + step, 0, len(places) - 1)
        is_beside = (numbers[beside] - numbers == (0, 0, step)).all(1)
        wide[is_beside] = np.maximum(wide, best[beside])[is_beside]
    return wide
