"""Cutting a text into the pieces of words that the model knows: WordPiece, as in BERT without case."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

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
