"""OpenAI's models, and any server with the same chat completions API."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_v2.errors import InvalidSetting, ModelError
from memory_v2.models.base import Conversation, Model, Reply, Usage, keys_sent
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
    read_json,
    require,
    translated,
)

if TYPE_CHECKING:
    from openai import OpenAI


class OpenAIModel:
    """A model by OpenAI. Without arguments, key and address come from `OPENAI_API_KEY` and `OPENAI_BASE_URL`. Raises
    `InvalidSetting` if the package `openai` is not installed or there is no key, and `ModelError` if a request
    fails."""

    def __init__(
        self, model: str, *, api_key: str | None = None, base_url: str | None = None, prices: Path | None = None
    ) -> None:
        require("openai")
        self.name = f"openai:{model}"
        self._model = model
        self._api_key = api_key
        self._base_url = base_url
        self._prices = load_prices(prices)

    def prepare(self) -> None:
        """Imports the SDK, which takes about a second."""
        import openai  # noqa: F401 - only to have it loaded

    def respond(self, conversation: Conversation) -> Reply:
        """The next answer."""
        import openai

        request: dict[str, Any] = {
            "model": self._model,
            "max_completion_tokens": MAX_OUTPUT_TOKENS,
            "messages": chat_messages(conversation),
            "tools": chat_tools(conversation),
        }
        client = self._client
        try:
            sent = client.chat.completions.with_raw_response.create(**request)
        except (openai.OpenAIError, ValueError) as error:
            raise translated(error, failures()) from error
        try:
            completion = read_json(sent.content)
        except (ValueError, RecursionError) as error:
            raise ModelError(f"it {UNREADABLE}", retryable=True) from error
        keys = keys_sent(sent.http_request.headers)
        return with_usage(read_chat(completion, keys, self._cost), conversation, self._cost)

    def _cost(self, usage: Usage) -> float | None:
        return self._prices.cost(self._model, usage)

    @cached_property
    def _client(self) -> OpenAI:
        import openai

        try:
            client = openai.OpenAI(
                api_key=self._api_key, base_url=self._base_url, max_retries=0, timeout=REQUEST_SECONDS
            )
        except openai.OpenAIError as error:
            raise needs_key(self.name, "OPENAI_API_KEY") from error
        except Exception as error:  # an unusable address, proxy or certificate
            raise InvalidSetting(f"the model {self.name} cannot be set up: {error}") from error
        check_key(self.name, client.api_key)
        return client


def failures() -> tuple[Failure, ...]:
    """The SDK's exceptions, specific ones first, and what each means if there is no HTTP status."""
    import openai

    return (
        (openai.APITimeoutError, "did not answer in time", True),
        (openai.APIConnectionError, "cannot be reached", True),
        (openai.APIResponseValidationError, UNREADABLE, True),
        (openai.OpenAIError, FAILED, False),
        (ValueError, "could not be called", False),
    )


_: type[Model] = OpenAIModel
