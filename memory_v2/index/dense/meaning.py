"""Comparing the meaning of a question with that of places: word by word, with the places around each. Texts are encoded
once, and their vectors are stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from memory_v2.index.dense.encoder import Encoder, Vectors
from memory_v2.index.lookup import REACH, Found
from memory_v2.index.places import Place, packed
from memory_v2.index.store import Store
from memory_v2.index.terms import Question
from memory_v2.progress import with_progress
from memory_v2.text.words import words

MOST_HELD = 20_000
"""How many texts' vectors are kept in memory: about 30 MB."""
MOST_STORED = 500_000
"""From how many texts' vectors on the table is begun anew, as most are then of texts that are no more: about 1 GB."""


def key_of(text: str) -> int:
    """The key of a text: a text that moves to another page keeps its vectors."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


class KnownVectors:
    """The vectors of texts by key, as bytes, for any number of threads and processes."""

    def __init__(self, store: Store, made_by: str) -> None:
        """`made_by` names the encoder: vectors of another one are discarded."""
        self._store = store
        self._made_by = made_by
        self._held: dict[int, bytes] = {}

    def get(self, tables: sqlite3.Connection, keys: Iterable[int]) -> dict[int, bytes]:
        """Those of these vectors that are known, from the tables of the index."""
        wanted, held = set(keys), self._held
        found = {key: held[key] for key in wanted & held.keys()}
        missing = wanted - found.keys()
        if missing and self._is_ours(tables):
            source = "FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
            read = dict(tables.execute(f"SELECT key, numbers {source}", (packed(missing),)))
            self._hold(read)
            found |= read
        return found

    def put(self, made: Mapping[int, bytes]) -> None:
        """Keeps vectors."""
        self._hold(made)
        self._store.run(lambda: self._write(made))

    def _hold(self, found: Mapping[int, bytes]) -> None:
        # Replaced, never modified: other threads read it.
        self._held = dict(found) if len(self._held) + len(found) > MOST_HELD else {**self._held, **found}

    def _write(self, made: Mapping[int, bytes]) -> None:
        with self._store.writing() as tables:
            [count] = tables.execute("SELECT count(*) FROM vectors").fetchone()
            if count > MOST_STORED or not self._is_ours(tables):
                tables.execute("DELETE FROM vectors")
                tables.execute("DELETE FROM made_by")
                tables.execute("INSERT INTO made_by VALUES (?)", (self._made_by,))
            tables.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", made.items())

    def _is_ours(self, tables: sqlite3.Connection) -> bool:
        return tables.execute("SELECT name FROM made_by").fetchall() == [(self._made_by,)]


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
