"""The identity of a line: it stays the same when the line moves, or when a page that it links to is renamed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

from memory_v2.text.words import normal

_LINK = re.compile(r"\[\[[^\[\]|\r\n]*(?:\\?\|([^\[\]\r\n]*))?\]\]")


@lru_cache(20_000)
def line_id(line: str) -> int | None:
    """A number made from the words of a line, without its markers and spacing and without the targets of its links;
    `None` if it has no words. It fits into 64 bits."""
    plain = normal(_LINK.sub(lambda link: link[1] or "", line.removeprefix("\ufeff")))
    if not plain:
        return None
    return int.from_bytes(blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)


def line_ids(lines: Iterable[str]) -> tuple[int, ...]:
    """The ids of the lines that have words, each once."""
    return tuple(dict.fromkeys(found for line in lines if (found := line_id(line)) is not None))
