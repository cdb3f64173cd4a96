"""What turns a text into vectors of its words, each in its context: MiniLM, from the package that carries it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from memory_v2.index.dense.installed import WrongModel, model_file
from memory_v2.text.lists import stopwords

FIRST, LAST, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
"""The pieces before and after every text, and the one for a word that cannot be put together."""

_VOCABULARY = Path(__file__).with_name("vocabulary.txt")  # that of BERT base uncased (Apache-2.0)
_LONGEST = 100
"""The characters of a word up to which it is cut into pieces, as in BERT."""
_WORD = re.compile(r"[!-/:-@\[-`{-~]|[^\s!-/:-@\[-`{-~]+")
_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f]")


@cache
def vocabulary() -> Mapping[str, int]:
    """The number of each piece; pieces that go on within a word begin with `##`."""
    return {piece: number for number, piece in enumerate(_VOCABULARY.read_text("utf-8").split("\n")[:-1])}


def word_pieces(text: str) -> list[int]:
    """The numbers of the pieces of a text."""
    return [number for word in _words(text) for number in _pieces(word)]


def _words(text: str) -> list[str]:
    plain = text.lower()
    if not plain.isascii():
        plain = "".join(map(_spaced, unicodedata.normalize("NFD", plain)))
    return _WORD.findall(plain)


@lru_cache(10_000)
def _spaced(char: str) -> str:
    """A character as words are cut: punctuation and ideographs are words of their own, accents are left out."""
    kind = unicodedata.category(char)
    if kind == "Mn" or char == "\ufffd" or (kind.startswith("C") and not char.isspace()):
        return ""
    return f" {char} " if kind.startswith("P") or _IDEOGRAPH.match(char) else char


@lru_cache(50_000)
def _pieces(word: str) -> tuple[int, ...]:
    """The longest pieces from the left."""
    known, pieces, start = vocabulary(), list[int](), 0
    while start < len(word) <= _LONGEST:
        mark = "##" if start else ""
        for end in range(len(word), start, -1):
            if (number := known.get(mark + word[start:end])) is not None:
                pieces.append(number)
                start = end
                break
        else:
            return (known[UNKNOWN],)
    return tuple(pieces) if len(word) <= _LONGEST else (known[UNKNOWN],)


Vectors = NDArray[np.int8]
"""A row of length 127 for each piece of a text that says something."""
Floats = NDArray[np.float32]

DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The SHA-256 of the model: all-MiniLM-L6-v2 (Apache-2.0), its weights stored in eight bits."""
MOST_PIECES = 256
"""The pieces of a text that are read; a longer one is cut. The model was trained with no more."""
DIMENSIONS = 96
"""How many numbers of a vector are kept of 384: with a byte for each, a piece takes 96 bytes instead of 1,536."""
PROJECTION = Path(__file__).with_name("projection.f2")
"""The directions that are kept, written by `bench/projection.py`."""


class Encoder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """The name of this way of encoding: vectors of another one are of no use."""

    @property
    def dimensions(self) -> int:
        """The length of a vector."""

    def encode(self, text: str, without: Collection[str] = ()) -> Vectors:
        """The vectors of a text, but none for the words `without`; always the same for the same text."""


class MiniLM:
    """The `Encoder` that is installed with the extra."""

    name = f"{DIGEST[:16]} {DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(self, session: onnxruntime.InferenceSession, projection: Floats) -> None:
        self._session = session
        self._projection = projection

    def encode(self, text: str, without: Collection[str] = ()) -> Vectors:
        """See `Encoder`."""
        pieces = word_pieces(text)[: MOST_PIECES - 2]
        left_out = {piece for word in without for piece in word_pieces(word)}
        telling = [place for place, piece in enumerate(pieces) if piece not in _silent()]
        kept = [place for place in telling if pieces[place] not in left_out] or telling
        found = piece_vectors(self._session, pieces)[kept] @ self._projection
        found *= 127 / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        vectors: Vectors = np.rint(found).astype(np.int8)
        return vectors


def piece_vectors(session: onnxruntime.InferenceSession, pieces: Collection[int]) -> Floats:
    """A vector of 384 numbers for each piece of a text. One text at a time, so that a vector does not depend on which
    texts it is made with."""
    known = vocabulary()
    numbers = np.array([[known[FIRST], *pieces, known[LAST]]], np.int64)
    given = {
        "input_ids": numbers,
        "attention_mask": np.ones_like(numbers),
        "token_type_ids": np.zeros_like(numbers),
    }
    [found] = session.run(["last_hidden_state"], given)
    vectors: Floats = np.asarray(found, np.float32)[0, 1:-1]
    return vectors


@cache
def _silent() -> frozenset[int]:
    """The pieces that say nothing of their own: stopwords, punctuation, and what is not known. On LoCoMo, leaving them
    out finds more than keeping them, in two fifths of the space."""
    return frozenset(
        number
        for piece, number in vocabulary().items()
        if piece in stopwords() or piece == UNKNOWN or not any(map(str.isalnum, piece))
    )


@cache
def load_encoder() -> MiniLM:
    """The encoder, loaded once in a process: 0.3 s, 200 MB. Raises `WrongModel` and `OSError`."""
    return MiniLM(load_session(), np.fromfile(PROJECTION, "<f2").astype(np.float32).reshape(-1, DIMENSIONS))


def load_session() -> onnxruntime.InferenceSession:
    """The model that is installed, in one thread: several wait for each other on texts as short as these. Raises
    `WrongModel` and `OSError`."""
    file = model_file()
    data = file.read_bytes()
    if (found := sha256(data).hexdigest()) != DIGEST:
        raise WrongModel(f"{file} is not the model that this version knows: its SHA-256 is {found}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
