"""Loading a model by its name."""

from __future__ import annotations

from pathlib import Path

from memory_v2.errors import InvalidSetting
from memory_v2.models.base import Model
from memory_v2.settings import file_path

OFFLINE = "offline"
FORMS = ("offline", "anthropic:<model>", "openai:<model>", "litellm:<provider>/<model>", "recorded:<file or folder>")


def load_model(name: str, prices: Path | None = None) -> Model:
    """The model with this name. `prices` is a file with your own prices. No provider is imported and no connection is
    opened before the first request. Raises `InvalidSetting` for an unknown name, and lists the valid forms."""
    kind, _, which = name.partition(":")
    if name == OFFLINE:
        from memory_v2.models.offline import OfflinePlanner

        return OfflinePlanner()
    if not which.strip():
        raise InvalidSetting(f"unknown model {name!r}; use one of: {', '.join(FORMS)}")
    if kind == "recorded":
        from memory_v2.trace.recorded import RecordedModel

        return RecordedModel.load(file_path(which, "the recording"))
    if kind == "anthropic":
        from memory_v2.models.anthropic import AnthropicModel

        return AnthropicModel(which, prices=prices)
    if kind == "openai":
        from memory_v2.models.openai import OpenAIModel

        return OpenAIModel(which, prices=prices)
    if kind == "litellm":
        from memory_v2.models.litellm import LiteLLMModel

        return LiteLLMModel(which, prices=prices)
    raise InvalidSetting(f"unknown model {name!r}; use one of: {', '.join(FORMS)}")
