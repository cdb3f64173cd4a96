"""The text of a file, whatever its bytes are. What cannot be read as text is left out, with the reason."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from memory_v2.files.listing import LeftOut, SourceFile
from memory_v2.tree.block import decode

_WIDE = (  # UTF-32 first: its mark begins with that of UTF-16
    ("UTF-32", codecs.BOM_UTF32_LE),
    ("UTF-32", codecs.BOM_UTF32_BE),
    ("UTF-16", codecs.BOM_UTF16_LE),
    ("UTF-16", codecs.BOM_UTF16_BE),
)
_PLACEHOLDER = re.compile("[\udc80-\udcff]")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file, and sentences about what a person should look at. A byte order mark is no part of it."""

    text: str
    notes: tuple[str, ...] = ()


def read_text(file: SourceFile) -> Decoded | LeftOut:
    """The text of a file to the letter: UTF-8, or what the byte order mark says. Bytes that are not UTF-8 are kept as
    `tree.block.decode` keeps them."""
    data = read_data(file)
    return data if isinstance(data, LeftOut) else decode_text(file.name, data)


def read_data(file: SourceFile) -> bytes | LeftOut:
    """The bytes of a file."""
    try:
        return file.path.read_bytes()
    except OSError as error:
        return LeftOut(file.name, f"it cannot be read: {error.strerror}")


def decode_text(name: str, data: bytes) -> Decoded | LeftOut:
    """The text of the bytes of a file, as `read_text` reads it."""
    for encoding, mark in _WIDE:
        if data.startswith(mark):
            return _widely_encoded(name, data, encoding)
    text = decode(data.removeprefix(codecs.BOM_UTF8))
    if "\0" in text:
        return LeftOut(name, "binary data, and no text")
    if not text.strip():
        return _empty(name)
    if not _PLACEHOLDER.search(text):
        return Decoded(text)
    broken = [number for number, line in enumerate(_LINE_END.split(text), 1) if _PLACEHOLDER.search(line)]
    lines = f"line {broken[0]}" if len(broken) == 1 else f"{len(broken)} lines, the first is line {broken[0]}"
    return Decoded(text, (f"bytes that are not UTF-8, kept as they are: {lines}",))


def _widely_encoded(name: str, data: bytes, encoding: str) -> Decoded | LeftOut:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return LeftOut(name, f"it begins as {encoding}, and cannot be decoded as that")
    if "\0" in text:
        return LeftOut(name, "binary data, and no text")
    return Decoded(text, (f"{encoding}, kept as UTF-8",)) if text.strip() else _empty(name)


def _empty(name: str) -> LeftOut:
    return LeftOut(name, "an empty file", is_expected=True)
