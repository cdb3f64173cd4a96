"""What a request costs: its tokens, estimated if its server does not count them, so that limits hold all the same; and
their price, by a dated list. Your own price file takes precedence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memory_v2.errors import InvalidSetting
from memory_v2.models.base import AssistantMessage, Conversation, Reply, Usage
from memory_v2.text.words import tokens

TABLE = Path(__file__).with_name("prices.json")
MILLION = 1_000_000

_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2})$")

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens. Tokens read from or written to a cache cost as much as input if no price is
    given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Dollars
    output: Dollars
    cached: Dollars | None = None
    cache_write: Dollars | None = None

    def of(self, usage: Usage) -> float:
        """The price of one request, in US dollars."""
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        fresh = max(usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens, 0)
        dollars = fresh * self.input + usage.cached_tokens * cached + usage.cache_write_tokens * written
        return (dollars + usage.output_tokens * self.output) / MILLION


class _Table(BaseModel):
    model_config = ConfigDict(extra="ignore")

    models: dict[str, Price]


@dataclass(frozen=True)
class Prices:
    """Prices by the provider's name for the model; a date at the end of the name is ignored."""

    models: Mapping[str, Price]

    def cost(self, model: str, usage: Usage) -> float | None:
        """The cost of a request in US dollars, or `None` if the price of the model is unknown."""
        price = self.models.get(model) or self.models.get(_DATED.sub("", model))
        return None if price is None else price.of(usage)


@cache
def load_prices(own: Path | None = None) -> Prices:
    """The built-in prices, overridden by those in the file `own`: `{"models": {"<model>": {"input": 1.0, "output":
    5.0}}}`. Raises `InvalidSetting` if the file cannot be read."""
    models = dict(_read(TABLE).models)
    return Prices(models | _read(own).models if own else models)


def _read(file: Path) -> _Table:
    try:
        return _Table.model_validate(json.loads(file.read_bytes()))
    except OSError as error:
        raise InvalidSetting(f"cannot read the prices in {file}: {error.strerror or error}") from error
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidSetting(f"the prices in {file} are malformed: {where}: {error.errors()[0]['msg']}") from error
    except ValueError as error:
        raise InvalidSetting(f"the prices in {file} are not JSON: {error}") from error


def with_usage(reply: Reply, conversation: Conversation, price: Callable[[Usage], float | None]) -> Reply:
    """The reply; if its server has counted no tokens, with an estimate of them and of what they cost."""
    if any(astuple(reply.usage)):
        return reply
    tools = (tool.name + tool.description + json.dumps(dict(tool.schema)) for tool in conversation.tools)
    said = (
        _words(message.reply) if isinstance(message, AssistantMessage) else message.prompt.text
        for message in conversation.messages
    )
    usage = Usage(sum(map(tokens, (conversation.system.text, *tools, *said))), tokens(_words(reply)))
    return replace(reply, usage=usage, money=price(usage), is_estimate=True)


def _words(reply: Reply) -> str:
    return reply.text + "".join(f"{call.name}{json.dumps(call.arguments, default=str)}" for call in reply.tool_calls)
