"""How near in meaning places are to a question: the cosines of their vectors, all compared by one matrix product. The
vectors are made by the universal sentence encoder, from the package that carries it.

A text has a vector of its own and one for each of its sentences. They are kept by the text, so a text that moves to
another page keeps them.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from importlib import import_module
from itertools import islice
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory_v2.index.dense.installed import PACKAGE, WrongModel, model_file
from memory_v2.index.places import KINDS, Kind, StoredPassage, packed, packed_rows, read_places
from memory_v2.index.postings import Only
from memory_v2.index.rows import key_of, spoken
from memory_v2.index.store import IndexStore
from memory_v2.index.tables import CachedValue
from memory_v2.progress import with_progress
from memory_v2.text.days import unmarked
from memory_v2.text.words import sentences

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


MOST_SENTENCES = 12
"""How many sentences of a text have a vector of their own."""
SHORTEST = 9
"""The shortest sentence, in characters, that has one."""
PROPOSED = 100
"""How many places are proposed because their meaning is near."""
BATCH = 50
"""How many texts are encoded, in about a second, before their vectors are stored: then nobody has to do it again."""
_ROWS = 1024
"""How many vectors are compared in one step: numbers of eight bits have to be made floats for it."""


def units(text: str) -> list[str]:
    """What of a text has a vector: all of it, then each of its sentences if there are several."""
    parts = (unmarked(sentence).strip() for sentence in sentences(text))
    whole = text.strip()
    return [whole, *islice((part for part in parts if len(part) >= SHORTEST and part != whole), MOST_SENTENCES)]


class _Held:
    """Vectors in memory, those of one text after the other. It is replaced, never modified: other threads read it."""

    def __init__(self, numbers: Mapping[int, int], starts: NDArray[np.int64], rows: NDArray[np.int8]) -> None:
        self.numbers, self.starts, self.rows = numbers, starts, rows

    def also(self, found: Mapping[int, bytes], dimensions: int) -> _Held:
        """The same with the vectors of further texts, by key."""
        parts = [np.frombuffer(data, np.int8).reshape(-1, dimensions) for data in found.values()]
        starts = len(self.rows) + np.cumsum([0, *(len(part) for part in parts[:-1])])
        numbers = {key: number for number, key in enumerate(found, len(self.numbers))}
        rows = np.concatenate([self.rows.reshape(-1, dimensions), *parts])
        return _Held({**self.numbers, **numbers}, np.concatenate([self.starts, starts]), rows)

    def cosines(self, asked: Vector) -> NDArray[np.float32]:
        """How near each text is to a question: the nearest of its vectors."""
        wanted = asked.astype(np.float32) / (127 * 127)
        steps = range(0, len(self.rows), _ROWS)
        near = np.concatenate([self.rows[start : start + _ROWS].astype(np.float32) @ wanted for start in steps])
        return np.maximum.reduceat(near, self.starts)


class _Places:
    """The places of a kind that have a meaning: their ids, and the keys of their texts."""

    def __init__(self, tables: sqlite3.Connection, kind: Kind) -> None:
        rows = packed_rows(tables, ("id", "meaning"), f"FROM {kind}passages WHERE meaning IS NOT NULL ORDER BY id", {})
        self.ids, self.keys = [place for place, _ in rows], [key for _, key in rows]


class Meaning:
    """Encodes texts and compares them with questions, in any number of threads."""

    def __init__(self, encoder: Encoder, store: IndexStore) -> None:
        """`store` is where vectors are kept."""
        self._encoder = encoder
        self._store = store
        self._lock = threading.Lock()
        self._held = _Held({}, np.zeros(0, np.int64), np.zeros((0, encoder.dimensions), np.int8))
        self._places = {kind: CachedValue(partial(_Places, kind=kind), kind=kind) for kind in KINDS}

    def lacking(self, tables: sqlite3.Connection) -> list[str]:
        """Some of the texts that have no vector yet; empty if all have one."""
        wanted: dict[int, int] = {}
        for kind in KINDS:
            places = self._places[kind].of(tables)
            known = self._read(tables, places).numbers
            new = ((key, place) for place, key in zip(places.ids, places.keys, strict=True) if key not in known)
            wanted |= dict(islice(new, BATCH))
        return [spoken(place) for place in read_places(tables, wanted.values()).values()]

    def encode(self, texts: Sequence[str], until: float = inf) -> None:
        """Encodes texts, with progress, and stores their vectors; not all of them if the clock `time.monotonic` shows
        more than `until`."""
        made: dict[int, bytes] = {}
        for text in with_progress(texts, "texts encoded"):
            made[key_of(text)] = np.stack([self._encoder.encode(unit) for unit in units(text)]).tobytes()
            if time.monotonic() > until:
                break
        self._store.run(partial(self._write, made))

    def ask(self, tables: sqlite3.Connection, query: str, names: Collection[str]) -> VectorScores:
        """What the meaning of a question says of the places in these tables. Those whose `names` it has say `I`."""
        asked = self._encoder.encode(_as_they_say(query, names))
        found: dict[Kind, _Compared] = {}
        for kind in KINDS:
            places = self._places[kind].of(tables)
            held = self._read(tables, places)
            known = [
                (one, held.numbers[key])
                for one, key in zip(places.ids, places.keys, strict=True)
                if key in held.numbers
            ]
            if known:
                ids, numbers = np.array(known, np.int64).T
                found[kind] = _Compared(ids, held.cosines(asked)[numbers], numbers, held)
        return VectorScores(tables, found)

    def _read(self, tables: sqlite3.Connection, places: _Places) -> _Held:
        """The vectors in memory, with those of these places as far as they are stored."""
        with self._lock:
            missing = {*places.keys} - self._held.numbers.keys()
            if missing and tables.execute("SELECT name FROM made_by").fetchall() == [(self._encoder.name,)]:
                source = "SELECT key, numbers FROM vectors WHERE key IN (SELECT value FROM json_each(?))"
                if found := dict(tables.execute(source, (packed(missing),))):
                    self._held = self._held.also(found, self._encoder.dimensions)
            return self._held

    def _write(self, made: Mapping[int, bytes]) -> None:
        with self._store.writing() as tables:
            if tables.execute("SELECT name FROM made_by").fetchall() != [(self._encoder.name,)]:
                tables.execute("DELETE FROM vectors")
                tables.execute("DELETE FROM made_by")
                tables.execute("INSERT INTO made_by VALUES (?)", (self._encoder.name,))
            tables.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", made.items())


@dataclass(frozen=True, slots=True)
class _Compared:
    """Places by id, in order, with the cosine of the nearest statement of each, and its number among what is held."""

    ids: NDArray[np.int64]
    statements: NDArray[np.float32]
    numbers: NDArray[np.int64]
    held: _Held


@dataclass(frozen=True, slots=True)
class VectorScores:
    """What the meaning of a question says of the places that have vectors."""

    tables: sqlite3.Connection
    found: Mapping[Kind, _Compared]

    def nearest(self, only: Only) -> list[int]:
        """The places of a kind that are nearest, among those that meet a condition."""
        if (compared := self.found.get(only.kind)) is None:
            return []
        scores = compared.statements
        if only.sql:
            source = f"FROM {only.kind}passages AS passages WHERE 1 {only.sql}"
            allowed = [place for [place] in packed_rows(self.tables, ("passages.id",), source, only.given)]
            scores = np.where(np.isin(compared.ids, allowed), scores, -inf)
        order = np.argsort(-scores, kind="stable")[:PROPOSED]
        return [int(compared.ids[number]) for number in order if scores[number] > -inf]

    def cosines(self, places: Collection[StoredPassage]) -> dict[int, float]:
        """How near these places are; those that have no vector are not among them."""
        near: dict[int, float] = {}
        for compared in self.found.values():
            ids = np.array([place.id for place in places], np.int64)
            at = np.minimum(np.searchsorted(compared.ids, ids), len(compared.ids) - 1)
            for place, number in zip(ids[compared.ids[at] == ids], at[compared.ids[at] == ids], strict=True):
                near[int(place)] = float(compared.statements[number])
        return near

    def alike(self, one: StoredPassage, other: StoredPassage) -> float | None:
        """How near two places are to each other, as the cosine of their whole texts; `None` if one has no vector."""
        texts = [
            compared.held.rows[compared.held.starts[compared.numbers[at]]].astype(np.float32) / 127
            for place in (one, other)
            for compared in self.found.values()
            if (at := np.searchsorted(compared.ids, place.id)) < len(compared.ids) and compared.ids[at] == place.id
        ]
        return float(texts[0] @ texts[1]) if len(texts) == 2 else None


def _as_they_say(query: str, names: Collection[str]) -> str:
    """A question with the names of speakers as they say it themselves: a name is on each of their lines, and in none of
    the vectors."""
    for name in names:
        query = re.sub(rf"\b{re.escape(name)}['’]s\b", "my", query, flags=re.I)
        query = re.sub(rf"\b{re.escape(name)}\b", "I", query, flags=re.I)
    return query
