"""What turns a text into a vector of its meaning: the universal sentence encoder, from the package that carries it."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory_v2.index.dense.installed import PACKAGE, WrongModel, model_file

Vector = NDArray[np.int8]
"""The meaning of a text: its length is 127."""

DIGEST = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
"""The SHA-256 of the model: Google's multilingual universal sentence encoder, version 3 (Apache-2.0), in six bits."""
MOST_CHARACTERS = 2_000
"""The characters of a text that are read; a longer one is cut. Its sentences have vectors of their own."""


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name of this way of encoding: vectors of another one are of no use."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def encode(self, text: str) -> Vector:
        """The vector of a text; always the same for the same text."""


class SentenceEncoder:
    """The `Encoder` that is installed with the extra. It knows sixteen languages."""

    name = DIGEST[:16]
    dimensions = 512

    def __init__(self, model: Any) -> None:
        self._model = model

    def encode(self, text: str) -> Vector:
        """See `Encoder`. One text at a time, so that a vector does not depend on which texts it is made with."""
        found = np.asarray(self._model.encode(text[:MOST_CHARACTERS]), np.float32)
        vector: Vector = np.rint(found * (127 / max(float(np.linalg.norm(found)), 1e-9))).astype(np.int8)
        return vector


@cache
def load_encoder() -> SentenceEncoder:
    """The encoder, loaded once in a process: 1 s, 150 MB. It runs in one thread: several wait for each other on texts
    as short as these. Raises `WrongModel` and `OSError`."""
    file = model_file()
    if (found := sha256(file.read_bytes()).hexdigest()) != DIGEST:
        raise WrongModel(f"{file} is not the model that this version knows: its SHA-256 is {found}")
    encoder = SentenceEncoder(import_module(PACKAGE).USE(threads=1))
    encoder.encode("")  # which reads the model
    return encoder
