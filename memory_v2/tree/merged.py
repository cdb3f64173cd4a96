"""Pages of which a merge, such as git's, has left two versions of a place between marks.

The text is a person's to decide. The two sections that the program writes are not: it brings their versions together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_v2.tree.block import split_lines
from memory_v2.tree.page import Page, parse_page
from memory_v2.tree.path import link_key

_MARK = re.compile(r"(?:<{7}|>{7}) |={7}(?=[\r\n]|\Z)|\|{7}(?=[ \r\n])")
_OF_EACH_CHANGE = {"last_updated", "size_bytes"}
"""The keys of `## Metadata` that differ on two sides whatever was changed."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A place of which a merge has left versions, at a position in the text: the `sides` are ours, the one before both
    if it is told, and theirs; the `marks` are the lines around them."""

    place: int
    sides: tuple[str, ...]
    marks: tuple[str, ...]

    @property
    def text(self) -> str:
        """The place as it is on the page, with its marks."""
        return self.between(self.sides)

    def between(self, sides: Sequence[str]) -> str:
        """These sides between the marks."""
        return "".join(mark + side for mark, side in zip(self.marks, (*sides, ""), strict=True))


@dataclass(frozen=True, slots=True)
class Merged:
    """A page with conflicts in the program's sections: the page without them, or `None` if a person must decide, and
    the positions of those conflicts. In the `gone` ones there is nothing else; of the others the text stays."""

    page: Page | None
    places: tuple[int, ...]
    gone: frozenset[int]


def conflicts(text: str) -> Iterator[Conflict]:
    """The conflicts in a text, in order."""
    return (piece for piece in _pieces(text) if isinstance(piece, Conflict)) if "<<<<<<< " in text else iter(())


def tidied(page: Page) -> Page:
    """The page with its sections in order at the end: their conflicts are settled, and text below them is moved above
    them. The page itself if it is so already, or if a person must settle a conflict first."""
    if (merged := merged_sections(page)) is None:
        return page.gathered()
    return merged.page.gathered() if merged.page else page


def is_torn(page: Page) -> bool:
    """Whether there is a conflict in the program's sections that a person must settle."""
    return (merged := merged_sections(page)) is not None and merged.page is None


def merged_sections(page: Page) -> Merged | None:
    """The conflicts in the program's sections of a page; `None` if there are none."""
    pieces = _pieces(page.text) if "<<<<<<< " in page.text else []
    found = [piece for piece in pieces if isinstance(piece, Conflict)]
    if not found:
        return None
    ours, theirs = (
        parse_page(page.path, "".join(piece if isinstance(piece, str) else piece.sides[side] for piece in pieces))
        for side in (0, -1)
    )
    body, touched, gone = _apart(pieces, len(ours.body), len(theirs.body))
    if not touched:
        return None
    is_clear = body is not None and not ours.is_misplaced and not theirs.is_misplaced
    settled = _together(ours, theirs, body) if is_clear and body is not None else None
    return Merged(settled, tuple(touched), frozenset(gone))


def _pieces(text: str) -> list[str | Conflict]:
    """The lines of a text, and the conflicts between them."""
    pieces: list[str | Conflict] = []
    marks: list[str] = []
    sides: list[str] = []
    place = start = 0
    opened = 0
    for line in split_lines(text):
        mark = _MARK.match(line)
        kind = line[0] if mark else ""
        pieces.append(line)
        if kind == "<":
            marks, sides, start, opened = [line], [""], place, len(pieces) - 1
        elif marks and ((kind == "|" and len(marks) == 1) or (kind == "=" and marks[-1][0] in "<|")):
            marks.append(line)
            sides.append("")
        elif marks and kind == ">" and marks[-1][0] == "=":
            pieces[opened:] = [Conflict(start, tuple(sides), (*marks, line))]
            marks = []
        elif marks:
            sides[-1] += line
        place += len(line)
    return pieces


def _apart(pieces: Sequence[str | Conflict], ours: int, theirs: int) -> tuple[str | None, list[int], list[int]]:
    """The body of a page of which our body and theirs have these lengths, with its conflicts; `None` if no one can tell
    where it ends. Then the positions of the conflicts that reach below it, and of those of which it has nothing."""
    body, is_clear = "", True
    touched, gone = [], []
    for piece in pieces:
        sides = piece.sides if isinstance(piece, Conflict) else (piece, piece)
        cut = [sides[0][: max(ours, 0)], *sides[1:-1], sides[-1][: max(theirs, 0)]]
        ours, theirs = ours - len(sides[0]), theirs - len(sides[-1])
        if isinstance(piece, str):
            is_clear = is_clear and cut[0] == cut[-1]
            body += cut[0]
        elif tuple(cut) == sides:
            body += piece.text
        else:
            touched.append(piece.place)
            if cut[0] == cut[-1]:
                gone.append(piece.place)
                body += cut[0]
            else:
                body += piece.between([cut[0], *(parse_page("", side).body for side in cut[1:-1]), cut[-1]])
    return body if is_clear else None, touched, gone


def _together(ours: Page, theirs: Page, body: str) -> Page | None:
    """The page with this body and the sections of both sides: each child once, as the newer side describes it, and each
    key. `None` if a key has two values of which nobody can tell the right one."""
    if ours.last_updated is None or theirs.last_updated is None:
        return None
    older, newer = sorted((theirs, ours), key=lambda side: str(side.last_updated))
    assert newer.last_updated is not None
    both = older.properties.keys() & newer.properties.keys() - _OF_EACH_CHANGE
    if any(older.properties[key] != newer.properties[key] for key in both):
        return None
    listed = {link_key(child.target) for child in newer.children}
    missing = {key: child.line for child in older.children if (key := link_key(child.target)) not in listed}
    only = {key: value for key, value in older.properties.items() if key not in newer.properties}
    links = newer.links or older.links
    page = replace(newer, body=body, links=links)
    page = (page.with_lines(missing.values()) if newer.links else page).stamped(newer.last_updated, **only)
    return page if (stored := parse_page(page.path, page.text)).body == page.body and stored.metadata else None
