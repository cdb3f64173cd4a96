"""Text without its marks: fit for a title, a name, a line in a list."""

from __future__ import annotations


def plain(text: str) -> str:
    """The words on one line, without marks of Markdown and without what cannot be shown."""
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    bare = "".join(c for c in shown if c not in "[]|`*\ufffd" and (c.isprintable() or c.isspace()))
    return " ".join(bare.split())


def opening(text: str, limit: int) -> str:
    """The first words of a text, at most `limit` characters of them, cut between words where that can be."""
    words = plain(text[: 4 * limit]).lstrip("-+># ")
    if len(words) <= limit:
        return words
    whole = words[: limit - 1].rpartition(" ")[0]
    return (whole if len(whole) > limit // 2 else words[: limit - 1]).rstrip(" ,;:-") + "…"
