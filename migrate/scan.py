"""What a reader finds in a folder: documents, and what it leaves out and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from memory_v2.files.listing import LeftOut


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """One document as it is to be kept.

    `name` is its file's name within the source, with `/`; it is told as the source of the page. `text` is the text to
    the letter, the front matter included; bytes that are not UTF-8 are kept as `tree.block.decode` keeps them.
    `place` is the path of the page that the document's place in the source asks for, before it is known whether it is
    free. `title` is what it is called: by its own heading, its front matter, or as its file. `description` and `day`
    are what the format says beside the text; empty if it says nothing. `links` are the names of other documents of this
    source that it refers to, in order, and `dead` the references that lead nowhere, as they are written. `notes` are
    sentences about what a person should look at. `source` is told as the source of the page instead of the name, if
    the format knows where the text came from.
    """

    name: str
    text: str
    place: str
    title: str = ""
    description: str = ""
    day: date | None = None
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""


TEXT = "markdown"
"""The format of a source that is of no other one."""


@dataclass(frozen=True)
class Scan:
    """Everything in a source: each file is one of the documents or left out."""

    format: str = TEXT
    documents: Sequence[SourceDocument] = ()
    left_out: Sequence[LeftOut] = field(default=())
