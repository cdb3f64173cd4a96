"""Where sentences and clauses end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memory_v2.text.words import matcher

_LINE_END = r"(?:\r\n|\r|\n)"
_PARAGRAPH_END = rf"{_LINE_END}[ \t]*+{_LINE_END}\s*+|{_LINE_END}(?=[ \t]*+(?:[-*+>#|]|\d+[.)]\s))"
# Each run of marks is tried once, at its first mark: tried at every mark, a line of dots takes quadratic time.
_SENTENCE_END = re.compile(rf"(?<![.!?…])[.!?…]++[\"'”’)\]]*+\s++|(?<![。！？])[。！？]++[」』”’）]*+|{_PARAGRAPH_END}")
_PART_END = rf"[.!?…][\"'”’)\]]*+\s|[。！？]|[:;]\s|[：；]|\s[-–—]\s|{_PARAGRAPH_END}"
_CLAUSE_END = rf"{_PART_END}|,\s|[，、]|[()（）]"


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, each with the blanks behind it: together they are the text. A sentence goes on behind a
    line end, unless a blank line or the mark of a list, a heading, a quote or a table follows."""
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    if start < len(text):
        yield text[start:]


def clauses(text: str, *, at_commas: bool = True) -> list[str]:
    """The parts of the sentences of a text between colons, semicolons and dashes; also between commas and brackets,
    unless told otherwise. Without the marks that divide them."""
    return [part for part in matcher(_CLAUSE_END if at_commas else _PART_END).split(text) if part.strip()]
