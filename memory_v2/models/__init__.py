"""Who decides: whatever answers a conversation with tool calls."""

from __future__ import annotations

from memory_v2.errors import InvalidSetting
from memory_v2.models.base import Model

OFFLINE = "offline"


def load_model(name: str) -> Model:
    """The model of this name; raises `InvalidSetting`, naming those there are."""
    if name == OFFLINE:
        from memory_v2.models.offline import OfflinePlanner

        return OfflinePlanner()
    raise InvalidSetting(f"there is no model {name!r}; the models are: {OFFLINE}")
