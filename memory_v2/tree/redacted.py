"""What the metadata of a page notes about its bytes, put right after a text was taken out of the page."""

from __future__ import annotations

import re
from functools import partial

from memory_v2.text.redaction import Redaction
from memory_v2.tree.block import decode, encode
from memory_v2.tree.headings import REPEATED, digest
from memory_v2.tree.page import Page, parse_page


def redacted(old: Page, text: str, redaction: Redaction) -> Page:
    """The page with this text, of which the `redaction` has taken something out: its metadata notes the new size, the
    size of the piece that it holds, and the headings that are repeated on it, as it did before."""
    new = parse_page(old.path, text)
    noted = {}
    if old.properties.get("size_bytes") == str(_above(old)):
        noted["size_bytes"] = str(_above(new))
    if old.piece is not None:
        left = len(encode(redaction.text(decode(old.piece_data))))
        noted["piece"] = f"{old.piece.number} of {old.piece.count}, {left} bytes of {old.piece.kind}"
    if REPEATED in old.properties and len(old.blocks) == len(new.blocks):
        digests = {digest(block): digest(left) for block, left in zip(old.blocks, new.blocks, strict=True)}
        noted[REPEATED] = " ".join(digests.get(one, one) for one in old.properties[REPEATED].split())
    metadata = new.metadata
    for key, value in noted.items():
        metadata = re.sub(rf"(?m)^({key}:[ \t]+)[^\r\n]*", partial(_with, value), metadata)
    return parse_page(old.path, new.body + new.links + metadata)


def _with(value: str, found: re.Match[str]) -> str:
    return found[1] + value


def _above(page: Page) -> int:
    return len(encode(page.body + page.links))
