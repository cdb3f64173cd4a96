"""The text of a file, whatever its bytes are. What cannot be read as text is left out, with the reason."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from memory_v2.files.left_out import LeftOut
from memory_v2.files.listing import SourceFile
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
    try:
        data = file.path.read_bytes()
    except OSError as error:
        return LeftOut(file.name, f"it cannot be read: {error.strerror}")
    for encoding, mark in _WIDE:
        if data.startswith(mark):
            return _widely_encoded(file, data, encoding)
    text = decode(data.removeprefix(codecs.BOM_UTF8))
    if "\0" in text:
        return LeftOut(file.name, "binary data, and no text")
    if not text.strip():
        return _empty(file)
    if not _PLACEHOLDER.search(text):
        return Decoded(text)
    broken = [number for number, line in enumerate(_LINE_END.split(text), 1) if _PLACEHOLDER.search(line)]
    lines = f"line {broken[0]}" if len(broken) == 1 else f"{len(broken)} lines, the first is line {broken[0]}"
    return Decoded(text, (f"bytes that are not UTF-8, kept as they are: {lines}",))


def _widely_encoded(file: SourceFile, data: bytes, encoding: str) -> Decoded | LeftOut:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return LeftOut(file.name, f"it begins as {encoding}, and cannot be decoded as that")
    if "\0" in text:
        return LeftOut(file.name, "binary data, and no text")
    return Decoded(text, (f"{encoding}, kept as UTF-8",)) if text.strip() else _empty(file)


def _empty(file: SourceFile) -> LeftOut:
    return LeftOut(file.name, "an empty file", is_expected=True)
