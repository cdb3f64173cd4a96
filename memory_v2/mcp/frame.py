"""What the memory says is shown as data: nothing in it can pass for an instruction, or for the frame around it."""

from __future__ import annotations

import secrets

from memory_v2.models.base import Prompt


def framed(text: str) -> str:
    """A text from the memory between two lines that name a number which nobody could know when it was written."""
    return Prompt("mcp/frame", {"text": text, "mark": secrets.token_hex(4)}).text
