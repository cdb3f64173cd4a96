"""What searches are compared with: plain full text and grep over a list of texts."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

from memory_v2.text.lists import stopwords
from memory_v2.text.words import words

Baseline: TypeAlias = Callable[[str, int], list[int]]
"""Finds texts for a question: the numbers of at most so many, from 0, best first."""


def full_text(texts: Sequence[str]) -> Baseline:
    """SQLite's full text (FTS5, bm25, Porter stems): any word of the question except stopwords."""
    search = scored(texts)
    return lambda question, limit: [number for number, _ in search(question, limit)]


def scored(texts: Sequence[str]) -> Callable[[str, int], list[tuple[int, float]]]:
    """The same, each with its score: more is better."""
    table = sqlite3.connect(":memory:")
    table.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter unicode61')")
    rows = [(text.encode("utf-8", "replace").decode(),) for text in texts]
    table.executemany("INSERT INTO texts (text) VALUES (?)", rows)

    def search(question: str, limit: int) -> list[tuple[int, float]]:
        asked = [word for word in re.findall(r"\w+", question.casefold()) if word not in stopwords()]
        match = " OR ".join(f'"{word}"' for word in asked)
        sql = "SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank, rowid LIMIT ?"
        return [(row - 1, -rank) for row, rank in table.execute(sql, (match, limit))] if match else []

    return search


def grep(texts: Sequence[str]) -> Baseline:
    """Those with the line that has most words of the question, in the order of the texts."""
    lines = [[line.casefold() for line in text.splitlines()] for text in texts]

    def search(question: str, limit: int) -> list[int]:
        asked = {word for word in words(question) if word not in stopwords()}
        best = [max((sum(word in line for word in asked) for line in text), default=0) for text in lines]
        found = sorted((number for number, count in enumerate(best) if count), key=lambda number: -best[number])
        return found[:limit]

    return search
