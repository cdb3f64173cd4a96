"""The choice to search by meaning. The model is loaded at the first search, and nothing of it before."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from memory_v2.index.dense.installed import HOW, WrongModel, missing
from memory_v2.index.store import IndexStore

if TYPE_CHECKING:
    from memory_v2.index.dense.meaning import Encoder, Meaning

logger = logging.getLogger(__name__)

WAITED = 2.0
"""How long a search encodes what has no vector yet, in seconds, at most."""
MANY = 50
"""From how many changed pages on their texts are encoded at once, with progress, and not by the next searches."""


class Dense:
    """Search by meaning, as chosen for one memory."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        """`encoder` is the one that is installed, unless given."""
        self._encoder = encoder
        self._lock = threading.Lock()
        self._loaded: Meaning | None = None
        self._sentences: Callable[[str], Sequence[float]] | None = None
        self.problem = ""
        """Why what is installed cannot be used, and what to do; else empty."""
        self.lacks_vectors = False
        """Whether the last search had no time to encode all texts."""

    @property
    def is_installed(self) -> bool:
        """Whether all that it takes is installed. Loads nothing."""
        return self._encoder is not None or not missing()

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._loaded is not None

    @property
    def not_by_meaning(self) -> str:
        """Why texts are found by words only, all of them or some, and what to do; else empty."""
        if self.lacks_vectors:
            return f"some texts are found by words only: each search encodes what has no vector yet for {WAITED:g} s"
        return self.problem

    def meaning(self, store: IndexStore) -> Meaning | None:
        """What compares meanings, and keeps vectors in this store; `None` if it is not installed, or,
        with a `problem`, if it cannot be loaded."""
        with self._lock:
            if self._loaded is None and (encoder := self._ready()) is not None:
                from memory_v2.index.dense.meaning import Meaning

                self._loaded = Meaning(encoder, store)
            return self._loaded

    def of_sentences(self) -> Callable[[str], Sequence[float]] | None:
        """What gives the vector of a whole text; `None` as for `meaning`."""
        with self._lock:
            if self._sentences is None and (encoder := self._ready()) is not None:
                # kept, as a split asks for the same texts as the one before it: 50 MB at most, as equal numbers are one
                encode, scaled = encoder.encode, {number: number / 127 for number in range(-127, 128)}
                self._sentences = lru_cache(10_000)(lambda text: [scaled[number] for number in encode(text).tolist()])
            return self._sentences

    def _ready(self) -> Encoder | None:
        if self._encoder is None and not self.problem and self.is_installed:
            try:
                from memory_v2.index.dense.meaning import load_encoder
            except ImportError as error:
                self.problem = f"searched by words only, as a package fails to load ({error}): {HOW}"
                return None
            try:
                self._encoder = load_encoder()
            except (OSError, WrongModel) as error:
                self.problem = f"searched by words only, as the model cannot be used ({error}): {HOW} --force-reinstall"
        return self._encoder

    def forget(self) -> None:
        """Forgets what is held in memory of the vectors, which were erased."""
        with self._lock:
            self._loaded = None
