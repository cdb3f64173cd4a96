"""Folders of notes that the command line has named: their files, what an audit finds, and a note itself."""

from __future__ import annotations

from itertools import groupby

from memory_v2.errors import InvalidText, PageNotFound, UsageError
from memory_v2.files.decoding import decode_text
from memory_v2.files.listing import LeftOut
from memory_v2.notes.audit.findings import CODES
from memory_v2.notes.notes import Notes
from memory_v2.tree.block import parse_blocks
from memory_v2.view.markdown import parts_of, to_html
from memory_v2.view.visit import Visit
from memory_v2.view.web import Response

MOST_NOTES = 200
"""Notes that are listed at once."""
MOST_FINDINGS = 200
"""Findings of an audit that are listed at once."""


def folders(visit: Visit) -> Response:
    """The folders that there are."""
    return visit.show("notes", folders=[str(notes.folder) for notes in visit.subject.notes])


def index(visit: Visit, number: str) -> Response:
    """The notes of a folder: their size, their day, and what they begin with."""
    notes = _folder(visit, number)
    left_out = notes.refresh().left_out
    shown, place = visit.part(list(notes.all()), MOST_NOTES)
    return visit.show(
        "folder",
        number=number,
        folder=str(notes.folder),
        notes=shown,
        left_out=() if place["first"] else left_out[:MOST_NOTES],
        **place,
    )


def audit(visit: Visit, number: str) -> Response:
    """What an audit finds, the gravest first, by kind."""
    notes = _folder(visit, number)
    notes.refresh()
    done = notes.audit()
    shown, place = visit.part(done.findings, MOST_FINDINGS)
    kinds = [(CODES[code], list(findings)) for code, findings in groupby(shown, lambda finding: finding.code)]
    return visit.show("audit", number=number, folder=str(notes.folder), done=done, kinds=kinds, **place)


def note(visit: Visit, number: str, name: str) -> Response:
    """A note, rendered."""
    notes = _folder(visit, number)
    if name not in {known.name for known in notes.all()}:
        raise PageNotFound(name)
    read = decode_text(name, (notes.folder / name).read_bytes())
    if isinstance(read, LeftOut):
        raise InvalidText(f"{name} is no text: {read.reason}")
    parts = list(parts_of([block.text for block in parse_blocks(read.text)]))
    part = min(visit.number("part"), max(len(parts) - 1, 0))
    _, shown, is_piece = parts[part] if parts else (0, "", False)
    html = None if is_piece else to_html(shown, lambda key, heading: None)
    return visit.show(
        "note", number=number, name=name, html=html, piece=shown if is_piece else "", part=part, parts=len(parts)
    )


def _folder(visit: Visit, number: str) -> Notes:
    if int(number) >= len(visit.subject.notes):
        raise UsageError("there is no such folder of notes: name it with --notes when the page is started")
    return visit.subject.notes[int(number)]
