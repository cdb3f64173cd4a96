"""What turns a text into a vector of its meaning: MiniLM, from the package that carries it."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from memory_v2.index.dense.installed import WrongModel, model_file
from memory_v2.text.words import composed

if TYPE_CHECKING:
    import onnxruntime

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
        plain = "".join(map(_spaced, composed(plain, "NFD")))
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


Vector = NDArray[np.int8]
"""The meaning of a text: its length is 127."""

DIGEST = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""The SHA-256 of the model: all-MiniLM-L6-v2 (Apache-2.0), its weights stored in eight bits."""
MOST_PIECES = 256
"""The pieces of a text that are read; a longer one is cut. The model was trained with no more."""


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


class MiniLM:
    """The `Encoder` that is installed with the extra: the mean of the vectors of all pieces."""

    name = DIGEST[:16]
    dimensions = 384

    def __init__(self, session: onnxruntime.InferenceSession) -> None:
        self._session = session

    def encode(self, text: str) -> Vector:
        """See `Encoder`. One text at a time, so that a vector does not depend on which texts it is made with."""
        known = vocabulary()
        numbers = np.array([[known[FIRST], *word_pieces(text)[: MOST_PIECES - 2], known[LAST]]], np.int64)
        given = {
            "input_ids": numbers,
            "attention_mask": np.ones_like(numbers),
            "token_type_ids": np.zeros_like(numbers),
        }
        [found] = self._session.run(["last_hidden_state"], given)
        mean = np.asarray(found, np.float32)[0].mean(0)
        vector: Vector = np.rint(mean * (127 / max(float(np.linalg.norm(mean)), 1e-9))).astype(np.int8)
        return vector


@cache
def load_encoder() -> MiniLM:
    """The encoder, loaded once in a process: 0.3 s, 200 MB. It runs in one thread: several wait for each other on texts
    as short as these. Raises `WrongModel` and `OSError`."""
    file = model_file()
    data = file.read_bytes()
    if (found := sha256(data).hexdigest()) != DIGEST:
        raise WrongModel(f"{file} is not the model that this version knows: its SHA-256 is {found}")
    runtime = import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return MiniLM(runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"]))


def import_runtime() -> ModuleType:
    """onnxruntime, which else begins at its import to tell its maker about this machine."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return import_module("onnxruntime")
