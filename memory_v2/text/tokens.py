"""About how many tokens a text has, where nobody counts them."""

from __future__ import annotations

CHARACTERS = 4
"""ASCII characters of English text per token. Any other character counts as a token, as in Chinese."""


def tokens(text: str) -> int:
    """About how many tokens a text has."""
    plain = sum(map(str.isascii, text))
    return len(text) - plain + -(-plain // CHARACTERS)
