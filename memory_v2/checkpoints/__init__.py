"""Checkpoints: named points of the history, which can be exported, loaded elsewhere, and gone back to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_v2.lazy import submodules

if TYPE_CHECKING:
    from memory_v2.checkpoints import points
else:
    __getattr__ = submodules(__name__)
