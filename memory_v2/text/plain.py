"""Text without Markdown, for titles, names and lines of a list."""

from __future__ import annotations

import re

from memory_v2.text.words import folded

_LINK = re.compile(r"\[\[([^\[\]|#\r\n]+)(?:#[^\[\]|\r\n]*)?(?:\|([^\[\]\r\n]+))?\]\]|\[([^\[\]\r\n]+)\]\([^()\s]*\)")


def plain(text: str) -> str:
    """The words of a text on one line, including those of links, without Markdown and unprintable characters."""
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    shown = _LINK.sub(lambda link: link[2] or link[1] or link[3], shown)
    bare = "".join(c for c in shown if c not in "[]|`*\ufffd" and (c.isprintable() or c.isspace()))
    return " ".join(bare.split())


def capitalized(text: str) -> str:
    """The text with a capital first, unless that makes it another word, as a Turkish `ı` would become `I`."""
    capital = text[:1].upper() + text[1:]
    return capital if folded(capital) == folded(text) else text


def shorten(text: str, limit: int) -> str:
    """The beginning of a text, at most `limit` characters, cut between words if possible."""
    words = plain(text[: 4 * limit]).lstrip("-+># ")
    if len(words) <= limit:
        return words
    whole = words[: limit - 1].rpartition(" ")[0]
    return (whole if len(whole) > limit // 2 else words[: limit - 1]).rstrip(" ,;:-") + "…"
