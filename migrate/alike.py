"""Which documents are much like a page, or like another document: a model then works them in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from memory_v2.migrate.source import SourceDocument
from memory_v2.text.words import normal

LEAST = 20
"""The least length of a line that tells something of a text, in characters: shorter ones stand in many."""
SHARED = 0.5
"""The share of its lines that a document has in common with what it is much like."""
COMMON = 20
"""In how many texts a line stands at most that tells something: one of a template stands in more."""


def alike(documents: Sequence[SourceDocument], pages: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The page, or else the document earlier in the list, that each document is much like; its time grows with the
    texts, not with their pairs."""
    having: dict[str, list[str]] = {}
    for path, text in pages:
        for line in _lines(text):
            having.setdefault(line, []).append(path)
    found: dict[str, str] = {}
    for document in documents:
        lines = _lines(document.text)
        shared = Counter(one for line in lines for one in having.get(line, ()) if len(having[line]) <= COMMON)
        best = max(shared, key=lambda one: (shared[one], one), default="")
        if best and shared[best] >= SHARED * len(lines):
            found[document.name] = best
        for line in lines:
            having.setdefault(line, []).append(document.name)
    return found


def _lines(text: str) -> set[str]:
    return {line for line in map(normal, text.splitlines()) if len(line) >= LEAST}
