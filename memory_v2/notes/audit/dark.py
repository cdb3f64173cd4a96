"""Notes that are there, and that nobody finds: a search for its own rarest words does not return the note."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from memory_v2.notes.audit.finding import Finding
from memory_v2.notes.audit.material import Material
from memory_v2.notes.note import Note

LONGEST_WORD = 60
"""How long a word may be that somebody searches for, in characters."""
RARE = 5
"""In how many notes a word is at most that is rare."""
ASKED = 5
"""How many of the rarest words of a note are searched for."""


def dark(material: Material) -> Iterator[Finding]:
    """Notes that a search for their own words does not find. One without a rare word is like others, and not dark."""
    if material.search is None:
        return
    words = {note.name: _words(material, note) for note in material.notes}
    notes_with = Counter(word for own in words.values() for word in own)
    for note in material.notes:
        rare = (word for word in words[note.name] if notes_with[word] <= RARE)
        rarest = sorted(rare, key=lambda word: (notes_with[word], -len(word), word))[:ASKED]
        if rarest and note.name not in material.search(" ".join(rarest)):
            message = f"a search for {' '.join(rarest)!r} does not find this note"
            yield Finding("dark", note.name, 1, message, "", day=note.day)


def _words(material: Material, note: Note) -> frozenset[str]:
    """The words of a note that somebody may search for. The list of children of a page is none of its text."""
    found = (word for item in note.said for word in material.words(item))
    return frozenset(word for word in found if len(word) <= LONGEST_WORD and not word.isdigit())
