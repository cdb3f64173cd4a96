"""The meaning of a whole text as one vector: the middle of the vectors of its pieces."""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from memory_v2.index.dense.encoder import MOST_PIECES, load_session, piece_vectors, word_pieces

_session = cache(load_session)


@lru_cache(10_000)  # 30 MB; a split asks for the same texts as the one before it
def sentence_vector(text: str) -> tuple[float, ...]:
    """384 numbers, of length 1. Raises `WrongModel` and `OSError` if the model cannot be loaded."""
    found = piece_vectors(_session(), word_pieces(text)[: MOST_PIECES - 2] or [0]).mean(axis=0)
    return tuple((found / max(float(np.linalg.norm(found)), 1e-9)).tolist())
