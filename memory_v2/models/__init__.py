"""Who decides: whatever answers a conversation with tool calls."""

from __future__ import annotations

from pathlib import Path

from memory_v2.errors import InvalidSetting
from memory_v2.models.base import Model
from memory_v2.settings import file_path

OFFLINE = "offline"
FORMS = ("offline", "anthropic:<model>", "openai:<model>", "litellm:<provider>/<model>", "recorded:<file or folder>")


def load_model(name: str, prices: Path | None = None) -> Model:
    """The model of this name; `prices` is a file with prices of your own. No provider is imported, and nothing is
    connected to, before the model is first asked. Raises `InvalidSetting`, naming the models there are."""
    kind, _, which = name.partition(":")
    if name == OFFLINE:
        from memory_v2.models.offline import OfflinePlanner

        return OfflinePlanner()
    if not which.strip():
        raise InvalidSetting(f"there is no model {name!r}; a model is one of: {', '.join(FORMS)}")
    if kind == "recorded":
        from memory_v2.models.recorded import RecordedModel

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
    raise InvalidSetting(f"there is no model {name!r}; a model is one of: {', '.join(FORMS)}")
