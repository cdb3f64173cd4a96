"""Whether what was pending, or a problem, is over: a ticked box, `✅`, struck out words, `done`."""

from __future__ import annotations

import re

from memory_v2.notes.note import Item
from memory_v2.notes.packs import bare, pattern, says

REACH = 16
"""How many characters before `done` are looked at for a `not`."""
_STRUCK = re.compile(r"[\W_]*~~.+~~[\W_]*", re.S)
_STRUCK_FIRST = re.compile(r"[\W_]*~~(.+?)~~", re.S)
_TICKED = re.compile(r"^[\W_]*[✅☑✔]|[✅☑✔]\ufe0f?[\W_]*$")
_SUPERSEDED = re.compile(r"\[superseded[|\]]|^\W*superseded\b", re.I)
"""As ClawVault marks what it has replaced, and as people begin such a line."""
_NOT = re.compile(r"\b(?:not|n't|never|yet|nicht|noch|no|nao|ainda|pas|aun|todavia)\b|[未没不]|n't")


def is_closed(item: Item) -> bool:
    """Whether an item says that it is over, or its heading does."""
    if item.is_done:
        return True
    if is_struck(item) or _TICKED.search(item.text):
        return True
    words = bare(item.text)
    if says(words, "closed", "words") and any(
        not _NOT.search(words[max(0, found.start() - REACH) : found.start()]) for found in _closings(words)
    ):
        return True
    above = (*item.headings[-1:], *item.leads)
    return any(_TICKED.search(words) or says(bare(words), "closed", "headings") for words in above)


def is_struck(item: Item) -> bool:
    """Whether all of an item is struck out."""
    return _STRUCK.fullmatch(item.text) is not None


def struck_part(item: Item) -> str:
    """What is struck out of an item that begins so: all of it, or what a remark follows. Empty if nothing is."""
    found = _STRUCK_FIRST.match(item.text)
    return found[1] if found else ""


def is_superseded(item: Item) -> bool:
    """Whether an item says that something else holds in its place: `[superseded|by=…]`, `Superseded by …`."""
    if _SUPERSEDED.search(item.text):
        return True
    words = bare(item.text)
    found = pattern("ageing", "superseded").finditer(words) if says(words, "ageing", "superseded") else ()
    return any(_stands_apart(words, one) for one in found)


def _closings(words: str) -> list[re.Match[str]]:
    """Where it says so: at the beginning, at the end, or as a label or in brackets."""
    found = pattern("closed", "words").finditer(words)
    return [one for one in found if _stands_apart(words, one)]


def _stands_apart(words: str, found: re.Match[str]) -> bool:
    before, after = words[: found.start()].rstrip(" *_"), words[found.end() :].lstrip(" *_.!")
    return not before or not after or before[-1:] in "([（【:：—–-" or after[:1] in "])）】"
