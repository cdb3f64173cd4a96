"""Documents, and a small stand-in for the run that brings them into a memory."""

from __future__ import annotations

from collections.abc import Sequence

from memory_v2.files.listing import LeftOut
from memory_v2.memory import Memory
from memory_v2.migrate.ledger import Imported, digest_of
from memory_v2.migrate.scan import Scan, SourceDocument
from memory_v2.tree.block import encode, readable


def document(name: str, text: str, place: str = "") -> SourceDocument:
    return SourceDocument(name, text, place or name.removesuffix(".md"))


def scan_of(*documents: SourceDocument, left_out: Sequence[LeftOut] = ()) -> Scan:
    return Scan("markdown", documents, left_out)


def brought(memory: Memory, scan: Scan) -> dict[str, Imported]:
    """Brings each document to its page, to the letter."""
    return {one.name: brought_one(memory, one) for one in scan.documents}


def brought_one(memory: Memory, one: SourceDocument) -> Imported:
    if not memory.storage.exists(one.place):
        memory.create(one.place, "# New")
    if one.text == readable(one.text):
        memory.write(one.text, path=one.place, mode="replace", source=one.name)
    else:
        memory.storage.write(one.place, encode(one.text))
    return Imported(digest_of(one.text), one.place, last_operation(memory))


def last_operation(memory: Memory) -> str:
    return next(iter(memory.storage.history.revisions())).operation
