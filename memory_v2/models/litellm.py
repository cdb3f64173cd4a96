"""Any model that LiteLLM reaches: many providers, and local models."""

from __future__ import annotations

import os
import warnings
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from memory_v2.errors import InvalidSetting
from memory_v2.models.base import Conversation, Model, Reply, Usage, long_enough
from memory_v2.models.chat import chat_messages, chat_tools, read_chat
from memory_v2.models.prices import load_prices, with_usage
from memory_v2.models.provider import (
    FAILED,
    MAX_OUTPUT_TOKENS,
    REQUEST_SECONDS,
    UNREADABLE,
    Failure,
    check_key,
    needs_key,
    require,
    translated,
)

WITH_KEY = ("openai", "anthropic")
"""Providers that always need a key; others may authenticate in another way."""
CACHED = [{"location": "message", "role": "system"}, {"location": "message", "index": -1}]
"""Where the prompt cache is told to keep the prefix: after the system prompt, and after the last message."""


class LiteLLMModel:
    """A model under LiteLLM's name for it, `<provider>/<model>`. Without arguments, key and address come from the
    variables that LiteLLM reads for the provider. Raises `InvalidSetting` if the package `litellm` is not installed or
    there is no key for OpenAI or Anthropic, and `ModelError` if a request fails."""

    def __init__(
        self, model: str, *, api_key: str | None = None, base_url: str | None = None, prices: Path | None = None
    ) -> None:
        require("litellm")
        require("mcp", "litellm")  # LiteLLM imports it as soon as it is given tools
        self.name = f"litellm:{model}"
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._prices = load_prices(prices)

    def prepare(self) -> None:
        """Imports the SDK, which takes seconds."""
        _litellm()

    def respond(self, conversation: Conversation) -> Reply:
        """The next answer."""
        request: dict[str, Any] = {
            "model": self._model,
            "max_tokens": MAX_OUTPUT_TOKENS,
            "messages": chat_messages(conversation),
            "tools": chat_tools(conversation),
        }
        if self._marks_cache:
            request["cache_control_injection_points"] = CACHED
        client = self._client
        keys = long_enough([self._api_key, *(v for name, v in os.environ.items() if name.endswith("_API_KEY"))])
        try:
            completion = client.completion(
                **request,
                api_key=self._api_key,
                api_base=self._base_url,
                timeout=REQUEST_SECONDS,
                max_retries=0,
                num_retries=0,
                drop_params=True,
            )
            answer = completion.model_dump(mode="json", warnings=False)
        except Exception as error:
            raise translated(error, failures(), keys) from error
        return with_usage(read_chat(answer, keys, self._cost), conversation, self._cost)

    @cached_property
    def _client(self) -> ModuleType:
        litellm = _litellm()
        try:
            _, provider, _, _ = litellm.get_llm_provider(self._model, api_base=self._base_url)
        except litellm.BadRequestError as error:
            raise InvalidSetting(
                f"LiteLLM knows no provider for {self._model!r}; name one: <provider>/<model>"
            ) from error
        check_key(self.name, self._api_key)
        missing = litellm.validate_environment(self._model)["missing_keys"] if provider in WITH_KEY else ()
        if missing and not self._api_key:
            raise needs_key(self.name, ", ".join(missing))
        return litellm

    @property
    def _marks_cache(self) -> bool:
        """Whether the provider must be told what to cache; others cache the prefix by themselves."""
        return self._model.startswith("anthropic/")

    def _cost(self, usage: Usage) -> float | None:
        """The cost by our own prices, or else by LiteLLM's."""
        name = self._model.removeprefix("anthropic/").removeprefix("openai/")
        if (own := self._prices.cost(name, usage)) is not None:
            return own
        try:
            prompt, answer = _litellm().cost_per_token(
                model=self._model,
                prompt_tokens=usage.input_tokens,
                completion_tokens=usage.output_tokens,
                cache_read_input_tokens=usage.cached_tokens,
                cache_creation_input_tokens=usage.cache_write_tokens,
            )
        except Exception:  # noqa: BLE001 - a price that LiteLLM does not know is raised in many forms
            return None
        return float(prompt + answer)


def failures() -> tuple[Failure, ...]:
    """LiteLLM's exceptions, specific ones first, and what each means if there is no HTTP status. LiteLLM reports most
    failures to connect or to read as errors of the server, so the underlying `OSError` comes first."""
    known = _litellm().exceptions
    return (
        (known.Timeout, "did not answer in time", True),
        (OSError, "cannot be reached", True),
        (known.RateLimitError, "is rate-limiting requests", True),
        (known.InternalServerError, UNREADABLE, True),
        (known.ServiceUnavailableError, UNREADABLE, True),
        (known.BadGatewayError, UNREADABLE, True),
        (known.APIConnectionError, UNREADABLE, True),
        (known.APIResponseValidationError, UNREADABLE, True),
        (known.AuthenticationError, "rejected the key", False),
        (known.PermissionDeniedError, "does not permit this with the key", False),
        (known.NotFoundError, "does not know the model", False),
        (known.BudgetExceededError, "has no budget left", False),
        (known.PaymentRequiredError, "requires payment", False),
        (known.BadRequestError, "rejected the request", False),
        (known.UnprocessableEntityError, "rejected the request", False),
        (Exception, FAILED, False),
    )


def _litellm() -> ModuleType:
    """The package, told not to download a price list when it is imported, and not to print anything."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    # pydantic warns about some of its types when it first meets them.
    warnings.filterwarnings("ignore", "Items? '.*' on TypedDict class '.*' (is|are) using the `ReadOnly`", UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    return litellm


_: type[Model] = LiteLLMModel
