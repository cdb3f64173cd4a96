"""Fits the projection of the word vectors of the extra `dense`: `python -m bench.projection`.

Vectors of 384 numbers are projected on the directions in which those of single words of the model's own vocabulary
differ most. Nobody's text is used, and the file is small enough to be carried."""

from __future__ import annotations

import numpy as np

from memory_v2.index.dense.encoder import DIMENSIONS, PROJECTION, load_session, piece_vectors, vocabulary

_WORDS = slice(0, 8000, 4)
"""Which whole words of four letters or more are taken; the vocabulary begins with the most frequent ones."""


def main() -> None:
    """Writes the file and prints how much of the vectors it keeps."""
    session = load_session()
    words = [number for piece, number in vocabulary().items() if piece.isalpha() and len(piece) > 3][_WORDS]
    vectors = np.concatenate([piece_vectors(session, [word]) for word in words])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    directions, lengths, _ = np.linalg.svd(vectors.T @ vectors)
    directions[:, :DIMENSIONS].astype("<f2").tofile(PROJECTION)
    print(f"{DIMENSIONS} directions keep {lengths[:DIMENSIONS].sum() / lengths.sum():.2f} of {len(words)} words")


if __name__ == "__main__":
    main()
