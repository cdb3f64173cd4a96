"""What a text costs grows with its length, whatever its form: twice the text takes less than three times as long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import process_time

import pytest

from memory_v2.models.offline.describing import is_aside, runs, sentences
from memory_v2.models.offline.naming import terms_of
from memory_v2.models.offline.outline import find_units, together
from memory_v2.notes.parsing import read_note
from memory_v2.operations.split import times_of
from memory_v2.text.kept import kept
from memory_v2.text.retelling import denied
from memory_v2.text.statement import Lines
from memory_v2.text.words import words
from memory_v2.tree.block import Block, parse_blocks
from memory_v2.tree.headings import Outline
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.source_lines import gathered
from memory_v2.tree.titles import heading_at

SIZE = 16_000
"""The length of the shorter text, in characters: quadratic, the longer one would take a second and more."""


def _lines_of(page: Page) -> list[int]:
    return [page.line_of(place) for place, _ in page.placed_blocks()]


def _imported(text: str) -> Page:
    return parse_page("log", f"# Log\n\n{text}\n## Metadata\n\nlast_updated: 2026-01-01\nsource: a.md\n")


FORMS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "dots": (".", lambda text: list(sentences(text))),
    "words of one letter and dots": ("a.", lambda text: list(sentences(text))),
    "dashes": ("a-", lambda text: list(sentences(text))),
    "marks that are out of order": ("\u0301\u0323", words),
    "open tags": ("<", terms_of),
    "open braces": ("{{", terms_of),
    "open templates": ("{% ", runs),
    "stars between words": ("*a,", lambda text: is_aside(text + "a")),
    "quote marks": ("> \n", lambda text: times_of(Block(text), "log")),
    "clauses": ("- key: value\n", lambda text: denied(text, text)),
    "rules": ("---\n", lambda text: Lines(text.split("\n")).statement(3, 4)),
    "headings": ("# a\n", lambda text: _lines_of(parse_page("log", text))),
    "lines that repeat": ("- a\n", lambda text: gathered(_imported(text[4:]), [_imported(text)])),
    "lines that lead in": ("- a:\n", lambda text: together(parse_page("log", text).blocks)),
    "numbered steps": (
        "1. a\n",
        lambda text: find_units(Outline(blocks := parse_blocks(text)), range(1, len(blocks) + 1), 50),
    ),
    "sections of a note": ("# a\nb\n", lambda text: read_note("a.md", text.encode())),
    "lines that change by turns": (
        "a\nb\nc\n",
        lambda text: kept(text.split("\n"), text.replace("b", "d").split("\n")),
    ),
    "blanks behind a heading": ("\t", lambda text: Block(f"# a{text}b", "heading", 1).words),
    "line ends above a heading": ("\r\n", lambda text: heading_at(Block(f"{text}a\r\n==\r\n", "heading", 1), 2)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_text_twice_as_long_takes_less_than_three_times_as_long(form: str) -> None:
    unit, read = FORMS[form]

    def time(size: int) -> float:
        text = unit * (size // len(unit))
        start = process_time()
        read(text)
        return process_time() - start

    read(unit)  # patterns are compiled, and modules loaded
    short = min(time(SIZE), time(SIZE - len(unit)))
    # What takes no time to speak of may grow by chance.
    assert min(time(2 * SIZE), time(2 * SIZE - len(unit))) < max(3 * short, 0.1)
