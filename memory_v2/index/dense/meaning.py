"""Comparing the meaning of a question with that of places whose texts were encoded before."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence

import numpy as np

from memory_v2.index.dense.encoder import Encoder, Vectors
from memory_v2.index.dense.nearness import nearness
from memory_v2.index.dense.vectors import KnownVectors, key_of
from memory_v2.index.lookup import REACH, Found
from memory_v2.index.question import Question
from memory_v2.index.store import Store
from memory_v2.index.texts import Place
from memory_v2.progress import with_progress
from memory_v2.text.words import words

BATCH = 100
"""How many texts are encoded, in about a second, before their vectors are stored: then nobody has to do it again."""


class Meaning:
    """How near in meaning places are to a question. Each text is encoded once, when it is first considered."""

    def __init__(self, encoder: Encoder, store: Store) -> None:
        """`store` is where vectors are kept."""
        self._encoder = encoder
        self._known = KnownVectors(store, encoder.name)

    def asked(self, query: str, question: Question, found: Found, tables: sqlite3.Connection) -> Asked:
        """A question as it is asked about what was found in these tables."""
        return Asked(self, query, question, found, tables)

    def encode(self, texts: Collection[str]) -> None:
        """Encodes texts, with progress."""
        made: dict[int, bytes] = {}
        for text in with_progress(list(texts), "texts encoded"):
            made[key_of(text)] = self._encoder.encode(text).tobytes()
            if len(made) == BATCH:
                self._known.put(made)
                made = {}
        self._known.put(made)

    def of_question(self, query: str, question: Question) -> Vectors:
        """The vectors of a question, without the names of speakers: they would be found on every line."""
        return self._encoder.encode(query, {word for name in question.names for word in words(name)})

    def of_places(self, tables: sqlite3.Connection, places: Sequence[Place]) -> dict[int, Vectors]:
        """The vectors of places by id, as far as their texts were encoded."""
        keys = {place.id: key_of(place.text) for place in places}
        known = self._known.get(tables, keys.values())
        shape = (-1, self._encoder.dimensions)
        return {place: np.frombuffer(known[key], np.int8).reshape(shape) for place, key in keys.items() if key in known}


class Asked:
    """A question as it is asked about what was found. `lacking` are the texts that have to be encoded first."""

    def __init__(
        self, meaning: Meaning, query: str, question: Question, found: Found, tables: sqlite3.Connection
    ) -> None:
        self._meaning = meaning
        self._query = query
        self._question = question
        self._found = found
        self._tables = tables
        self.lacking: list[str] = []

    def nearness(self, considered: Sequence[Place]) -> dict[int, float]:
        """What its meaning adds to the score of each place, by id; nothing while texts are lacking."""
        near = {
            beside
            for place in considered
            for reach in [REACH if place.speaker is not None else 0]
            for beside in range(place.id - reach, place.id + reach + 1)
        }
        places = [self._found.places[place] for place in sorted(near & self._found.places.keys())]
        vectors = self._meaning.of_places(self._tables, places)
        self.lacking = sorted({place.text for place in places if place.id not in vectors})
        if self.lacking:
            return {}
        asked = self._meaning.of_question(self._query, self._question)
        return nearness(asked, considered, places, vectors)
