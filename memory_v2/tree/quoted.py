"""What the line by which a page is listed quotes of the page: clauses that stand there word for word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory_v2.text.words import words
from memory_v2.tree.block import readable

_CLAUSE_END = re.compile(r"[;；…]|:(?=\s)")


@dataclass(frozen=True, slots=True)
class Quotable:
    """The words of a page's text, in order."""

    words: str

    @classmethod
    def of(cls, text: str) -> Quotable:
        return cls(f" {' '.join(words(readable(text)))} ")

    def lacks(self, line: str) -> list[str]:
        """The clauses of a line that do not stand in the text word for word, each as its words."""
        clauses = (" ".join(words(clause)) for clause in _CLAUSE_END.split(readable(line)))
        return [clause for clause in clauses if clause and f" {clause} " not in self.words]

    def has(self, clause: str) -> bool:
        """Whether the words of a clause stand in the text, one after the other."""
        return f" {clause} " in self.words
